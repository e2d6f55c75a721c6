import TarnStore

/// The names of a class's properties that a replica exchanges, as it keeps them.
///
/// A property that is new among them may have values in rows that the replica has already, and
/// would not fetch again.
enum ExchangedNames {
  private static func key(_ id: ClassID) -> ReplicaKey { ReplicaKey(135, id, 0) }

  /// Compares the names of classes with those that were exchanged before.
  ///
  /// - Returns: whether a class that was exchanged before has new ones, and what to keep.
  static func compare(
    _ classes: [ReplicaClass], _ snapshot: Snapshot
  ) throws(StorageError) -> (isGrown: Bool, records: ReplicaRecords) {
    var (isGrown, records) = (false, ReplicaRecords())
    for one in classes {
      let key = key(one.id)
      let names = Set(one.exchange.others.map(\.name))
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

  private static func encoded(_ names: Set<String>) -> [UInt8] {
    var writer = WireWriter()
    writer.write(texts: names.sorted())
    return writer.bytes
  }

  private static func decoded(_ bytes: [UInt8]) -> Set<String>? {
    var reader = WireReader(bytes)
    guard let names = reader.readTexts(), reader.isAtEnd else { return nil }
    return Set(names)
  }
}
