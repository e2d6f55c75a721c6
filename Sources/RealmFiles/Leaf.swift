/// Reads the values of neighbouring objects or elements, in one form of the file format.
protocol LeafReading {
  /// The number of values.
  var count: Int { get }
  /// The size of its arrays in the file, without the blobs of single values.
  var byteCount: Int { get }
  func value(_ index: Int) throws(RealmFileError) -> RealmValue
  /// Whether a value that reads as null is a link to an object that is gone.
  func isLost(_ index: Int) throws(RealmFileError) -> Bool
}

extension LeafReading {
  func isLost(_ index: Int) throws(RealmFileError) -> Bool { false }
}

/// The values of one property of neighbouring objects, or neighbouring elements of a collection.
class Leaf {
  let count: Int

  fileprivate init(count: Int) { self.count = count }

  func value(_ index: Int) throws(RealmFileError) -> RealmValue { .null }
  func isLost(_ index: Int) throws(RealmFileError) -> Bool { false }
  /// All values in their order.
  func values() throws(RealmFileError) -> [RealmValue] { [] }
}

/// A leaf of one form: the loop over its values knows the form.
private final class FormedLeaf<Reading: LeafReading>: Leaf {
  private let reading: Reading

  init(_ reading: Reading) {
    self.reading = reading
    super.init(count: reading.count)
  }

  override func value(_ index: Int) throws(RealmFileError) -> RealmValue {
    try reading.value(index)
  }

  override func isLost(_ index: Int) throws(RealmFileError) -> Bool {
    try reading.isLost(index)
  }

  override func values() throws(RealmFileError) -> [RealmValue] {
    var values: [RealmValue] = []
    values.reserveCapacity(count)
    for index in 0..<count { values.append(try reading.value(index)) }
    return values
  }
}

extension Leaf {
  /// The leaf in an array.
  ///
  /// - Parameters:
  ///   - isElements: the leaf is of a collection, not of a property with one value.
  ///   - distinct: the distinct texts of the column, if it has such a list.
  ///   - charges: whether the bytes count as visited.
  static func make(
    _ array: RealmArray, of column: RealmColumn, _ tables: LinkTables, isElements: Bool,
    distinct: [RealmValue]? = nil, charges: Bool
  ) throws(RealmFileError) -> Leaf {
    func formed<Reading: LeafReading>(_ reading: Reading) throws(RealmFileError) -> Leaf {
      if charges { try array.bytes.charge(reading.byteCount, at: array.ref) }
      return FormedLeaf(reading)
    }
    switch column.type {
    case .int: return try formed(NumberLeaf(array, isNullable: column.isNullable))
    case .bool: return try formed(BoolLeaf(array))
    case .float: return try formed(FloatLeaf(array, isNullable: column.isNullable))
    case .double: return try formed(DoubleLeaf(array, isNullable: column.isNullable))
    case .string: return try formed(StringLeaf(array, .texts, distinct: distinct))
    case .binary: return try formed(StringLeaf(array, .binaries))
    case .date: return try formed(DateLeaf(array))
    case .decimal: return try formed(DecimalLeaf(array))
    case .objectID: return try formed(IdentifierLeaf(array, size: 12))
    case .uuid: return try formed(IdentifierLeaf(array, size: 16))
    case .link: return try formed(LinkLeaf(array, table: column.target, isShifted: !isElements))
    case .typedLink: return try formed(TypedLinkLeaf(array, tables))
    case .mixed: return try formed(MixedLeaf(array, tables))
    }
  }
}
