/// The values of one property of neighbouring objects, or neighbouring elements of a collection.
enum Leaf {
  case ints(NumberLeaf)
  case bools(RealmArray)
  case floats(RealmArray, isNullable: Bool)
  case doubles(RealmArray, isNullable: Bool)
  case strings(StringLeaf)
  case dates(DateLeaf)
  case decimals(DecimalLeaf)
  case identifiers(IdentifierLeaf)
  /// Keys of one table's objects; those of single links are one more.
  case links(RealmArray, table: Int?, isShifted: Bool)
  /// Pairs of table keys and object keys, each one more.
  case typedLinks(RealmArray, LinkTables)
  case mixed(MixedLeaf)

  /// The number of values.
  var count: Int {
    switch self {
    case .ints(let leaf): leaf.count
    case .bools(let array), .floats(let array, _), .doubles(let array, _): array.count
    case .links(let array, _, _): array.count
    case .typedLinks(let array, _): array.count / 2
    case .strings(let leaf): leaf.count
    case .dates(let leaf): leaf.count
    case .decimals(let leaf): leaf.count
    case .identifiers(let leaf): leaf.count
    case .mixed(let leaf): leaf.count
    }
  }

  @inline(__always)
  func value(_ index: Int) throws(RealmFileError) -> RealmValue {
    switch self {
    case .ints(let leaf): return try leaf.number(index).map { .int($0) } ?? .null
    case .bools(let array):
      switch try array.number(index) {
      case 0: return .bool(false)
      case 1: return .bool(true)
      case 3: return .null
      default: throw array.damaged("a Bool is neither false nor true")
      }
    case .floats(let array, let isNullable):
      let bits = try array.bytes.load(array.cell(index).lowerBound, as: UInt32.self)
      return isNullable && bits == 0x7fc0_00aa ? .null : .float(Float(bitPattern: bits))
    case .doubles(let array, let isNullable):
      let bits = try array.bytes.load(array.cell(index).lowerBound, as: UInt64.self)
      return isNullable && bits == 0x7ff8_0000_0000_00aa
        ? .null : .double(Double(bitPattern: bits))
    case .strings(let leaf): return try leaf.value(index)
    case .dates(let leaf): return try leaf.value(index)
    case .decimals(let leaf): return try leaf.value(index)
    case .identifiers(let leaf): return try leaf.value(index)
    case .links(let array, let table, let isShifted):
      let number = try array.number(index)
      let (key, overflows) = number.subtractingReportingOverflow(isShifted ? 1 : 0)
      guard let table, !overflows, key >= 0 else { return .null }
      return .link(table: table, key: key)
    case .typedLinks(let array, let tables):
      let table = try array.number(2 * index)
      let key = try array.number(2 * index + 1)
      guard table > 0, key > 0 else { return .null }
      return try tables.link(table - 1, key - 1, in: array)
    case .mixed(let leaf): return try leaf.value(index)
    }
  }

  /// Whether a value that reads as null is a link to an object that is gone.
  func isLost(_ index: Int) throws(RealmFileError) -> Bool {
    guard case .mixed(let leaf) = self else { return false }
    return try leaf.isLost(index)
  }

  /// The size of its arrays in the file.
  private func byteCount(_ array: RealmArray) -> Int {
    switch self {
    case .strings(let leaf): leaf.byteCount
    case .dates(let leaf): leaf.byteCount
    case .mixed(let leaf): leaf.byteCount
    default: array.byteCount
    }
  }

  /// - Parameters:
  ///   - isElements: the leaf is of a collection, not of a property with one value.
  ///   - distinct: the distinct texts of the column, if it has such a list.
  ///   - charges: whether the bytes count as visited.
  init(
    _ array: RealmArray, of column: RealmColumn, _ tables: LinkTables, isElements: Bool,
    distinct: [RealmValue]? = nil, charges: Bool
  ) throws(RealmFileError) {
    let isNullable = column.isNullable
    switch column.type {
    case .int: self = .ints(try NumberLeaf(array, isNullable: isNullable))
    case .bool:
      guard array.isNumbers else { throw array.damaged("a leaf does not have numbers") }
      self = .bools(array)
    case .float, .double:
      let size = column.type == .float ? 4 : 8
      guard array.isCells, array.width == size || array.count == 0 else {
        throw array.damaged("a leaf has a form that floating-point numbers do not have")
      }
      self =
        size == 4
        ? .floats(array, isNullable: isNullable) : .doubles(array, isNullable: isNullable)
    case .string: self = .strings(try StringLeaf(array, .texts, distinct: distinct))
    case .binary: self = .strings(try StringLeaf(array, .binaries))
    case .date: self = .dates(try DateLeaf(array))
    case .decimal: self = .decimals(try DecimalLeaf(array))
    case .objectID: self = .identifiers(try IdentifierLeaf(array, size: 12))
    case .uuid: self = .identifiers(try IdentifierLeaf(array, size: 16))
    case .link:
      guard !array.hasRefs, array.isNumbers else {
        throw array.damaged("a leaf does not have numbers")
      }
      self = .links(array, table: column.target, isShifted: !isElements)
    case .typedLink:
      guard array.isNumbers, array.count % 2 == 0 else {
        throw array.damaged("a leaf does not have pairs of numbers")
      }
      self = .typedLinks(array, tables)
    case .mixed: self = .mixed(try MixedLeaf(array, tables))
    }
    if charges { try array.bytes.charge(byteCount(array), at: array.ref) }
  }
}

/// The tables that links can lead to.
package struct LinkTables {
  /// The keys of the tables at their positions; nil where there is none.
  let keys: [Int?]
  let format: Int

  /// An object as values of any type name it; null if it does not exist any more.
  func link(
    _ tableKey: Int64, _ key: Int64, in array: RealmArray
  ) throws(RealmFileError) -> RealmValue {
    let table = Int(tableKey & 0xffff)
    guard tableKey >= 0, table < keys.count else {
      throw array.damaged("a link leads to a table that does not exist")
    }
    guard key >= 0, keys[table] == Int(tableKey) else { return .null }
    return .link(table: table, key: key)
  }
}
