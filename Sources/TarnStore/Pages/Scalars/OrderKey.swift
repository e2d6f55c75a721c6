/// A value as bytes whose bytewise order is the order of a column's values: the sort key of an
/// index, which a sort can compare without knowing the type.
///
///     null                00
///     int, link, date     01, the number most significant byte first with its sign flipped
///                         (a date: seconds, then nanoseconds)
///     bool                01, then 00 or 01
///     float, double       01, the bits in sortable form: NaN first, -0.0 as 0.0
///     decimal             01, the sixteen bytes of its `DecimalOrder`: NaN first, 1.0 as 1.00
///     string, data, object id, UUID    01, the bytes themselves
///     any                 01, class and key of an object, or the type and the key of any other
///                         value (`within`); collections have none
///
/// At most 128 bytes: the key of a longer value is truncated, and `isTruncated` is true. Values
/// with the same truncated key may differ, and the keys do not tell their order, so they must be
/// compared in the rows. A value that is exactly as long as the longest key counts as truncated,
/// because its key equals those of longer values.
package struct OrderKey: Sendable {
  package static let byteCountMax = 128

  fileprivate(set) var storage = InlineArray<128, UInt8>(repeating: 0)
  package private(set) var byteCount = 0
  /// True if other, longer values may have the same key.
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

  /// Calls `body` with the bytes, which are valid only during the call.
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

  /// A link to that object of the column's target class, for searching a backlink index.
  package init(_ link: ObjectKey) {
    self.init(link.rawValue)
  }

  /// An object in a mixed column: the class's id, then the key.
  package init(_ target: ObjectRef) {
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

  /// A string's UTF-8 or a data value. `bytes` may be the start of a longer value, if it has at
  /// least `byteCountMax` bytes.
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

  /// A key stored in an index.
  init(encoded bytes: UnsafeRawBufferPointer) {
    self =
      unsafe bytes.count == 1 && bytes[0] == 0
      ? .null : OrderKey(bytes: UnsafeRawBufferPointer(rebasing: bytes.dropFirst()))
  }

  package init(_ value: String) {
    var value = value
    self = value.withUTF8 { utf8 in unsafe OrderKey(bytes: UnsafeRawBufferPointer(utf8)) }
  }

  /// The key of any value of a column of that type, nil if the value is of another type.
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
    case (.object(let id, let key), .any): self.init(ObjectRef(classID: id, key: key))
    case (_, .any):
      guard let type = value.scalarType, let key = OrderKey(value, type: type) else { return nil }
      self = key.within(type)
    default: return nil
    }
  }

  // MARK: - Mixed values

  /// The prefix of the keys of that type's values in a mixed column: a byte that no class id starts
  /// with.
  init(anyOf type: ColumnType) {
    self.init(tag: 1)
    append(0x80 | type.rawValue)
  }

  /// Before the keys of all mixed values except null and objects.
  static let firstOfAnyType = OrderKey(anyOf: .int)

  /// True for the key of a value, false for null's and for one that only marks the end of others.
  var holdsValue: Bool { storage[0] == 1 }

  /// The key in a mixed column that corresponds to this one in a column of that type. Not for
  /// `null`, which has the same key in all columns.
  func within(_ type: ColumnType) -> OrderKey {
    var key = OrderKey(anyOf: type)
    let kept = min(byteCount - 1, Self.byteCountMax - key.byteCount)
    for offset in 0..<kept { key.storage[key.byteCount + offset] = storage[1 + offset] }
    key.byteCount += kept
    key.isTruncated = key.byteCount == Self.byteCountMax
    return key
  }

  /// The smallest key after every key with this one's bytes as prefix. Not for `null`.
  package var afterPrefixed: OrderKey {
    require(storage[0] == 1, "null cannot be the prefix of another key")
    var next = self
    // Ends at the first byte at the latest, which is 1.
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
