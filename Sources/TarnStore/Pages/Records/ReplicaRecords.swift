/// Changes of a replica's own records in the file. Nothing else reads these, observers are not
/// notified of them, and they are not in change records.
///
/// Records of kinds from 128 on may be long, and are stored in pieces; others fit into a page.
package struct ReplicaRecords: Sendable {
  /// By kind; nil for deleted records.
  private var changed: [UInt8: [ReplicaKey: [UInt8]?]] = [:]
  /// Short records in the order of their keys, none of which is in `changed`.
  private var appended: [(key: ReplicaKey, bytes: [UInt8])] = []

  package init() {}

  package var isEmpty: Bool { changed.isEmpty && appended.isEmpty }

  /// The new bytes of the changed records of a kind; nil for deleted ones. Appended records are not
  /// included.
  package func changes(of kind: UInt8) -> [ReplicaKey: [UInt8]?] { changed[kind] ?? [:] }

  package func hasChanges(of kind: UInt8) -> Bool {
    !changed.isEmpty && changed[kind]?.isEmpty == false
  }

  /// The new bytes of the record; nil if it is not changed, a nil within if it is deleted.
  package func change(of key: ReplicaKey) -> [UInt8]?? {
    if let place = appendedPlace(of: key) { return appended[place].bytes }
    return changed.isEmpty ? nil : changed[key.kind]?[key]
  }

  /// Stores bytes under a name, or deletes the record.
  package mutating func set(_ key: ReplicaKey, _ bytes: [UInt8]?) {
    if let place = appendedPlace(of: key) { appended.remove(at: place) }
    changed[key.kind, default: [:]].updateValue(bytes, forKey: key)
  }

  /// Stores bytes in a short record. Faster than `set` for many records in the order of their
  /// names.
  package mutating func append(_ key: ReplicaKey, _ bytes: [UInt8]) {
    let isLast = appended.last.map { $0.key < key } ?? true
    guard isLast, changed.isEmpty || changed[key.kind]?[key] == nil else { return set(key, bytes) }
    appended.append((key, bytes))
  }

  private func appendedPlace(of key: ReplicaKey) -> Int? {
    guard let last = appended.last, key <= last.key else { return nil }
    var (low, high) = (0, appended.count - 1)
    while low < high {
      let middle = (low + high) / 2
      if appended[middle].key < key { low = middle + 1 } else { high = middle }
    }
    return appended[low].key == key ? low : nil
  }

  /// Writes the changes, with a checksum after each record.
  package func put(_ transaction: borrowing WriteTransaction) throws(StorageError) {
    var whole: [UInt8] = []
    let all = changed.sorted { $0.key < $1.key }.map { $0.value.sorted { $0.key < $1.key } }
    for (key, bytes) in all.joined() {
      var count: UInt16 = 0
      if let bytes {
        Self.seal(bytes, &whole)
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
      // Deletes the remaining pieces of a longer record.
      while key.isLong, try Self.delete(key, count, transaction) { count += 1 }
    }
    guard appended.count >= Self.manyMin, let last = appended.last?.key else {
      return try putAppended(transaction)
    }
    try transaction.packing(upTo: .replica(last, piece: 0)) { () throws(StorageError) in
      try putAppended(transaction)
    }
  }

  private func putAppended(_ transaction: borrowing WriteTransaction) throws(StorageError) {
    var whole: [UInt8] = []
    for (key, bytes) in appended {
      Self.seal(bytes, &whole)
      try Self.put(whole, key, 0, transaction)
    }
  }

  private static let pieceBytes = 4_000
  /// From this number on it pays off to pack their pages.
  private static let manyMin = 500

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
    if count == 0 { return nil }
    return unsafe try withBytes(of: whole) { whole throws(StorageError) in
      unsafe try checked(whole)
    }
  }

  /// Whether the file has any record of a replica. The domains of columns do not count.
  static func exist(in transaction: ReadTransaction) throws(StorageError) -> Bool {
    var cursor = try Cursor(transaction)
    let first = ReplicaKey(0, ClassID(0), .min)
    let isAt = unsafe try TreeKey.replica(first, piece: 0).withBytes {
      name throws(StorageError) in unsafe try cursor.seek(atOrAfter: name)
    }
    guard isAt, let found = unsafe TreeKey.parseReplica(cursor.key) else { return false }
    return found.name.kind != ReplicaKey.domains
  }

  /// The long records of a kind, in the order of their keys.
  ///
  /// - Throws: `.corrupted` if a checksum is wrong.
  static func all(
    of kind: UInt8, _ cursor: inout Cursor
  ) throws(StorageError) -> [(key: ReplicaKey, bytes: [UInt8])] {
    var found: [(key: ReplicaKey, bytes: [UInt8])] = []
    let first = ReplicaKey(kind, ClassID(0), .min)
    var isAt = unsafe try TreeKey.replica(first, piece: 0).withBytes {
      name throws(StorageError) in unsafe try cursor.seek(atOrAfter: name)
    }
    while isAt, let name = unsafe TreeKey.parseReplica(cursor.key)?.name, name.kind == kind {
      if found.last?.key != name { found.append((name, [])) }
      unsafe found[found.count - 1].bytes.append(contentsOf: cursor.value)
      isAt = try cursor.next()
    }
    for place in found.indices {
      let whole = found[place].bytes
      found[place].bytes = unsafe try withBytes(of: whole) { whole throws(StorageError) in
        unsafe try checked(whole)
      }
    }
    return found
  }

  /// The short records of a kind and class, in the order of their numbers, until `body` returns
  /// false.
  ///
  /// - Parameter first: the smallest number.
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
      guard try unsafe body(key.number, checked(cursor.value)) else { return }
      isAt = try cursor.next()
    }
  }

  /// Makes the bytes of a record, with their checksum.
  private static func seal(_ bytes: [UInt8], _ whole: inout [UInt8]) {
    whole.removeAll(keepingCapacity: true)
    whole += bytes
    unsafe withUnsafeBytes(of: Checksum.of(bytes).littleEndian) {
      unsafe whole.append(contentsOf: $0)
    }
  }

  private static func checked(
    _ whole: UnsafeRawBufferPointer
  ) throws(StorageError) -> [UInt8] {
    guard let count = unsafe RecordSeal.contentCount(whole) else {
      throw .damagedRecord("the checksum of a replica's record is wrong")
    }
    return unsafe Array(whole[..<count])
  }
}

