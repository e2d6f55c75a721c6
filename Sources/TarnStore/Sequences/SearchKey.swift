/// What is looked for in a set, or in a map by its key, in the forms in which it is compared.
struct SearchKey {
  let value: Value
  /// Set in a set of numbers without null.
  let number: Int64?
  /// A text's UTF-8.
  let text: [UInt8]?
  /// What numbers and texts are compared by first: the first word of their `OrderPrefix`. Nil for
  /// other values.
  let prefix: UInt64?

  init(_ value: Value, _ shape: SequenceShape) {
    self.value = value
    if case .int(let number) = value, shape.type == .int, !shape.isOptional {
      self.number = number
    } else {
      number = nil
    }
    if case .string(let text) = value { self.text = Array(text.utf8) } else { text = nil }
    prefix = number.map { OrderPrefix($0).high } ?? text.map { OrderPrefix($0).high }
  }

  init(key: String) {
    value = .string(key)
    number = nil
    let text = Array(key.utf8)
    self.text = text
    prefix = OrderPrefix(text).high
  }
}

extension SequenceElements {
  /// What the sequence is sorted by: of a map the key.
  func sortElement(_ index: Int) -> TaggedValue { keys.isEmpty ? values[index] : keys[index] }
}
