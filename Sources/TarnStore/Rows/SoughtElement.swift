/// What is looked for in a set, or in a map by its key, in the forms in which it is compared.
struct SoughtElement {
  let value: Value
  /// Set in a set of numbers without null.
  let number: Int64?
  /// A text's UTF-8.
  let text: [UInt8]?
  /// What numbers and texts are compared by first; nil for other values.
  let prefix: SearchPrefix?

  init(_ value: Value, _ shape: SequenceShape) {
    self.value = value
    if case .int(let number) = value, shape.type == .int, !shape.isOptional {
      self.number = number
    } else {
      number = nil
    }
    if case .string(let text) = value { self.text = Array(text.utf8) } else { text = nil }
    prefix = number.map { SearchPrefix($0) } ?? text.map { SearchPrefix($0) }
  }

  init(key: String) {
    value = .string(key)
    number = nil
    let text = Array(key.utf8)
    self.text = text
    prefix = SearchPrefix(text)
  }
}

/// A number whose order is that of what it was made from, as far as it tells two apart: of an
/// integer all of it, of a text the first eight bytes.
struct SearchPrefix: Comparable {
  let bits: UInt64

  init(_ number: Int64) { bits = UInt64(bitPattern: number) ^ 1 << 63 }

  init(_ text: [UInt8]) {
    self = unsafe text.withUnsafeBytes { unsafe SearchPrefix($0) }
  }

  init(_ text: UnsafeRawBufferPointer) {
    var bits: UInt64 = 0
    for index in 0..<min(text.count, 8) {
      bits |= unsafe UInt64(text[index]) << UInt64(56 - 8 * index)
    }
    self.bits = bits
  }

  static func < (a: SearchPrefix, b: SearchPrefix) -> Bool { a.bits < b.bits }
}

extension SequenceElements {
  /// What the sequence is sorted by: of a map the key.
  func sortElement(_ index: Int) -> TaggedValue { keys.isEmpty ? values[index] : keys[index] }
}
