/// A parameter of a statement, in the binary format.
struct WireParameter: Sendable {
  /// The number of its type.
  let type: UInt32
  /// Nil for null.
  let bytes: [UInt8]?

  init(_ type: WireType, _ bytes: [UInt8]?) {
    self.type = type.rawValue
    self.bytes = bytes
  }

  /// A text, which the statement casts.
  init(text: String) { self.init(.text, Array(text.utf8)) }

  /// An array with values of a type.
  init(array type: WireType, _ values: [[UInt8]?]) {
    self.type = type.array
    bytes = type.array(of: values)
  }
}
