extension PredicateParser {
  /// `['key']`, `[0]`, `[FIRST]`, `[LAST]` or `[#any]` after a property.
  mutating func valueStep() throws(PredicateSyntaxError) -> ValueStep? {
    guard try take("[") else { return nil }
    let step: ValueStep
    if let word = token.propertyName, let known = Self.valueSteps[word.uppercased()] {
      try advance()
      step = known
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
