import TarnStore

/// Compares all objects of classes, here and on the server: at the first download, when the server
/// is another one, and whenever something happened there that no transaction tells.
///
/// Each page is a commit of its own. Only keys are compared where the file has objects already, and
/// only the rows that differ are fetched.
struct ReplicaReconciliation {
  private static let operation = "compare all objects with the server"
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
    if all {
      next.position = start.position
      next.isStale = false
    }
    try replica.keep(next)
  }

  private func run(_ one: ReplicaClass, _ clock: Int64) throws {
    let pages = ClassPages(connection: link.connection, one: one.exchange)
    try IndexMaking.run(one.id, link.replica)
    var seen: [ObjectKey] = []
    var size = PageSize()
    var last: Value?
    while true {
      let census = try pages.census(after: last)
      last = census.last?.key.value
      let (known, wanted) = try compare(census, one)
      seen += known
      var rest = wanted[...]
      while !rest.isEmpty {
        let rows = try pages.rows(with: Array(rest.prefix(size.rows)), where: one.exchange.filter)
        rest = rest.dropFirst(size.rows)
        size.note(rows, of: one.exchange)
        seen += try apply(rows, one, clock)
      }
      if census.count < pages.size { break }
    }
    try dropOthers(than: KeySet(seen), one)
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
    let keys =
      state.isStale ? [:] : try objects.keys(of: Set(census.map(\.incarnation)), in: one.id)
    var (known, wanted): ([ObjectKey], [Value]) = ([], [])
    for entry in census {
      if let key = keys[entry.incarnation], try objects[one.id, key]?.version == entry.version {
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
    let departures = Departures(link, one)
    let lost = isOtherServer ? try lostKeys(others, departures, snapshot) : []
    let gone = try departures.gone(others)
    try link.replica.edit { edit, next throws(StorageError) in
      if !lost.isEmpty { next.hasUploads = true }
      for (key, _) in others {
        if lost.contains(key) {
          try edit.forget(key, one)
        } else {
          try edit.depart(key, one, gone: gone)
        }
      }
      try link.note(postponedIn: edit)
    }
  }

  /// The objects that a restored server has lost: it has neither them nor their tombstones.
  private func lostKeys(
    _ objects: [(key: ObjectKey, incarnation: Int64)], _ departures: Departures,
    _ snapshot: Snapshot
  ) throws -> Set<ObjectKey> {
    let fates = try departures.fates(objects, snapshot)
    return Set(objects.filter { fates[$0.incarnation] == .unknown }.map(\.key))
  }
}
