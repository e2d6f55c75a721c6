internal import CTarn

/// Changes of what a replica of a server keeps in the file beside the objects. Nothing else reads
/// these records, observers hear nothing of them, and change records do not have them.
package struct ReplicaRecords: Sendable {
  /// The name of a record.
  package struct Key: Hashable, Comparable, Sendable {
    package let kind: UInt8
    package let classID: ClassID
    package let number: Int64

    package init(_ kind: UInt8, _ classID: ClassID, _ number: Int64) {
      self.kind = kind
      self.classID = classID
      self.number = number
    }

    package static func < (a: Key, b: Key) -> Bool {
      (a.kind, a.classID, a.number) < (b.kind, b.classID, b.number)
    }
  }

  /// Nil for those that are deleted.
  private var changed: [Key: [UInt8]?] = [:]

  package init() {}

  package var isEmpty: Bool { changed.isEmpty }

  /// The bytes that the record will have; nil if it is not changed, a nil within if it is deleted.
  package func change(of key: Key) -> [UInt8]?? { changed[key] }

  /// Keeps bytes under a name, or deletes what is there.
  package mutating func set(_ key: Key, _ bytes: [UInt8]?) { changed.updateValue(bytes, forKey: key) }

  /// Writes the changes, with a checksum after each record.
  package func put(_ transaction: borrowing WriteTransaction) throws(StorageError) {
    for (key, bytes) in changed.sorted(by: { $0.key < $1.key }) {
      let name = TreeKey.replica(key)
      guard let bytes else {
        _ = unsafe try name.withBytes { name throws(StorageError) in
          unsafe try transaction.delete(name)
        }
        continue
      }
      var writer = RecordWriter(bytes: bytes)
      writer.checksum()
      unsafe try withBytes(of: writer.bytes) { bytes throws(StorageError) in
        unsafe try name.withBytes { name throws(StorageError) in
          unsafe try transaction.put(bytes, forKey: name)
        }
      }
    }
  }

  /// The bytes of a record; nil if there is none.
  ///
  /// - Throws: `.corrupted` if the checksum is wrong.
  package static func bytes(
    _ key: Key, in transaction: ReadTransaction
  ) throws(StorageError) -> [UInt8]? {
    let found = unsafe try TreeKey.replica(key).withBytes { name throws(StorageError) in
      unsafe try transaction.value(forKey: name)
    }
    return unsafe try found.map { bytes throws(StorageError) in unsafe try checked(bytes) }
  }

  /// The records of a kind and class, in the order of their numbers, until `body` returns false.
  package static func forEach(
    _ kind: UInt8, _ classID: ClassID, in transaction: ReadTransaction,
    _ body: (Int64, [UInt8]) throws(StorageError) -> Bool
  ) throws(StorageError) {
    var cursor = try Cursor(transaction)
    var isAt = unsafe try TreeKey.replica(Key(kind, classID, .min)).withBytes {
      name throws(StorageError) in unsafe try cursor.seek(atOrAfter: name)
    }
    while isAt, let key = unsafe TreeKey.parseReplica(cursor.key), key.kind == kind,
      key.classID == classID
    {
      guard try unsafe body(key.number, checked(cursor.value)) else { return }
      isAt = try cursor.next()
    }
  }

  private static func checked(_ bytes: UnsafeRawBufferPointer) throws(StorageError) -> [UInt8] {
    let rest = bytes.count - 4
    guard rest >= 0,
      unsafe tarn_crc32c(bytes.baseAddress!, rest)
        == UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: rest, as: UInt32.self))
    else { throw .damagedRecord("the checksum of a replica's record is wrong") }
    return unsafe Array(bytes[..<rest])
  }
}
