/// Links to objects of one table: their keys; those of single links are one more.
struct LinkLeaf: LeafReading {
  private let array: RealmArray
  private let table: Int?
  private let shift: Int64
  var count: Int { array.count }
  var byteCount: Int { array.byteCount }

  init(_ array: RealmArray, table: Int?, isShifted: Bool) throws(RealmFileError) {
    guard array.isNumbers else { throw array.damaged("a leaf does not have numbers") }
    self.array = array
    self.table = table
    shift = isShifted ? 1 : 0
  }

  /// Null for an object that is gone, whose key is negative.
  @inline(__always)
  func value(_ index: Int) throws(RealmFileError) -> RealmValue {
    let (key, overflows) = try array.number(index).subtractingReportingOverflow(shift)
    guard let table, !overflows, key >= 0 else { return .null }
    return .link(table: table, key: key)
  }
}

/// Links to objects of any table: pairs of table keys and object keys, each one more.
struct TypedLinkLeaf: LeafReading {
  private let array: RealmArray
  private let tables: LinkTables
  var count: Int { array.count / 2 }
  var byteCount: Int { array.byteCount }

  init(_ array: RealmArray, _ tables: LinkTables) throws(RealmFileError) {
    guard array.isNumbers, array.count % 2 == 0 else {
      throw array.damaged("a leaf does not have pairs of numbers")
    }
    self.array = array
    self.tables = tables
  }

  func value(_ index: Int) throws(RealmFileError) -> RealmValue {
    let table = try array.number(2 * index)
    let key = try array.number(2 * index + 1)
    guard table > 0, key > 0 else { return .null }
    return try tables.link(table - 1, key - 1, in: array)
  }
}

/// The tables that links can refer to.
package struct LinkTables {
  /// The keys of the tables by position; nil at a position without a table.
  let keys: [Int?]
  let format: Int

  /// An object as an AnyRealmValue names it; null if it does not exist any more.
  func link(
    _ tableKey: Int64, _ key: Int64, in array: RealmArray
  ) throws(RealmFileError) -> RealmValue {
    guard tableKey >= 0 else { throw array.damaged("a link has no table") }
    guard key >= 0, let table = index(ofKey: Int(tableKey)) else { return .null }
    return .link(table: table, key: key)
  }
}
