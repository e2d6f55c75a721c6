import TarnStore

/// Compares all objects of classes, here and on the server: at the first download, when the server
/// is another one, and after changes there that no transaction reports.
///
/// Each page is a separate commit. If the file already has objects, only keys are compared, and
/// only the rows that differ are fetched.
struct ReplicaReconciliation {
  private static let operation = "compare all objects with the server"
  private let replicator: Replicator
  private let isOtherServer: Bool

  init(_ replicator: Replicator, isOtherServer: Bool) {
    self.replicator = replicator
    self.isOtherServer = isOtherServer
  }

  /// - Parameter all: whether these are all classes. If so, the replica then continues from the
  ///   server's position at the beginning; otherwise from its former position.
  func run(_ classes: [ReplicaClass], all: Bool) throws {
    let replica = replicator.replica
    let start = try Pull(connection: replicator.connection, replica: replica.state.idText)
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
    let pages = ClassPages(connection: replicator.connection, one: one.exchange)
    try IndexMaking.run(one.id, replicator.replica)
    let hasLeftOut = try !LeftOut.all(in: one.id, replicator.replica.store.newestSnapshot()).isEmpty
    var incarnations: Set<Int64> = []
    var seen: [ObjectKey] = []
    var size = PageSize()
    var last: Value?
    while true {
      let census = try pages.census(after: last)
      last = census.last?.key.value
      let (known, wanted) = try compare(census, one, clock)
      seen += known
      if hasLeftOut { incarnations.formUnion(census.map(\.incarnation)) }
      var rest = wanted[...]
      while !rest.isEmpty {
        let page = try pages.rows(with: Array(rest.prefix(size.rows)), where: one.exchange.filter)
        rest = rest.dropFirst(size.rows)
        size.note(page.rows, of: one.exchange)
        seen += try apply(page, one, clock)
      }
      if census.count < pages.size { break }
    }
    try dropOthers(than: KeySet(seen), one)
    if hasLeftOut {
      try replicator.replica.edit { edit, _ throws(StorageError) in
        try edit.forgetLeftOut(except: incarnations, one)
      }
    }
  }

  private func apply(
    _ page: RowReader.Page, _ one: ReplicaClass, _ clock: Int64
  ) throws -> [ObjectKey] {
    let lost = try lostIncarnations(page.rows, one)
    return try replicator.replica.edit(clock: clock) { edit, _ throws(StorageError) in
      edit.isComparing = true
      edit.lost = lost
      var keys: [ObjectKey] = []
      for row in page.rows {
        if let key = try edit.apply(row, one) { keys.append(key) }
      }
      for row in page.unreadable {
        keys += try edit.objects.keys(of: [row.incarnation], in: one.id).values
        try edit.leaveOut(row, one)
      }
      return keys
    }
  }

  /// The incarnations of the objects here that have the keys of rows and that a restored server no
  /// longer knows.
  private func lostIncarnations(
    _ rows: [RowReader.Row], _ one: ReplicaClass
  ) throws -> Set<Int64> {
    guard isOtherServer else { return [] }
    let replica = replicator.replica
    let snapshot = try replica.store.newestSnapshot()
    let objects = ReplicaObjects(snapshot)
    let present = PastRows(try SnapshotReader(snapshot), RecordedPast(at: snapshot.version))
    let unsent = try UnsentChanges(
      after: replica.state, without: replica.cursor.number, in: snapshot)
    var others: [(key: Value, incarnation: Int64)] = []
    for row in rows {
      var keys = try unsent.deleted(row.key, in: one.described)
      if let key = try present.find(primaryKey: row.key.value, in: one.id) { keys.append(key) }
      for key in keys {
        guard let known = try objects[one.id, key], known.incarnation != row.incarnation
        else { continue }
        others.append((row.key.value, known.incarnation))
      }
    }
    if others.isEmpty { return [] }
    let fates = try ServerFate.of(
      others, one.exchange, replicator.connection, for: Self.operation)
    return Set(fates.filter { $0.value == .unknown }.keys)
  }

  /// - Returns: the objects that equal the server's, and the primary keys of all others.
  private func compare(
    _ census: [ClassPages.Entry], _ one: ReplicaClass, _ clock: Int64
  ) throws -> (known: [ObjectKey], wanted: [Value]) {
    let state = replicator.replica.state
    let snapshot = try replicator.replica.store.newestSnapshot()
    let objects = ReplicaObjects(snapshot)
    let left = try LeftOut.all(in: one.id, snapshot)
    var unreadable: [RowReader.Unreadable] = []
    let keys =
      state.isStale ? [:] : try objects.keys(of: Set(census.map(\.incarnation)), in: one.id)
    var (known, wanted): ([ObjectKey], [Value]) = ([], [])
    for entry in census {
      if let key = keys[entry.incarnation], try objects[one.id, key]?.version == entry.version {
        known.append(key)
      } else if let fault = entry.fault {
        unreadable.append(entry.unreadable(fault))
      } else if !state.isStale, let row = left[entry.incarnation], row.isWhole,
        row.version == entry.version, keys[entry.incarnation] == nil
      {
        continue
      } else {
        wanted.append(entry.key.value)
      }
    }
    if !unreadable.isEmpty {
      try replicator.replica.edit(clock: clock) { edit, _ throws(StorageError) in
        for row in unreadable { try edit.leaveOut(row, one) }
      }
    }
    return (known, wanted)
  }

  private func dropOthers(than seen: KeySet, _ one: ReplicaClass) throws {
    let snapshot = try replicator.replica.store.newestSnapshot()
    var others: [(key: ObjectKey, incarnation: Int64)] = []
    try ReplicaObjects(snapshot).forEach(in: one.id) { key, object throws(StorageError) in
      if !seen.contains(key) { others.append((key, object.incarnation)) }
      return true
    }
    if others.isEmpty { return }
    let departures = Departures(replicator, one)
    let lost = isOtherServer ? try lostKeys(others, departures, snapshot) : []
    let gone = try departures.gone(others)
    try replicator.replica.edit { edit, next throws(StorageError) in
      if !lost.isEmpty { next.hasUploads = true }
      for (key, _) in others {
        if lost.contains(key) {
          try edit.forget(key, one)
        } else {
          try edit.depart(key, one, gone: gone)
        }
      }
      try replicator.note(postponedIn: edit)
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
