internal import CTarn

/// Changes of a replica's own records in the file. Nothing else reads these, observers are not
/// notified of them, and they are not in change records.
///
/// Records of kinds from 128 on may be long, and are stored in pieces; others fit into a page.
package struct ReplicaRecords: Sendable {
  /// By kind; nil for those that are deleted.
  private var changed: [UInt8: [ReplicaKey: [UInt8]?]] = [:]
  /// Short records that are new, in the order of their keys.
  private var appended: [(key: ReplicaKey, bytes: [UInt8])] = []

  package init() {}

  package var isEmpty: Bool { changed.isEmpty && appended.isEmpty }

  /// The bytes that the changed records of a kind will have; nil for those that are deleted.
  package func changes(of kind: UInt8) -> [ReplicaKey: [UInt8]?] { changed[kind] ?? [:] }

  /// The bytes that the record will have; nil if it is not changed, a nil within if it is deleted.
  package func change(of key: ReplicaKey) -> [UInt8]?? { changed[key.kind]?[key] }

  /// Keeps bytes under a name, or deletes what is there.
  package mutating func set(_ key: ReplicaKey, _ bytes: [UInt8]?) {
    changed[key.kind, default: [:]].updateValue(bytes, forKey: key)
  }

  /// Keeps bytes under a short name that follows those before. Faster than `set` for many, but
  /// `change(of:)` does not know of them.
  package mutating func append(_ key: ReplicaKey, _ bytes: [UInt8]) {
    appended.append((key, bytes))
  }

  /// Writes the changes, with a checksum after each record.
  package func put(_ transaction: borrowing WriteTransaction) throws(StorageError) {
    let all = changed.sorted { $0.key < $1.key }.map { $0.value.sorted { $0.key < $1.key } }
    for (key, bytes) in all.joined() {
      var count: UInt16 = 0
      if let bytes {
        let whole = Self.withChecksum(bytes)
        if whole.count <= Self.pieceBytes {
          try Self.put(whole, key, 0, transaction)
          count = 1
        }
        for start in stride(from: 0, to: count == 0 ? whole.count : 0, by: Self.pieceBytes) {
          require(count == 0 || key.isLong, "internal error: a replica's record is too long")
          let piece = Array(whole[start..<min(start + Self.pieceBytes, whole.count)])
          try Self.put(piece, key, count, transaction)
          count += 1
        }
      } else if !key.isLong {
        _ = try Self.delete(key, 0, transaction)
      }
      // What is left of a longer one.
      while key.isLong, try Self.delete(key, count, transaction) { count += 1 }
    }
    for (key, bytes) in appended { try Self.put(Self.withChecksum(bytes), key, 0, transaction) }
  }

  private static let pieceBytes = 4_000

  private static func put(
    _ bytes: [UInt8], _ key: ReplicaKey, _ piece: UInt16, _ transaction: borrowing WriteTransaction
  ) throws(StorageError) {
    unsafe try withBytes(of: bytes) { bytes throws(StorageError) in
      unsafe try TreeKey.replica(key, piece: piece).withBytes { name throws(StorageError) in
        unsafe try transaction.put(bytes, forKey: name)
      }
    }
  }

  private static func delete(
    _ key: ReplicaKey, _ piece: UInt16, _ transaction: borrowing WriteTransaction
  ) throws(StorageError) -> Bool {
    unsafe try TreeKey.replica(key, piece: piece).withBytes { name throws(StorageError) in
      unsafe try transaction.delete(name)
    }
  }

  /// The bytes of a record; nil if the file does not have it.
  ///
  /// - Throws: `.corrupted` if the checksum is wrong.
  package static func bytes(
    _ key: ReplicaKey, in transaction: ReadTransaction
  ) throws(StorageError) -> [UInt8]? {
    var whole: [UInt8] = []
    var count: UInt16 = 0
    repeat {
      let found = unsafe try TreeKey.replica(key, piece: count).withBytes {
        name throws(StorageError) in unsafe try transaction.value(forKey: name)
      }
      guard let found = unsafe found else { break }
      unsafe whole.append(contentsOf: found)
      count += 1
    } while key.isLong
    return count == 0 ? nil : try checked(whole)
  }

  /// The short records of a kind and class, in the order of their numbers, until `body` returns
  /// false.
  ///
  /// - Parameter first: the least number.
  package static func forEach(
    _ kind: UInt8, _ classID: ClassID, from first: Int64 = .min, in transaction: ReadTransaction,
    _ body: (Int64, [UInt8]) throws(StorageError) -> Bool
  ) throws(StorageError) {
    var cursor = try Cursor(transaction)
    var isAt = unsafe try TreeKey.replica(ReplicaKey(kind, classID, first), piece: 0).withBytes {
      name throws(StorageError) in unsafe try cursor.seek(atOrAfter: name)
    }
    while isAt, let key = unsafe TreeKey.parseReplica(cursor.key)?.name, key.kind == kind,
      key.classID == classID
    {
      guard try unsafe body(key.number, checked(Array(cursor.value))) else { return }
      isAt = try cursor.next()
    }
  }

  private static func withChecksum(_ bytes: [UInt8]) -> [UInt8] {
    var whole: [UInt8] = []
    whole.reserveCapacity(bytes.count + 4)
    whole += bytes
    var writer = RecordWriter(bytes: whole)
    writer.word(unsafe bytes.withUnsafeBytes { unsafe tarn_crc32c($0.baseAddress, $0.count) })
    return writer.bytes
  }

  private static func checked(_ bytes: [UInt8]) throws(StorageError) -> [UInt8] {
    let rest = bytes.count - 4
    let isRight = unsafe bytes.withUnsafeBytes { bytes in
      unsafe rest >= 0
        && tarn_crc32c(bytes.baseAddress!, rest)
          == UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: rest, as: UInt32.self))
    }
    guard isRight else { throw .damagedRecord("the checksum of a replica's record is wrong") }
    return Array(bytes[..<rest])
  }
}
