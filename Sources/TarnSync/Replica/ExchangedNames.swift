import TarnStore

/// The names of the properties of a class that a replica exchanges, as it stores them.
///
/// A new property may have values in rows that the replica already has, and would not fetch again.
enum ExchangedNames {
  private static func key(_ id: ClassID) -> ReplicaKey { ReplicaKey(135, id, 0) }

  /// For columns whose foreign keys refuse deletions: unsent commits are joined without a server.
  private static func refusingKey(_ id: ClassID) -> ReplicaKey { ReplicaKey(135, id, 1) }

  /// - Returns: the records of these columns to store; none if they are stored already.
  static func refusing(
    _ classes: [ReplicaClass], _ snapshot: Snapshot
  ) throws(StorageError) -> ReplicaRecords {
    var records = ReplicaRecords()
    for one in classes {
      let names = one.exchange.rules.refusingColumns
      let known = try refusing([one.described], snapshot)[one.id] ?? []
      if known != names {
        records.set(refusingKey(one.id), names.isEmpty ? nil : encoded(names))
      }
    }
    return records
  }

  /// The names of these columns, as they were stored.
  static func refusing(
    _ classes: [ClassSchema], _ snapshot: Snapshot
  ) throws(StorageError) -> [ClassID: Set<String>] {
    var columns: [ClassID: Set<String>] = [:]
    for one in classes {
      let key = refusingKey(one.id)
      guard let bytes = try ReplicaRecords.bytes(key, in: snapshot.transaction) else { continue }
      guard let names = decoded(bytes) else { throw ReplicaObjects.damaged() }
      columns[one.id] = names
    }
    return columns
  }

  /// Compares the names of classes with those that were exchanged before.
  ///
  /// - Returns: whether a class that was exchanged before has new properties, and the records to
  ///   store.
  static func compare(
    _ classes: [ReplicaClass], _ snapshot: Snapshot
  ) throws(StorageError) -> (isGrown: Bool, records: ReplicaRecords) {
    var (isGrown, records) = (false, ReplicaRecords())
    for one in classes {
      let key = key(one.id)
      // The names in the file: a property that was renamed on the server is not new.
      let names = Set(one.exchange.others.map { one.described[$0.id].name })
      guard let bytes = try ReplicaRecords.bytes(key, in: snapshot.transaction) else {
        records.set(key, encoded(names))
        continue
      }
      guard let former = decoded(bytes) else { throw ReplicaObjects.damaged() }
      if former == names { continue }
      if !names.isSubset(of: former) { isGrown = true }
      records.set(key, encoded(names))
    }
    return (isGrown, records)
  }

  /// The names with which a class was exchanged before; empty if it was not.
  static func of(_ id: ClassID, in snapshot: Snapshot) throws(StorageError) -> Set<String> {
    guard let bytes = try ReplicaRecords.bytes(key(id), in: snapshot.transaction) else {
      return []
    }
    guard let names = decoded(bytes) else { throw ReplicaObjects.damaged() }
    return names
  }

  private static func encoded(_ names: Set<String>) -> [UInt8] {
    var writer = BigEndianWriter()
    writer.write(texts: names.sorted())
    return writer.bytes
  }

  private static func decoded(_ bytes: [UInt8]) -> Set<String>? {
    var reader = BigEndianReader(bytes)
    guard let names = reader.readTexts(), reader.isAtEnd else { return nil }
    return Set(names)
  }
}
