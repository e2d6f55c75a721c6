/// The start of a value as two numbers with the order of the values, including null and nil links:
/// compared when sorting. Equal numbers can stand for different values only if `isExact` is false
/// on both sides.
struct OrderPrefix: BitwiseCopyable {
  var high: UInt64
  var low: UInt64
  var isExact: Bool

  /// A nil link on the path: after all values.
  static let broken = OrderPrefix(high: .max, low: .max, isExact: true)
  /// Before all values.
  static let null = OrderPrefix(high: 0, low: 0, isExact: true)

  /// The reversed order.
  @inline(__always)
  func reversed(if isReversed: Bool) -> OrderPrefix {
    isReversed ? OrderPrefix(high: ~high, low: ~low, isExact: isExact) : self
  }

  @inline(__always)
  init(high: UInt64, low: UInt64, isExact: Bool) {
    self.high = high
    self.low = low
    self.isExact = isExact
  }

  /// The low word is 1 for values whose high word may equal that of null or `broken`.
  @inline(__always)
  init(_ value: Int64) {
    self.init(high: UInt64(bitPattern: value) ^ (1 << 63), low: 1, isExact: true)
  }

  @inline(__always)
  init(_ value: Double) {
    // NaN becomes zero, which the low word distinguishes from null.
    self.init(high: value.treeOrder, low: 1, isExact: true)
  }

  @inline(__always)
  init(_ value: DecimalNumber) {
    // NaN is zero there, and infinity leaves room above: adding one separates both from null and
    // `broken`.
    let above = value.order.bits + 1
    self.init(
      high: UInt64(truncatingIfNeeded: above >> 64), low: UInt64(truncatingIfNeeded: above),
      isExact: true)
  }

  @inline(__always)
  init(_ value: Bool) {
    self.init(high: value ? 2 : 1, low: 1, isExact: true)
  }

  @inline(__always)
  init(_ value: Timestamp) {
    let fine = UInt64(UInt32(bitPattern: value.nanoseconds) ^ (1 << 31))
    self.init(high: UInt64(bitPattern: value.seconds) ^ (1 << 63), low: fine + 1, isExact: true)
  }

  @inline(__always)
  init(_ value: Bytes12) {
    self.init(high: value.high, low: UInt64(value.low) + 1, isExact: true)
  }

  /// All 128 bits are used: the last bit is sacrificed to distinguish null and `broken`.
  @inline(__always)
  init(_ value: Bytes16, mayBeNull: Bool) {
    if mayBeNull {
      let low = (value.high << 63) | (value.low >> 1)
      self.init(high: value.high >> 1, low: low, isExact: false)
      // A value's high word is below 2^63; incrementing values keeps null below them.
      self.low &+= 1
      if self.low == 0 { self.high += 1 }
    } else {
      self.init(high: value.high, low: value.low, isExact: true)
    }
  }

  /// Fifteen bytes, zeros after a shorter string, and the length where that decides.
  @inline(__always)
  init(first: UInt64, second: UInt64, length: Int) {
    let tail = UInt64(truncatingIfNeeded: min(length, 16) &+ 1)
    self.init(high: first, low: (second & ~0xff) | tail, isExact: length <= 15)
  }

  /// Any string, read within its bounds.
  init(_ bytes: UnsafeRawBufferPointer) {
    var words: (UInt64, UInt64) = (0, 0)
    unsafe withUnsafeMutableBytes(of: &words) { target in
      unsafe target.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes.prefix(15)))
    }
    self.init(first: words.0.bigEndian, second: words.1.bigEndian, length: bytes.count)
  }

  init(_ bytes: [UInt8]) {
    self = unsafe bytes.withUnsafeBytes { unsafe OrderPrefix($0) }
  }

  /// For a mixed value: its kind, and as much of the value as fits.
  init(ofAny value: Value) {
    if value == .null {
      self = .null
      return
    }
    let beginning =
      switch value {
      case .string(let text): OrderPrefix(Array(text.utf8)).high
      case .data(let bytes): OrderPrefix(bytes).high
      case .int(let number): Double(number).treeOrder
      case .decimal(let cell): DecimalNumber(cell).nearestDouble.treeOrder
      default: Scalar(value).map { OrderPrefix($0, mayBeNull: false).high } ?? 0
      }
    let kind = UInt64(SequenceOrder.rank(value) + 1)
    self.init(high: kind << 56 | beginning >> 8, low: 1, isExact: false)
  }

  init(_ scalar: Scalar, mayBeNull: Bool) {
    switch scalar {
    case .null: self = .null
    case .int(let value): self.init(value)
    case .bool(let value): self.init(value)
    case .double(let value): self.init(value)
    case .date(let value): self.init(value)
    case .bytes12(let value): self.init(value)
    case .bytes16(let value): self.init(value, mayBeNull: mayBeNull)
    case .decimal(let value): self.init(value)
    }
  }
}
