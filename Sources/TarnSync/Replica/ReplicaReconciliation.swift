import TarnStore

/// Compares all objects of classes, here and on the server: at the first download, when the server
/// is another one, and whenever something happened there that no transaction tells.
///
/// Each page is a commit of its own. Only keys are compared where the file has objects already, and
/// only the rows that differ are fetched.
struct ReplicaReconciliation {
  private static let operation = "compare all objects with the server"
  private static let fatesMax = 1_000

  private let link: ReplicaLink
  private let isOtherServer: Bool

  init(_ link: ReplicaLink, isOtherServer: Bool) {
    self.link = link
    self.isOtherServer = isOtherServer
  }

  /// - Parameter all: whether these are all classes. Then the replica goes on from the server's
  ///   position at the beginning; otherwise from where it was.
  func run(_ classes: [ReplicaClass], all: Bool) throws {
    let replica = link.replica
    let start = try Pull(connection: link.connection, replica: replica.state.idText)
      .run([], since: .none)
    for one in classes { try run(one, start.clock) }
    var next = replica.state
    next.server = start.server
    next.classes.formUnion(classes.map(\.described.name))
    if all {
      next.position = start.position
      next.isStale = false
    }
    try replica.keep(next)
  }

  private func run(_ one: ReplicaClass, _ clock: Int64) throws {
    let pages = ClassPages(connection: link.connection, one: one.exchange)
    var seen: [ObjectKey] = []
    let isFresh = try isFresh(one)
    var last: Value?
    while true {
      let count: Int
      if isFresh {
        let rows = try pages.rows(after: last)
        (count, last) = (rows.count, rows.last?.key.value)
        seen += try apply(rows, one, clock)
      } else {
        let census = try pages.census(after: last)
        (count, last) = (census.count, census.last?.key.value)
        let (known, wanted) = try compare(census, one)
        seen += known
        if !wanted.isEmpty { seen += try apply(pages.rows(with: wanted), one, clock) }
      }
      if count < pages.size { break }
    }
    try dropOthers(than: KeySet(seen), one)
  }

  private func isFresh(_ one: ReplicaClass) throws -> Bool {
    var isFresh = true
    try ReplicaObjects(link.replica.store.newestSnapshot()).forEach(in: one.id) {
      _, _ throws(StorageError) in
      isFresh = false
      return false
    }
    return isFresh
  }

  private func apply(
    _ rows: [RowReader.Row], _ one: ReplicaClass, _ clock: Int64
  ) throws -> [ObjectKey] {
    try link.replica.edit(clock: clock) { edit, _ throws(StorageError) in
      var keys: [ObjectKey] = []
      for row in rows { keys.append(try edit.apply(row, one)) }
      return keys
    }
  }

  /// - Returns: the objects that are as the server has them, and the primary keys of all others.
  private func compare(
    _ census: [ClassPages.Entry], _ one: ReplicaClass
  ) throws -> (known: [ObjectKey], wanted: [Value]) {
    let state = link.replica.state
    let objects = ReplicaObjects(try link.replica.store.newestSnapshot())
    var (known, wanted): ([ObjectKey], [Value]) = ([], [])
    for entry in census {
      if !state.isStale, let key = try objects.key(of: entry.incarnation, in: one.id),
        try objects[one.id, key]?.version == entry.version
      {
        known.append(key)
      } else {
        wanted.append(entry.key.value)
      }
    }
    return (known, wanted)
  }

  private func dropOthers(than seen: KeySet, _ one: ReplicaClass) throws {
    let snapshot = try link.replica.store.newestSnapshot()
    var others: [(key: ObjectKey, incarnation: Int64)] = []
    try ReplicaObjects(snapshot).forEach(in: one.id) { key, object throws(StorageError) in
      if !seen.contains(key) { others.append((key, object.incarnation)) }
      return true
    }
    if others.isEmpty { return }
    let lost = isOtherServer ? try lostKeys(others, one, snapshot) : []
    try link.replica.edit { edit, next throws(StorageError) in
      if !lost.isEmpty { next.hasUploads = true }
      for (key, _) in others {
        if lost.contains(key) { try edit.forget(key, one) } else { try edit.depart(key, one) }
      }
    }
  }

  /// The objects that a restored server has lost: it has neither them nor their tombstones.
  private func lostKeys(
    _ objects: [(key: ObjectKey, incarnation: Int64)], _ one: ReplicaClass, _ snapshot: Snapshot
  ) throws -> Set<ObjectKey> {
    let reader = try SnapshotReader(snapshot)
    var lost: Set<ObjectKey> = []
    for start in stride(from: 0, to: objects.count, by: Self.fatesMax) {
      let some = objects[start..<min(start + Self.fatesMax, objects.count)]
      var asked: [(key: Value, incarnation: Int64)] = []
      for (key, incarnation) in some {
        let isKey = one.described.keyIsPrimary
        guard
          let primaryKey = isKey
            ? .int(key.rawValue) : try reader.value(of: one.exchange.key.id, at: key, in: one.id)
        else { continue }
        asked.append((primaryKey, incarnation))
      }
      let fates = try ServerFate.of(asked, one.exchange, link.connection, for: Self.operation)
      for (key, incarnation) in some where fates[incarnation] == .unknown { lost.insert(key) }
    }
    return lost
  }
}
