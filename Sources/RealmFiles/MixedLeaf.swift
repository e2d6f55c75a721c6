/// Values of any type, including lists and dictionaries.
///
/// An array has a number for each value: its type, and the value itself or a position in one of
/// several arrays that all values share.
struct MixedLeaf: LeafReading {
  /// The deepest nesting of lists and dictionaries, which is the peer's as well.
  static let depthMax = 100

  private let composite: RealmArray
  private let integers: RealmArray?
  private let pairs: RealmArray?
  private let texts: StringLeaf?
  private let binaries: StringLeaf?
  private let refs: RealmArray?
  private let tables: LinkTables
  private let depth: Int
  let byteCount: Int
  var count: Int { composite.count }

  init(_ array: RealmArray, _ tables: LinkTables, depth: Int = 0) throws(RealmFileError) {
    let bytes = array.bytes
    self.tables = tables
    self.depth = depth
    guard array.hasRefs, !array.isInner else {
      throw array.damaged("a leaf has a form that values of any type do not have")
    }
    composite = try .numbers(bytes, array.ref(0))
    var size = array.byteCount + composite.byteCount
    func numbers(_ slot: Int) throws(RealmFileError) -> RealmArray? {
      guard let ref = try array.optionalRef(slot) else { return nil }
      let numbers = try RealmArray.numbers(bytes, ref)
      size += numbers.byteCount
      return numbers
    }
    integers = try numbers(1)
    pairs = try numbers(2)
    if let ref = try array.optionalRef(3) {
      let strings = try RealmArray(bytes, ref)
      texts = try StringLeaf(strings, .texts)
      let binaries = try StringLeaf(strings, .textsAsBytes)
      size += binaries.byteCount
      self.binaries = binaries
    } else {
      (texts, binaries) = (nil, nil)
    }
    if let ref = try array.optionalRef(4) {
      let refs = try RealmArray.refs(bytes, ref)
      size += refs.byteCount
      self.refs = refs
    } else {
      refs = nil
    }
    byteCount = size
  }

  func value(_ index: Int) throws(RealmFileError) -> RealmValue {
    let code = try composite.number(index)
    if code == 0 { return .null }
    let payload = Int(code >> 5 & 7)
    let rest = code >> 8
    guard rest >= 0 || payload == 0 else {
      throw composite.damaged("a value has a negative position")
    }
    switch Int(code & 0x1f) - 1 {
    case 0: return .int(payload == 0 ? rest : try integer(rest))
    case 1: return .bool(rest != 0)
    case 9: return .float(Float(bitPattern: UInt32(truncatingIfNeeded: try integer(rest))))
    case 10: return .double(Double(bitPattern: UInt64(bitPattern: try integer(rest))))
    case 2:
      guard let texts else { throw missing }
      return try checked(texts.value(Int(rest)))
    case 4:
      return .binary(try binary(rest))
    case 8:
      let (seconds, nanoseconds) = try pair(rest)
      return try .date(seconds, nanoseconds, in: composite)
    case 11:
      let (low, high) = try pair(rest)
      let number = RealmDecimal(
        high: UInt64(bitPattern: high), low: UInt64(bitPattern: low))
      return number == .null ? .null : .decimal(number.canonical)
    case 15: return try identifier(rest, size: 12)
    case 17: return try identifier(rest, size: 16)
    case 16:
      let (table, key) = try pair(rest)
      return try tables.link(table, key, in: composite)
    case 19: return .list(try elements(rest))
    case 21: return .dictionary(try entries(rest))
    default: throw composite.damaged("a value has the unknown type \(Int(code & 0x1f) - 1)")
    }
  }

  /// Whether a value that reads as null is a link to an object that is gone.
  func isLost(_ index: Int) throws(RealmFileError) -> Bool {
    try composite.number(index) & 0x1f == 17
  }

  // MARK: - Payloads

  private var missing: RealmFileError { composite.damaged("the array of a value is missing") }

  private func integer(_ index: Int64) throws(RealmFileError) -> Int64 {
    guard let integers else { throw missing }
    return try integers.number(Int(index))
  }

  private func pair(_ index: Int64) throws(RealmFileError) -> (Int64, Int64) {
    guard let pairs, index < 1 << 24 else { throw missing }
    return (try pairs.number(2 * Int(index)), try pairs.number(2 * Int(index) + 1))
  }

  private func checked(_ value: RealmValue) throws(RealmFileError) -> RealmValue {
    guard value != .null else { throw composite.damaged("the text of a value is null") }
    return value
  }

  private func binary(_ index: Int64) throws(RealmFileError) -> [UInt8] {
    guard let binaries else { throw missing }
    guard case .binary(let bytes) = try binaries.value(Int(index)) else {
      throw composite.damaged("the bytes of a value are null")
    }
    return bytes
  }

  private func identifier(_ index: Int64, size: Int) throws(RealmFileError) -> RealmValue {
    let bytes = try binary(index)
    guard bytes.count == size else { throw composite.damaged("an id has \(bytes.count) bytes") }
    func number(_ range: Range<Int>) -> UInt64 {
      bytes[range].reduce(0) { $0 << 8 | UInt64($1) }
    }
    return size == 12
      ? .objectID(high: number(0..<8), low: UInt32(number(8..<12)))
      : .uuid(high: number(0..<8), low: number(8..<16))
  }

  // MARK: - Nested collections

  private func nested(_ index: Int64) throws(RealmFileError) -> Int? {
    guard let refs, index < refs.count else { throw missing }
    guard depth < Self.depthMax else {
      throw composite.damaged("lists are nested more than \(Self.depthMax) deep")
    }
    return try refs.optionalRef(Int(index))
  }

  private func elements(_ index: Int64) throws(RealmFileError) -> [RealmValue] {
    guard let ref = try nested(index) else { return [] }
    return try CollectionReader.mixed(composite.bytes, ref, tables, depth: depth + 1)
  }

  private func entries(_ index: Int64) throws(RealmFileError) -> [RealmEntry] {
    guard let ref = try nested(index) else { return [] }
    return try CollectionReader.entries(composite.bytes, ref, tables, depth: depth + 1)
  }
}
