/// An array of a file: a header of eight bytes and its elements, which are numbers, references to
/// other arrays, or bytes. Everything in a file is an array. All bytes have been read and are
/// inside the file.
@safe struct RealmArray {
  /// How the width of the header is to be taken.
  private enum Scheme: UInt8 {
    case bits = 0
    case bytes = 1
    case plain = 2
  }

  static let headerSize = 8

  /// Unowned, because arrays are copied often: the file owns it, and readers hold the file.
  private unowned(unsafe) let owner: FileBytes
  var bytes: FileBytes { unsafe owner }
  /// The offset in the file.
  let ref: Int
  let flags: UInt8
  let count: Int
  /// The width of an element, in bits or in bytes.
  let width: Int
  private let scheme: Scheme

  /// An inner node of a tree.
  var isInner: Bool { flags & 0x80 != 0 }
  /// The elements are references or tagged numbers.
  var hasRefs: Bool { flags & 0x40 != 0 }
  /// A second form of the same kind of array.
  var hasContext: Bool { flags & 0x20 != 0 }
  /// The elements are numbers of `width` bits.
  var isNumbers: Bool { scheme == .bits && !hasRefs }
  /// The elements have `width` bytes each.
  var isCells: Bool { scheme == .bytes && !hasRefs }
  /// The elements are bytes.
  var isBlob: Bool { scheme == .plain && !hasRefs }
  var payload: Int { ref + Self.headerSize }
  /// The size in the file, with the header and what fills up the last eight bytes.
  var byteCount: Int { Self.headerSize + (payloadSize + 7) / 8 * 8 }

  init(_ bytes: FileBytes, _ ref: Int) throws(RealmFileError) {
    guard ref >= FileHeader.byteCount, ref % 8 == 0, ref <= bytes.count - Self.headerSize else {
      throw .damaged("a reference does not lead to an array", at: ref)
    }
    try bytes.prepare(ref, Self.headerSize)
    unsafe owner = bytes
    self.ref = ref
    flags = bytes.load(ref + 4, as: UInt8.self)
    guard let scheme = Scheme(rawValue: (flags & 0x18) >> 3) else {
      throw .damaged("an array has a form that formats up to 24 do not have", at: ref)
    }
    self.scheme = scheme
    width = (1 << Int(flags & 7)) >> 1
    count =
      Int(bytes.load(ref + 5, as: UInt8.self)) << 16 | Int(bytes.load(ref + 6, as: UInt8.self)) << 8
      | Int(bytes.load(ref + 7, as: UInt8.self))
    if isInner, !hasRefs { throw .damaged("an inner node has no references", at: ref) }
    if hasRefs, scheme != .bits { throw .damaged("references are not numbers", at: ref) }
    try bytes.prepare(payload, payloadSize)
  }

  private var payloadSize: Int {
    switch scheme {
    case .bits: (count * width + 7) / 8
    case .bytes: count * width
    case .plain: count
    }
  }

  /// Reads its bytes again, in case that their memory was given back.
  func prepareAgain() throws(RealmFileError) {
    try bytes.prepare(ref, Self.headerSize + payloadSize)
  }

  func damaged(_ detail: String) -> RealmFileError { .damaged(detail, at: ref) }

  // MARK: - Kinds

  /// An array of numbers.
  static func numbers(_ bytes: FileBytes, _ ref: Int) throws(RealmFileError) -> RealmArray {
    let array = try RealmArray(bytes, ref)
    guard array.isNumbers else { throw array.damaged("an array does not have numbers") }
    return array
  }

  /// An array of references.
  static func refs(_ bytes: FileBytes, _ ref: Int) throws(RealmFileError) -> RealmArray {
    let array = try RealmArray(bytes, ref)
    guard array.hasRefs else { throw array.damaged("an array does not have references") }
    return array
  }

  /// An array of bytes.
  static func blob(_ bytes: FileBytes, _ ref: Int) throws(RealmFileError) -> RealmArray {
    let array = try RealmArray(bytes, ref)
    guard array.isBlob else { throw array.damaged("an array does not have bytes") }
    return array
  }

  // MARK: - Numbers

  /// A number: unsigned up to four bits, signed from eight on.
  @inline(__always)
  func number(_ index: Int) throws(RealmFileError) -> Int64 {
    guard index >= 0, index < count, scheme == .bits else { throw beyond(index) }
    switch width {
    case 0: return 0
    case 8: return Int64(bytes.load(payload + index, as: Int8.self))
    case 16: return Int64(bytes.load(payload + 2 * index, as: Int16.self))
    case 32: return Int64(bytes.load(payload + 4 * index, as: Int32.self))
    case 64: return bytes.load(payload + 8 * index, as: Int64.self)
    default: return Int64(part(index))
    }
  }

  /// A number as the arrays of keys have them: unsigned at all widths.
  @inline(__always)
  func unsigned(_ index: Int) throws(RealmFileError) -> UInt64 {
    guard index >= 0, index < count, scheme == .bits else { throw beyond(index) }
    switch width {
    case 0: return 0
    case 8: return UInt64(bytes.load(payload + index, as: UInt8.self))
    case 16: return UInt64(bytes.load(payload + 2 * index, as: UInt16.self))
    case 32: return UInt64(bytes.load(payload + 4 * index, as: UInt32.self))
    case 64: return bytes.load(payload + 8 * index, as: UInt64.self)
    default: return UInt64(part(index))
    }
  }

  /// A number of one, two or four bits, the lowest bits first.
  @inline(__always)
  private func part(_ index: Int) -> UInt8 {
    let bit = index * width
    let byte = bytes.load(payload + bit / 8, as: UInt8.self)
    return byte >> UInt8(bit % 8) & (1 << UInt8(width) - 1)
  }

  private func beyond(_ index: Int) -> RealmFileError {
    damaged("an array of \(count) elements has no number \(index)")
  }

  // MARK: - References

  /// An element of an array of references.
  enum Slot: Equatable {
    case empty
    case ref(Int)
    case number(Int)
  }

  @inline(__always)
  func slot(_ index: Int) throws(RealmFileError) -> Slot {
    guard hasRefs else { throw damaged("an array does not have references") }
    let value = try number(index)
    if value == 0 { return .empty }
    if value & 1 == 0 { return .ref(Int(value)) }
    return .number(Int(truncatingIfNeeded: UInt64(bitPattern: value) >> 1))
  }

  /// The reference in a slot; nil if it is empty, or if the array is too short for it.
  func optionalRef(_ index: Int) throws(RealmFileError) -> Int? {
    guard index < count else { return nil }
    switch try slot(index) {
    case .empty: return nil
    case .ref(let ref): return ref
    case .number: throw damaged("slot \(index) has a number instead of a reference")
    }
  }

  func ref(_ index: Int) throws(RealmFileError) -> Int {
    guard let ref = try optionalRef(index) else {
      throw damaged("slot \(index) has no reference")
    }
    return ref
  }

  /// The number in a slot; nil if it is empty, or if the array is too short for it.
  func optionalNumber(_ index: Int) throws(RealmFileError) -> Int? {
    guard index < count else { return nil }
    switch try slot(index) {
    case .empty: return nil
    case .number(let number): return number
    case .ref: throw damaged("slot \(index) has a reference instead of a number")
    }
  }

  // MARK: - Cells

  /// The bytes of an element of `width` bytes.
  @inline(__always)
  func cell(_ index: Int) throws(RealmFileError) -> Range<Int> {
    guard index >= 0, index < count, scheme == .bytes else { throw beyond(index) }
    let start = payload + index * width
    return start..<start + width
  }
}
