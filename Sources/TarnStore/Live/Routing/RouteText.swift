/// The values by which a source is found, in words.
indirect enum RouteText {
  case test(ColumnPredicate)
  case both(RouteText, RouteText)
  case either(RouteText, RouteText)

  func text(_ schema: SchemaView) -> String {
    switch self {
    case .test(let test): test.test.text(of: test.path.name(in: schema))
    case .both(let a, let b): a.text(schema) + " AND " + b.text(schema)
    case .either(let a, let b): a.text(schema) + " OR " + b.text(schema)
    }
  }
}

extension CompiledQuery {
  /// How changes find an observed result of the query.
  package func routeExplanation(_ schema: SchemaView) -> String {
    let texts = Route.texts(of: self, schema)
    if texts.isEmpty {
      let names = concerningClasses.map { schema[$0].name }.sorted()
      return "route: asked at every change of \(names.joined(separator: " and "))"
    }
    if texts.count == 1 { return "route: changes find it by \(texts[0])" }
    return "route: changes find it by one of these, the one that fewest others share: "
      + texts.joined(separator: "; ")
  }
}

extension ScalarPredicate {
  /// The test as a condition on a name.
  fileprivate func text(of name: String) -> String {
    switch self {
    case .isNull: "\(name) == nil"
    case .isNaN: "\(name) == NaN"
    case .int(let domain): domain.text(of: name) { "\($0)" }
    case .bool(let value): "\(name) == \(value)"
    case .double(let domain): domain.text(of: name) { "\($0)" }
    case .float(let domain): domain.doubles.text(of: name) { "\($0)" }
    case .date(let domain): domain.text(of: name) { Value.date($0).predicateText }
    case .bytes12(let domain): domain.text(of: name) { Value.objectID($0).predicateText }
    case .bytes16(let domain): domain.text(of: name) { Value.uuid($0).predicateText }
    case .text(let pattern) where pattern.op == .in:
      pattern.needles.text(of: name) { Self.text($0) }
    case .text(let pattern): "\(name) \(pattern.op) \(Self.text(pattern.needle))"
    // No number is made from an order of decimals.
    case .decimal(.set(let values)): "one of \(values.count) values of \(name)"
    case .decimal(.range(let low, let high)):
      low == high ? "a value of \(name)" : "a range of \(name)"
    case .object(let objects):
      objects.count == 1 ? "an object in \(name)" : "\(objects.count) objects in \(name)"
    case .ofType(let tests):
      tests.map { $1.text(of: name) }.sorted().joined(separator: " OR ")
    }
  }

  private static func text(_ bytes: [UInt8]) -> String {
    Value.string(String(decoding: bytes, as: UTF8.self)).predicateText
  }
}

extension Domain where T: Steppable {
  fileprivate func text(of name: String, _ text: (T) -> String) -> String {
    switch self {
    case .set(let values): return values.text(of: name, text)
    case .range(let low, let high):
      if low == high { return "\(name) == \(text(low))" }
      if low == T.least { return "\(name) <= \(text(high))" }
      if high == T.greatest { return "\(name) >= \(text(low))" }
      return "\(name) BETWEEN {\(text(low)), \(text(high))}"
    }
  }
}

extension Domain<Float> {
  fileprivate var doubles: Domain<Double> {
    switch self {
    case .set(let values): .set(values.map { Double($0) })
    case .range(let low, let high): .range(Double(low), Double(high))
    }
  }
}

extension Array {
  fileprivate func text(of name: String, _ text: (Element) -> String) -> String {
    if count > 4 { return "\(name) IN {\(count) values}" }
    return "\(name) IN {\(map(text).joined(separator: ", "))}"
  }
}
