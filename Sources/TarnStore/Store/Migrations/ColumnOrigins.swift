/// The columns from which the columns of a class got their values in migrations: under another name
/// by `renameProperty`, or under the same one if the type of the values is unchanged.
///
/// Only a file that is exchanged with a server stores this: the session runs after the migration,
/// and must know that a new name is not a new property.
package struct ColumnOrigins: Sendable {
  private var origins: [ColumnID: ColumnID]

  private static func key(_ id: ClassID) -> ReplicaKey { ReplicaKey(136, id, 0) }

  /// - Throws: `.corrupted` for a damaged record.
  package init(of id: ClassID, in transaction: ReadTransaction) throws(StorageError) {
    origins = [:]
    guard let bytes = try ReplicaRecords.bytes(Self.key(id), in: transaction) else { return }
    guard bytes.count % 4 == 0 else {
      throw .damagedRecord("the origins of a class's columns are damaged")
    }
    for place in stride(from: 0, to: bytes.count, by: 4) {
      origins[Self.column(bytes, place)] = Self.column(bytes, place + 2)
    }
  }

  private static func column(_ bytes: [UInt8], _ place: Int) -> ColumnID {
    ColumnID(UInt16(bytes[place]) << 8 | UInt16(bytes[place + 1]))
  }

  /// Adds the origins from a migration.
  ///
  /// - Returns: the records to write; empty for a file that is not exchanged with a server.
  static func records(
    adding taken: [ClassID: [ColumnID: ColumnID]], in transaction: ReadTransaction
  ) throws(StorageError) -> ReplicaRecords {
    var records = ReplicaRecords()
    guard !taken.isEmpty, try ReplicaRecords.exist(in: transaction) else { return records }
    for (id, columns) in taken {
      var all = try ColumnOrigins(of: id, in: transaction).origins
      all.merge(columns) { $1 }
      var bytes: [UInt8] = []
      for (to, from) in all.sorted(by: { $0.key < $1.key }) {
        for id in [to, from] {
          bytes += [UInt8(id.rawValue >> 8), UInt8(truncatingIfNeeded: id.rawValue)]
        }
      }
      records.set(key(id), bytes)
    }
    return records
  }

  /// The column that has the values of an earlier one now.
  package func successor(of column: ColumnID) -> ColumnID? {
    var last = column
    // An origin is an earlier column.
    while let next = origins.first(where: { $0.value == last && $0.key > last })?.key {
      last = next
    }
    return last == column ? nil : last
  }

  /// The other names under which the file had the values of a property, the latest first.
  package func formerNames(of column: ColumnSchema, in described: ClassSchema) -> [String] {
    var names: [String] = []
    var id = column.id
    // An origin is an earlier column.
    while let from = origins[id], from < id, from.index < described.columns.count {
      let name = described[from].name
      if name != column.name, !names.contains(name) { names.append(name) }
      id = from
    }
    return names
  }
}
