// Equality of values. There are three kinds, and code that compares values uses one of them:
//
// - *Same bits*, `==`: is there anything to write, or to report to observers? The type counts, the
//   form of a number (0 and -0, decimals as 1.0 and 1.00), and every byte of a string.
// - *Same element*, `isSameElement(as:)` and `ElementKey`: is it in the set already, is it in the
//   same group, is the key taken? Numbers are compared by value, whatever their type.
// - *Equal in a condition*, `isEqual(inCondition:)`: does the object match? As for elements, except
//   that lists and maps do not equal anything.
//
// `Scalar`, `OrderKey`, `OrderPrefix`, `UniqueKey` and the domains of conditions are forms of the
// last two that are faster to compare; `EqualityTests` compares all of them. The `==` of `String`
// must not be used here: it treats different bytes as the same letters.

// MARK: - Same bits

extension Value: Hashable {
  /// True if both are bitwise equal.
  package static func == (a: Value, b: Value) -> Bool {
    switch (a, b) {
    case (.null, .null): true
    case (.int(let a), .int(let b)): a == b
    case (.bool(let a), .bool(let b)): a == b
    case (.float(let a), .float(let b)): a.bitPattern == b.bitPattern
    case (.double(let a), .double(let b)): a.bitPattern == b.bitPattern
    case (.string(let a), .string(let b)): a.hasSameBytes(as: b)
    case (.data(let a), .data(let b)): a == b
    case (.date(let a), .date(let b)): a == b
    case (.objectID(let a), .objectID(let b)): a == b
    case (.uuid(let a), .uuid(let b)): a == b
    case (.decimal(let a), .decimal(let b)): a == b
    case (.link(let a), .link(let b)): a == b
    case (.object(let x, let a), .object(let y, let b)): x == y && a == b
    case (.list(let a), .list(let b)): a == b
    case (.map(let a), .map(let b)): a == b
    default: false
    }
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(SequenceOrder.rank(self))
    switch self {
    case .null: break
    case .int(let value): hasher.combine(value)
    case .bool(let value): hasher.combine(value)
    case .float(let value): hasher.combine(value.bitPattern)
    case .double(let value): hasher.combine(value.bitPattern)
    case .string(let text): text.hashBytes(into: &hasher)
    case .data(let bytes): hasher.combine(bytes)
    case .date(let value): hasher.combine(value)
    case .objectID(let value): hasher.combine(value)
    case .uuid(let value): hasher.combine(value)
    case .decimal(let value): hasher.combine(value)
    case .link(let key): hasher.combine(key)
    case .object(let id, let key):
      hasher.combine(id)
      hasher.combine(key)
    case .list(let id), .map(let id): hasher.combine(id)
    }
  }
}

extension String {
  /// True if both have the same UTF-8. Two spellings of the same letters, such as é in one code
  /// point and in two, differ.
  package func hasSameBytes(as other: String) -> Bool {
    var (a, b) = (self, other)
    return a.withUTF8 { a in
      b.withUTF8 { b in
        unsafe a.count == b.count
          && compareBytes(UnsafeRawBufferPointer(a), UnsafeRawBufferPointer(b)) == 0
      }
    }
  }

  fileprivate func hashBytes(into hasher: inout Hasher) {
    var text = self
    text.withUTF8 { unsafe hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    // So that the boundary between two strings counts.
    hasher.combine(0xff as UInt8)
  }
}

extension [String] {
  /// True if both are the same strings bytewise.
  package func haveSameBytes(as other: [String]) -> Bool {
    elementsEqual(other) { $0.hasSameBytes(as: $1) }
  }
}

/// A string compared bytewise: a key for the library's dictionaries and sets, which distinguishes
/// spellings of the same letters.
package struct StoredText: Hashable, Sendable {
  package let text: String

  package init(_ text: String) { self.text = text }

  package static func == (a: Self, b: Self) -> Bool { a.text.hasSameBytes(as: b.text) }
  package func hash(into hasher: inout Hasher) { text.hashBytes(into: &hasher) }
}

// MARK: - Same element

extension Value {
  /// True if both are the same element of a set, the same group or the same key.
  ///
  /// Numbers of all types are compared by exact value: 1, 1.0 and 1.00 are the same, so are 0 and
  /// -0, and all NaN. Strings and data are compared bytewise. A list or a map is the same only as
  /// itself.
  package func isSameElement(as other: Value) -> Bool {
    switch (self, other) {
    case (.list, _), (.map, _), (_, .list), (_, .map): self == other
    default: SequenceOrder.compare(self, other) == 0
    }
  }
}

/// A value that identifies elements, groups and keys.
package struct ElementKey: Hashable, Sendable {
  package let value: Value

  package init(_ value: Value) { self.value = value }

  package static func == (a: Self, b: Self) -> Bool { a.value.isSameElement(as: b.value) }

  package func hash(into hasher: inout Hasher) {
    if let scalar = Scalar(value) { hasher.combine(scalar) } else { hasher.combine(value) }
  }
}

// MARK: - Equal in a condition

extension Value {
  /// True if two values of objects are equal under `==` in a condition. A constant is first
  /// converted to the property's type.
  func isEqual(inCondition other: Value) -> Bool {
    switch (self, other) {
    case (.list, _), (.map, _): false
    default: isSameElement(as: other)
    }
  }
}

extension String {
  /// The text of UTF-8; nil if the bytes are not. Several times as fast as `init(validating:as:)`,
  /// which is generic.
  package init?(utf8 bytes: UnsafeRawBufferPointer) {
    let text = unsafe bytes.withMemoryRebound(to: UInt8.self) { bytes -> String? in
      guard let valid = try? UTF8Span(validating: unsafe bytes.span) else { return nil }
      return String(copying: valid)
    }
    guard let text else { return nil }
    self = text
  }

  package init?(utf8 bytes: [UInt8]) {
    let text = unsafe bytes.withUnsafeBytes { unsafe String(utf8: $0) }
    guard let text else { return nil }
    self = text
  }
}
