import TarnStore

/// The server's number of a class, as a replica stores it. A class that was removed from the server
/// and added again has another number, possibly another table, and rows with other incarnations.
enum ClassNumber {
  private static func key(_ id: ClassID) -> ReplicaKey { ReplicaKey(143, id, 0) }

  /// The number with which a class was last exchanged; nil if it was not.
  static func of(_ id: ClassID, in snapshot: Snapshot) throws(StorageError) -> Int? {
    guard let bytes = try ReplicaRecords.bytes(key(id), in: snapshot.transaction) else {
      return nil
    }
    var reader = BigEndianReader(bytes)
    guard let number: Int64 = reader.read(), reader.isAtEnd else {
      throw ReplicaObjects.damaged()
    }
    return Int(number)
  }

  static func record(_ one: ReplicaClass) -> (key: ReplicaKey, bytes: [UInt8]) {
    var writer = BigEndianWriter(capacity: 8)
    writer.write(Int64(one.exchange.id))
    return (key(one.id), writer.bytes)
  }
}