extension WriteTransaction {
  private typealias Entry = (key: [UInt8], value: [UInt8])
  /// The number of pages whose entries are removed. LMDB merges a page that becomes nearly empty
  /// with the one before it, so more than one is needed; usually these are all that follow.
  private static let pageCount = 8

  /// Runs `body`, which stores many new entries in the order of their keys, so that their pages
  /// become full.
  ///
  /// LMDB splits a full page in the middle, unless the new entry is the last one on it: if entries
  /// follow them, entries inserted in order leave each page less than half full. So those that may
  /// be on the page of the last one are removed first, and put back afterwards.
  ///
  /// - Parameter last: the last of the new keys.
  func packing(
    upTo last: TreeKey, _ body: () throws(StorageError) -> Void
  ) throws(StorageError) {
    let others = try entries(after: last)
    for (key, _) in others {
      _ = unsafe try TarnStore.withBytes(of: key) { key throws(StorageError) in
        unsafe try delete(key)
      }
    }
    try body()
    for (key, value) in others {
      unsafe try TarnStore.withBytes(of: key) { key throws(StorageError) in
        unsafe try TarnStore.withBytes(of: value) { value throws(StorageError) in
          unsafe try put(value, forKey: key)
        }
      }
    }
  }

  /// The entries after a key, as many as fit on some pages.
  private func entries(after last: TreeKey) throws(StorageError) -> [Entry] {
    let header = PageWalker.nodeHeaderByteCount
    var (entries, byteCount): ([Entry], Int) = ([], 0)
    var cursor = try Cursor(self)
    var isAt = unsafe try last.withBytes { last throws(StorageError) in
      guard unsafe try cursor.seek(atOrAfter: last) else { return false }
      return unsafe cursor.key.elementsEqual(last) ? try cursor.next() : true
    }
    while isAt, byteCount < Self.pageCount * environment.pageSize {
      unsafe entries.append((Array(cursor.key), Array(cursor.value)))
      // A large value is on a separate page.
      let size = unsafe header + cursor.key.count + cursor.value.count
      byteCount += size <= environment.pageSize / 2 ? size : unsafe header + cursor.key.count
      isAt = try cursor.next()
    }
    return entries
  }
}
