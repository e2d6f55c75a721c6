import TarnStore

/// Brings the objects of a class into a file that subscriptions choose and that are not there, and
/// drops those that none chooses any more.
///
/// Each step is short, and the downloads of changes go on between them. A page has only rows that
/// have not changed since the replica's position, because the next download brings the others; so
/// a transaction of the server is not shown in half among objects that are complete. Each page
/// is noted with its rows: after a crash the next one follows.
struct ClassFilling {
  private let link: ReplicaLink
  private let one: ReplicaClass
  private let clock: Int64

  /// - Parameter clock: the server's, in microseconds since 1970.
  init(_ link: ReplicaLink, _ one: ReplicaClass, clock: Int64) {
    self.link = link
    self.one = one
    self.clock = clock
  }

  /// Does the next step.
  ///
  /// - Returns: how far the class is afterwards.
  func step(_ progress: ClassProgress, _ size: inout PageSize) throws -> ClassProgress {
    progress.pending.isEmpty ? try dropOthers(progress) : try fetchPage(progress, &size)
  }

  private func fetchPage(
    _ progress: ClassProgress, _ size: inout PageSize
  ) throws -> ClassProgress {
    var conditions = ["NOT \(link.replica.state.position.isNew)"]
    if let wanted = ClassProgress.any(progress.pending) { conditions.append(wanted) }
    if !progress.complete.isEmpty, let had = ClassProgress.any(progress.complete) {
      conditions.append("NOT \(had)")
    }
    var pages = ClassPages(connection: link.connection, one: one.exchange)
    pages.size = size.rows
    let condition = conditions.joined(separator: " AND ")
    var next = progress
    if progress.last == nil {
      (next.expected, next.fetched) = (try pages.count(where: condition), 0)
    }
    let rows = try pages.rows(after: progress.last, where: condition)
    size.note(rows, of: one.exchange)
    next.fetched += rows.count
    if rows.count < pages.size {
      (next.complete, next.last) = (Set(next.queries), nil)
    } else {
      next.last = rows.last?.key.value
    }
    try link.replica.edit(clock: clock) { edit, _ throws(StorageError) in
      if progress.last == nil, next.expected >= IncarnationIndex.least,
        try edit.objects.isEmpty(one.id)
      {
        edit.objects.postponeIndex(of: one.id)
      }
      for row in rows { try edit.apply(row, one) }
      edit.note(next, of: one.id)
    }
    if next.pending.isEmpty { try IncarnationIndex.make(of: one.id, link.replica) }
    return next
  }

  private func dropOthers(_ progress: ClassProgress) throws -> ClassProgress {
    var (kept, last): (Set<Int64>, Value?) = (try changed(), nil)
    let pages = ClassPages(connection: link.connection, one: one.exchange)
    while !progress.queries.isEmpty {
      let census = try pages.census(after: last)
      kept.formUnion(census.map(\.incarnation))
      last = census.last?.key.value
      if census.count < pages.size { break }
    }
    // Those that changed meanwhile are left to the next download.
    kept.formUnion(try changed())
    var others: [(key: ObjectKey, incarnation: Int64)] = []
    try ReplicaObjects(link.replica.store.newestSnapshot()).forEach(in: one.id) {
      key, object throws(StorageError) in
      if !kept.contains(object.incarnation) { others.append((key, object.incarnation)) }
      return true
    }
    let gone = try Departures(link, one).gone(others)
    return try link.replica.edit(clock: clock) { edit, _ throws(StorageError) in
      for (key, _) in others { try edit.depart(key, one, gone: gone) }
      var next = progress
      next.hasOthers = edit.postponed.contains(one.id)
      edit.note(next, of: one.id)
      return next
    }
  }

  /// The incarnations of the rows that the next download brings.
  private func changed() throws -> Set<Int64> {
    try Pull.changed(one.exchange, since: link.replica.state.position, link.connection)
  }
}

/// How many rows a page has, so that it has some megabytes.
struct PageSize {
  var rows = 500
  private static let most = 10_000
  private static let bytes = 4 << 20

  mutating func note(_ page: [RowReader.Row], of one: ExchangeClass) {
    guard !page.isEmpty else { return }
    let total = page.reduce(0) { $0 + $1.byteCount(one) }
    rows = min(max(1, Self.bytes / max(1, total / page.count)), Self.most, rows * 8)
  }
}
