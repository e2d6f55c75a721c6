/// Many conditions in a row: `a || b || c …`.
///
/// A chain built by a program grows by one term at a time, and each time its terms are copied. So a
/// long one is stored as a chain of chains, which is neither long nor deep.
enum PredicateChain {
  case and, or

  /// A chain of up to twice this length is left unchanged.
  private static let width = 64

  func joined(_ a: Predicate, _ b: Predicate) -> [Predicate] {
    let terms = (terms(of: a) ?? [a]) + (terms(of: b) ?? [b])
    return terms.count <= 2 * Self.width ? terms : folded(terms)
  }

  /// The terms of such a chain; nil for another condition.
  private func terms(of predicate: Predicate) -> [Predicate]? {
    switch (self, predicate) {
    case (.and, .and(let terms)), (.or, .or(let terms)): terms
    default: nil
    }
  }

  /// The same terms, with neighbours of equal height combined into chains.
  private func folded(_ terms: [Predicate]) -> [Predicate] {
    var result: [Predicate] = []
    var rest = terms[...]
    while let first = rest.first {
      let height = height(of: first)
      let run = rest.prefix(Self.width).prefix { self.height(of: $0) == height }
      if run.count == Self.width {
        result.append(self == .and ? .and(Array(run)) : .or(Array(run)))
      } else {
        result += run
      }
      rest = rest.dropFirst(run.count)
    }
    return result
  }

  private func height(of term: Predicate) -> Int {
    terms(of: term).map { 1 + ($0.first.map(height) ?? 0) } ?? 0
  }

  /// The terms of all nested chains, in order.
  func flattened(_ terms: [Predicate]) -> [Predicate] {
    guard terms.contains(where: { self.terms(of: $0) != nil }) else { return terms }
    return terms.flatMap { term in self.terms(of: term).map(flattened) ?? [term] }
  }
}

extension PredicateChain {
  /// A shorter chain is tested term by term.
  private static let leastUnited = 16

  private struct Subject: Hashable {
    let path: Path
    let options: StringOptions
  }

  /// The same condition, in which `a == 1 OR a == 2 …` is one test of membership and
  /// `a != 1 AND a != 2 …` its opposite, so that the cost of a row does not depend on the length of
  /// the chain.
  func united(_ terms: [Predicate]) -> [Predicate] {
    let terms = flattened(terms)
    guard terms.count >= Self.leastUnited else { return terms }
    var numbers: [Subject: Int] = [:]
    var choices: [(subject: Subject, values: [Value])] = []
    var others: [Predicate] = []
    for term in terms {
      guard let (subject, value) = choice(term) else {
        others.append(term)
        continue
      }
      if let number = numbers[subject] {
        choices[number].values.append(value)
      } else {
        numbers[subject] = choices.count
        choices.append((subject, [value]))
      }
    }
    let united = choices.map { subject, values in
      let isIn = Predicate.comparison(
        Comparison(.path(subject.path), .in, .values(values), subject.options))
      return self == .or ? isIn : .not(isIn)
    }
    return united + others
  }

  /// A property and the only value that it must, or must not, have; nil for another condition.
  private func choice(_ term: Predicate) -> (Subject, Value)? {
    guard case .comparison(let comparison) = term, comparison.quantifier == nil,
      comparison.op == (self == .or ? .equal : .notEqual)
    else { return nil }
    switch (comparison.left, comparison.right) {
    case (.path(let path), .value(let value)), (.value(let value), .path(let path)):
      // Paths into values are tested one by one.
      guard !path.contains(where: { $0.element != nil }) else { return nil }
      return (Subject(path: path, options: comparison.options), value)
    default: return nil
    }
  }
}
