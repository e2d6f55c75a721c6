/// Whole numbers of some objects or elements, with or without null.
///
/// With null the array has an element more: the first one is the number that stands for null, which
/// the writer chooses for each array.
struct NumberLeaf: LeafReading {
  let count: Int
  let array: RealmArray
  private let null: Int64?
  private let shift: Int

  init(_ array: RealmArray, isNullable: Bool) throws(RealmFileError) {
    guard array.isNumbers else { throw array.damaged("a leaf does not have numbers") }
    self.array = array
    guard isNullable else {
      (null, shift, count) = (nil, 0, array.count)
      return
    }
    guard array.count > 0 else { throw array.damaged("a leaf lacks its null") }
    (null, shift, count) = (try array.number(0), 1, array.count - 1)
  }

  var byteCount: Int { array.byteCount }

  @inline(__always)
  func value(_ index: Int) throws(RealmFileError) -> RealmValue {
    guard let number = try number(index) else { return .null }
    return .int(number)
  }

  /// A number; nil for null.
  @inline(__always)
  func number(_ index: Int) throws(RealmFileError) -> Int64? {
    guard index >= 0 else { throw array.damaged("there is no value \(index)") }
    let number = try array.number(index + shift)
    return shift == 1 && number == null ? nil : number
  }
}

/// Booleans, with or without null.
struct BoolLeaf: LeafReading {
  private let array: RealmArray
  var count: Int { array.count }
  var byteCount: Int { array.byteCount }

  init(_ array: RealmArray) throws(RealmFileError) {
    guard array.isNumbers else { throw array.damaged("a leaf does not have numbers") }
    self.array = array
  }

  @inline(__always)
  func value(_ index: Int) throws(RealmFileError) -> RealmValue {
    switch try array.number(index) {
    case 0: return .bool(false)
    case 1: return .bool(true)
    case 3: return .null
    default: throw array.damaged("a Bool is neither false nor true")
    }
  }
}

/// Floating-point numbers of 32 bits; one NaN of its own stands for null.
struct FloatLeaf: LeafReading {
  private let array: RealmArray
  private let isNullable: Bool
  var count: Int { array.count }
  var byteCount: Int { array.byteCount }

  init(_ array: RealmArray, isNullable: Bool) throws(RealmFileError) {
    try array.requireCells(ofSize: 4)
    self.array = array
    self.isNullable = isNullable
  }

  func value(_ index: Int) throws(RealmFileError) -> RealmValue {
    let bits = try array.bytes.load(array.cell(index).lowerBound, as: UInt32.self)
    return isNullable && bits == 0x7fc0_00aa ? .null : .float(Float(bitPattern: bits))
  }
}

/// Floating-point numbers of 64 bits; one NaN of its own stands for null.
struct DoubleLeaf: LeafReading {
  private let array: RealmArray
  private let isNullable: Bool
  var count: Int { array.count }
  var byteCount: Int { array.byteCount }

  init(_ array: RealmArray, isNullable: Bool) throws(RealmFileError) {
    try array.requireCells(ofSize: 8)
    self.array = array
    self.isNullable = isNullable
  }

  @inline(__always)
  func value(_ index: Int) throws(RealmFileError) -> RealmValue {
    let bits = try array.bytes.load(array.cell(index).lowerBound, as: UInt64.self)
    return isNullable && bits == 0x7ff8_0000_0000_00aa ? .null : .double(Double(bitPattern: bits))
  }
}

extension RealmArray {
  fileprivate func requireCells(ofSize size: Int) throws(RealmFileError) {
    guard isCells, width == size || count == 0 else {
      throw damaged("a leaf has a form that floating-point numbers do not have")
    }
  }
}

/// Points in time: two arrays, seconds and nanoseconds.
struct DateLeaf: LeafReading {
  private let seconds: NumberLeaf
  private let nanoseconds: RealmArray
  let byteCount: Int
  var count: Int { seconds.count }

  init(_ array: RealmArray) throws(RealmFileError) {
    seconds = try NumberLeaf(.numbers(array.bytes, array.ref(0)), isNullable: true)
    nanoseconds = try .numbers(array.bytes, array.ref(1))
    byteCount = array.byteCount + seconds.array.byteCount + nanoseconds.byteCount
    guard nanoseconds.count == seconds.count else {
      throw array.damaged("it has not as many nanoseconds as seconds")
    }
  }

  @inline(__always)
  func value(_ index: Int) throws(RealmFileError) -> RealmValue {
    guard let whole = try seconds.number(index) else { return .null }
    return try .date(whole, try nanoseconds.number(index), in: nanoseconds)
  }
}

extension RealmValue {
  static func date(
    _ seconds: Int64, _ nanoseconds: Int64, in array: RealmArray
  ) throws(RealmFileError) -> RealmValue {
    guard nanoseconds.magnitude < 1_000_000_000,
      seconds == 0 || nanoseconds == 0 || (seconds < 0) == (nanoseconds < 0)
    else { throw array.damaged("a date has \(nanoseconds) nanoseconds") }
    return .date(seconds: seconds, nanoseconds: Int32(nanoseconds))
  }
}

