/// A value as bytes whose bytewise order is the order of the values of a column: what an index
/// sorts by, and what a sort can compare without knowing the type.
///
///     null                00
///     int, link, date     01, the number most significant byte first with its sign flipped
///                         (a date: seconds, then nanoseconds)
///     bool                01, then 00 or 01
///     float, double       01, the bits made to order: NaN first, -0.0 as 0.0
///     decimal             01, the sixteen bytes of its `DecimalOrder`: NaN first, 1.0 as 1.00
///     string, data, object id, UUID    01, the bytes themselves
///     any                 01, class and key of an object, or the type and the key of any other
///                         value (`within`); collections have none
///
/// At most 128 bytes: a longer value is cut, and `isTruncated` says so. Two values with the same
/// truncated key may differ, and their order is not known from the keys; who finds such a key
/// looks at the row. A value that is exactly as long as a key can be counts as truncated, because
/// its key equals those of longer values.
package struct OrderKey: Sendable {
  package static let byteCountMax = 128

  fileprivate(set) var storage = InlineArray<128, UInt8>(repeating: 0)
  package private(set) var byteCount = 0
  /// True if other values, longer ones, may have the same key.
  package private(set) var isTruncated = false

  private init(tag: UInt8) {
    storage[0] = tag
    byteCount = 1
  }

  @inline(__always)
  private mutating func append<T: FixedWidthInteger>(_ number: T) {
    unsafe withUnsafeMutableBytes(of: &storage) { bytes in
      unsafe bytes.storeBytes(of: number.bigEndian, toByteOffset: byteCount, as: T.self)
    }
    byteCount += MemoryLayout<T>.size
  }

  /// Calls `body` with the bytes, which are gone when it returns.
  @inline(__always)
  package func withBytes<R, E: Error>(
    _ body: (UnsafeRawBufferPointer) throws(E) -> R
  ) throws(E) -> R {
    try unsafe withUnsafeBytes(of: storage) { bytes throws(E) -> R in
      try unsafe body(UnsafeRawBufferPointer(rebasing: bytes[..<byteCount]))
    }
  }

  // MARK: - Building

  package static let null = OrderKey(tag: 0)

  package init(_ value: Int64) {
    self.init(tag: 1)
    append(UInt64(bitPattern: value) ^ (1 << 63))
  }

  /// A link to that object of the column's target class: what a backlink index is asked for.
  package init(_ link: ObjectKey) {
    self.init(link.rawValue)
  }

  /// An object in a mixed column: the class's id, then the key.
  package init(_ target: LinkTarget) {
    self.init(tag: 1)
    append(target.classID.rawValue)
    append(target.key.treeOrder)
  }

  package init(_ value: Bool) {
    self.init(tag: 1)
    append(value ? UInt8(1) : 0)
  }

  package init(float value: Float) {
    self.init(tag: 1)
    append(value.treeOrder)
  }

  package init(double value: Double) {
    self.init(tag: 1)
    append(value.treeOrder)
  }

  package init(_ value: DecimalNumber) { self.init(value.order) }

  package init(_ order: DecimalOrder) {
    self.init(tag: 1)
    append(UInt64(truncatingIfNeeded: order.bits >> 64))
    append(UInt64(truncatingIfNeeded: order.bits))
  }

  package init(_ value: Timestamp) {
    self.init(value.seconds)
    append(UInt32(bitPattern: value.nanoseconds) ^ (1 << 31))
  }

  package init(_ value: Bytes12) {
    self.init(tag: 1)
    append(value.high)
    append(value.low)
  }

  package init(_ value: Bytes16) {
    self.init(tag: 1)
    append(value.high)
    append(value.low)
  }

  /// A string's UTF-8 or a data value. `bytes` may be the beginning of a longer value, if that
  /// beginning has at least `byteCountMax` bytes.
  package init(bytes: UnsafeRawBufferPointer) {
    self.init(tag: 1)
    let kept = min(bytes.count, Self.byteCountMax - 1)
    unsafe withUnsafeMutableBytes(of: &storage) { target in
      unsafe UnsafeMutableRawBufferPointer(rebasing: target[1..<1 + kept])
        .copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[..<kept]))
    }
    byteCount = 1 + kept
    isTruncated = byteCount == Self.byteCountMax
  }

  /// A key that an index holds.
  init(encoded bytes: UnsafeRawBufferPointer) {
    self =
      unsafe bytes.count == 1 && bytes[0] == 0
      ? .null : OrderKey(bytes: UnsafeRawBufferPointer(rebasing: bytes.dropFirst()))
  }

  package init(_ value: String) {
    var value = value
    self = value.withUTF8 { utf8 in unsafe OrderKey(bytes: UnsafeRawBufferPointer(utf8)) }
  }

  /// The key of any value of a column of that type, or nil if the value is none of that type.
  package init?(_ value: Value, type: ColumnType) {
    switch (value, type) {
    case (.null, _): self = .null
    case (.int(let value), .int): self.init(value)
    case (.bool(let value), .bool): self.init(value)
    case (.float(let value), .float): self.init(float: value)
    case (.double(let value), .double): self.init(double: value)
    case (.string(let value), .string): self.init(value)
    case (.data(let value), .data):
      self = unsafe value.withUnsafeBytes { bytes in unsafe OrderKey(bytes: bytes) }
    case (.date(let value), .date): self.init(value)
    case (.objectID(let value), .objectID): self.init(value)
    case (.uuid(let value), .uuid): self.init(value)
    case (.decimal(let cell), .decimal): self.init(DecimalNumber(cell))
    case (.link(let value), .link): self.init(value)
    case (.object(let id, let key), .any): self.init(LinkTarget(classID: id, key: key))
    case (_, .any):
      guard let type = value.scalarType, let key = OrderKey(value, type: type) else { return nil }
      self = key.within(type)
    default: return nil
    }
  }

  // MARK: - Mixed values

  /// What the keys of that type's values in a mixed column start with: a byte that no id of a
  /// class starts with.
  init(anyOf type: ColumnType) {
    self.init(tag: 1)
    append(0x80 | type.rawValue)
  }

  /// Before the keys of all mixed values but null and objects.
  static let firstOfAnyType = OrderKey(anyOf: .int)

  /// True for the key of a value, false for null's and for one that only marks the end of others.
  var holdsValue: Bool { storage[0] == 1 }

  /// The key that a mixed column has where one of that type would have this one. Not for
  /// `null`, which has one key in all columns.
  func within(_ type: ColumnType) -> OrderKey {
    var key = OrderKey(anyOf: type)
    let kept = min(byteCount - 1, Self.byteCountMax - key.byteCount)
    for offset in 0..<kept { key.storage[key.byteCount + offset] = storage[1 + offset] }
    key.byteCount += kept
    key.isTruncated = key.byteCount == Self.byteCountMax
    return key
  }

  /// The smallest key that sorts after every key that starts with this one's bytes. Not for
  /// `null`.
  package var afterPrefixed: OrderKey {
    require(storage[0] == 1, "null cannot be the prefix of another key")
    var next = self
    // Ends at the latest at the first byte, which is 1.
    while next.storage[next.byteCount - 1] == 0xff {
      next.byteCount -= 1
      next.storage[next.byteCount] = 0
    }
    next.storage[next.byteCount - 1] += 1
    next.isTruncated = false
    return next
  }
}

extension OrderKey: Comparable {
  package static func < (a: Self, b: Self) -> Bool {
    unsafe a.withBytes { a in unsafe b.withBytes { b in unsafe compareBytes(a, b) < 0 } }
  }

  package static func == (a: Self, b: Self) -> Bool {
    unsafe a.withBytes { a in unsafe b.withBytes { b in unsafe compareBytes(a, b) == 0 } }
  }
}
