/// A value to search in a set, or a map's key, in the forms used for comparing.
struct SearchKey {
  let value: Value
  /// Set for a set of numbers without null.
  let number: Int64?
  /// A string's UTF-8.
  let text: [UInt8]?
  /// The first word of the `OrderPrefix` of a number or string, which is compared first. Nil for
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
  /// The element that the sequence is sorted by: for a map the key.
  func sortElement(_ index: Int) -> TaggedValue { keys.isEmpty ? values[index] : keys[index] }
}
