/// How often collections and mixed values link to single objects, as changed by an open write.
///
/// The index over a column lists once which objects link to a target. A list may contain a target
/// many times, so whether removing an element removes the entry depends on their number; counts of
/// two and more are stored in the file. A to-one link needs no count.
final class LinkCounts {
  private struct Count {
    /// The count in the file; 0 without a link.
    var stored: UInt64
    var now: UInt64
  }
  private var counts: [LinkName: Count] = [:]

  /// The changed count, nil if the write has not changed it.
  subscript(_ name: LinkName) -> UInt64? { counts[name]?.now }

  /// Changes a count and returns its old and new value.
  func change(
    _ name: LinkName, by delta: Int, stored: () throws(StorageError) -> UInt64
  ) throws(StorageError) -> (before: UInt64, after: UInt64) {
    var count: Count
    if let known = counts[name] {
      count = known
    } else {
      let stored = try stored()
      count = Count(stored: stored, now: stored)
    }
    let before = count.now
    guard delta >= 0 || before >= UInt64(-delta) else {
      throw StorageError(
        .corrupted, operation: "count links", path: "",
        detail: "The index of links says that object \(name.target.key.rawValue) is linked to "
          + "less often than it is.")
    }
    count.now = delta >= 0 ? before + UInt64(delta) : before - UInt64(-delta)
    counts[name] = count
    return (before, count.now)
  }

  func copy() -> LinkCounts {
    let copy = LinkCounts()
    copy.counts = counts
    return copy
  }

  /// Drops the counts of an emptied class.
  func clear(_ id: ClassID) { counts = counts.filter { $0.key.classID != id } }

  /// Stores the changed counts of two and more, and removes those that have become less.
  func apply(_ transaction: borrowing WriteTransaction) throws(StorageError) {
    if counts.isEmpty { return }
    for (name, count) in counts where count.stored != count.now {
      guard count.stored > 1 || count.now > 1 else { continue }
      try Self.put(count.now, of: name, in: transaction)
    }
  }

  /// Counts of less than two are not stored.
  static func put(
    _ count: UInt64, of name: LinkName, in transaction: borrowing WriteTransaction
  ) throws(StorageError) {
    try unsafe TreeKey.linkCount(name).withBytes { key throws(StorageError) in
      guard count > 1 else {
        _ = try unsafe transaction.delete(key)
        return
      }
      try unsafe withUnsafeBytes(of: count.littleEndian) { bytes throws(StorageError) in
        try unsafe transaction.put(bytes, forKey: key)
      }
    }
  }
}

extension SnapshotReader {
  /// How often an object's column links to another object. Not for to-one links.
  package func linkCount(_ name: LinkName) throws(StorageError) -> UInt64 {
    let order = orderKey(of: name.target, schema[name.classID][name.column])
    let isFiled = try withCursor { cursor throws(StorageError) in
      try PackedIndex(name.classID, name.column).contains(order, name.owner, &cursor)
    }
    return isFiled ? try storedCount(name) : 0
  }

  /// The count of an existing link.
  func storedCount(_ name: LinkName) throws(StorageError) -> UInt64 {
    let bytes = unsafe try TreeKey.linkCount(name).withBytes { key throws(StorageError) in
      unsafe try snapshot.transaction.value(forKey: key)
    }
    guard let bytes = unsafe bytes else { return 1 }
    guard bytes.count == 8 else { throw Self.damagedCount("has a wrong length") }
    let count = unsafe UInt64(littleEndian: bytes.loadUnaligned(as: UInt64.self))
    guard (2...UInt64(SequenceShape.countMax)).contains(count) else {
      throw Self.damagedCount("is impossible")
    }
    return count
  }

  /// How often an object is listed for a link. A large count is compared with the links themselves,
  /// because a damaged one could exhaust the memory.
  func listedCount(_ name: LinkName, _ column: ColumnSchema) throws(StorageError) -> Int {
    let count = try storedCount(name)
    if count > Self.trustedCount {
      let links = try links(from: column, at: name.owner, in: name.classID)
      guard links[name.target] == count else { throw Self.damagedCount("is wrong") }
    }
    return Int(count)
  }
  private static let trustedCount: UInt64 = 10_000

  private static func damagedCount(_ what: String) -> StorageError {
    StorageError(
      .corrupted, operation: "read link count", path: "",
      detail: "A count of how often an object links to another \(what).")
  }

  func orderKey(of target: ObjectRef, _ column: ColumnSchema) -> OrderKey {
    column.type == .any ? OrderKey(target) : OrderKey(target.key)
  }

  /// The objects whose column links to that one, in the order of their keys, each as often as it
  /// does.
  package func origins(
    of target: ObjectRef, in id: ClassID, through column: ColumnID
  ) throws(StorageError) -> [ObjectKey] {
    let described = schema[id][column]
    let order = orderKey(of: target, described)
    let keys = try withCursor { cursor throws(StorageError) in
      try PackedIndex(id, column).lookup(order, &cursor)
    }
    guard described.mayRepeatLinks else { return keys }
    var result: [ObjectKey] = []
    for key in keys {
      let name = LinkName(classID: id, column: column, owner: key, target: target)
      result += repeatElement(key, count: try listedCount(name, described))
    }
    return result
  }
}

extension ColumnSchema {
  /// True if an object may link to another more than once through this column.
  var mayRepeatLinks: Bool {
    switch collection {
    case .none: type == .any
    case .list, .map: type == .link || type == .any
    case .set: type == .any
    }
  }
}