/// Decimal numbers, in cells of 0, 4, 8 or 16 bytes.
struct DecimalLeaf: LeafReading {
  private let cells: RealmArray
  var count: Int { cells.count }
  var byteCount: Int { cells.byteCount }

  init(_ array: RealmArray) throws(RealmFileError) {
    guard array.isCells, [0, 4, 8, 16].contains(array.width) else {
      throw array.damaged("a leaf has a form that decimals do not have")
    }
    cells = array
  }

  func value(_ index: Int) throws(RealmFileError) -> RealmValue {
    let cell = try cells.cell(index)
    let bytes = cells.bytes
    switch cells.width {
    case 0:
      guard cells.hasContext else { return .null }
      return .decimal(RealmDecimal(isNegative: false, coefficient: 0, exponent: 0))
    case 4: return Self.decimal32(bytes.load(cell.lowerBound, as: UInt32.self))
    case 8: return Self.decimal64(bytes.load(cell.lowerBound, as: UInt64.self))
    default:
      let number = RealmDecimal(
        high: bytes.load(cell.lowerBound + 8, as: UInt64.self),
        low: bytes.load(cell.lowerBound, as: UInt64.self))
      return number == .null ? .null : .decimal(number.canonical)
    }
  }

  static func decimal32(_ bits: UInt32) -> RealmValue {
    if bits == 0x7c00_00aa { return .null }
    let isNegative = bits >> 31 == 1
    guard bits >> 29 & 3 == 3 else {
      return .decimal(
        RealmDecimal(
          isNegative: isNegative, coefficient: UInt64(bits & 0x7f_ffff),
          exponent: Int(bits >> 23 & 0xff) - 101))
    }
    if bits >> 27 & 15 == 15 { return special(isNegative, isNaN: bits >> 26 & 1 == 1) }
    let large = UInt64(0x80_0000 | bits & 0x1f_ffff)
    return .decimal(
      RealmDecimal(
        isNegative: isNegative, coefficient: large > 9_999_999 ? 0 : large,
        exponent: Int(bits >> 21 & 0xff) - 101))
  }

  static func decimal64(_ bits: UInt64) -> RealmValue {
    if bits == 0x7c00_0000_0000_00aa { return .null }
    let isNegative = bits >> 63 == 1
    guard bits >> 61 & 3 == 3 else {
      return .decimal(
        RealmDecimal(
          isNegative: isNegative, coefficient: bits & (1 << 53 - 1),
          exponent: Int(bits >> 53 & 0x3ff) - 398))
    }
    if bits >> 59 & 15 == 15 { return special(isNegative, isNaN: bits >> 58 & 1 == 1) }
    let large = 0x20_0000_0000_0000 | bits & (1 << 51 - 1)
    return .decimal(
      RealmDecimal(
        isNegative: isNegative, coefficient: large > 9_999_999_999_999_999 ? 0 : large,
        exponent: Int(bits >> 51 & 0x3ff) - 398))
  }

  private static func special(_ isNegative: Bool, isNaN: Bool) -> RealmValue {
    .decimal(
      RealmDecimal(
        high: (isNegative ? 1 << 63 : 0) | (isNaN ? 0x7c00_0000_0000_0000 : 0x7800_0000_0000_0000),
        low: 0))
  }
}

/// Ids of 12 or 16 bytes, in blocks of eight with a byte of null bits in front.
struct IdentifierLeaf: LeafReading {
  private let array: RealmArray
  private let size: Int
  let count: Int
  var byteCount: Int { array.byteCount }

  init(_ array: RealmArray, size: Int) throws(RealmFileError) {
    guard array.isCells, array.width == 1 || array.count == 0 else {
      throw array.damaged("a leaf has a form that ids do not have")
    }
    self.array = array
    self.size = size
    let block = 8 * size + 1
    let (values, rest) = (array.count - (array.count + block - 1) / block)
      .quotientAndRemainder(dividingBy: size)
    guard rest == 0 else { throw array.damaged("the last id is cut") }
    count = values
  }

  func value(_ index: Int) throws(RealmFileError) -> RealmValue {
    guard index >= 0, index < count else { throw array.damaged("there is no value \(index)") }
    let bytes = array.bytes
    let start = array.payload + index / 8 * (8 * size + 1)
    if bytes.load(start, as: UInt8.self) >> UInt8(index % 8) & 1 == 1 { return .null }
    let place = start + 1 + index % 8 * size
    let high = bytes.load(place, as: UInt64.self).byteSwapped
    return size == 12
      ? .objectID(high: high, low: bytes.load(place + 8, as: UInt32.self).byteSwapped)
      : .uuid(high: high, low: bytes.load(place + 8, as: UInt64.self).byteSwapped)
  }
}
