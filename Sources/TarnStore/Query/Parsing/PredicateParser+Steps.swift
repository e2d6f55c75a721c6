extension PredicateParser {
  /// `['key']`, `[0]`, `[FIRST]`, `[LAST]` or `[#any]` after a property; or `[%K]` with one of
  /// these as its argument.
  mutating func valueStep() throws(PredicateSyntaxError) -> ValueStep? {
    guard try take("[") else { return nil }
    let step: ValueStep
    if let word = token.propertyName, let known = Self.valueSteps[word.uppercased()] {
      try advance()
      step = known
    } else if token == .placeholder("K") {
      step = try argument { (all) throws(PredicateArguments.Mistake) in try all.step() }
    } else {
      let first = start
      switch try literal() {
      case .string(let key): step = .key(key)
      case .int(let position) where position >= 0: step = .position(Int(position))
      default:
        throw lexer.error(at: first, "expected a key in quotes, a position from 0, or #any")
      }
    }
    try require("]", "']'")
    return step
  }

  private static let valueSteps: [String: ValueStep] = [
    "ANY": .each, "FIRST": .position(0), "LAST": .position(-1),
  ]
}

extension PredicateArguments {
  /// The argument for `[%K]`: `#any`, `FIRST`, `LAST`, a position, or any other text as a key.
  fileprivate mutating func step() throws(Mistake) -> ValueStep {
    switch try next(for: "K") {
    case .value(.string("#any")): .each
    case .value(.string("FIRST")): .position(0)
    case .value(.string("LAST")): .position(-1)
    case .value(.string(let key)): .key(key)
    case .value(.int(let position)) where position >= 0: .position(Int(position))
    default: throw wrong("neither a key nor a position, but [%K] needs one")
    }
  }
}
