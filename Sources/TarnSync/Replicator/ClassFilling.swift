import TarnStore

/// Fetches the objects of a class that subscriptions select and that are missing in the file, and
/// removes those that no subscription selects any more.
///
/// Each step is short, and downloads of changes continue between the steps. A page has only rows
/// that have not changed since the replica's position, because the next download has the others; so
/// a transaction of the server is never shown in part among objects that are complete. Each page is
/// recorded with its rows: after a crash the next page follows.
struct ClassFilling {
  /// After this many rows, received data is read.
  private static let rowsBetween = 256

  private let replicator: Replicator
  private let one: ReplicaClass
  private let clock: Int64

  /// - Parameter clock: the server's clock, in microseconds since 1970.
  init(_ replicator: Replicator, _ one: ReplicaClass, clock: Int64) {
    self.replicator = replicator
    self.one = one
    self.clock = clock
  }

  /// Performs the next step.
  ///
  /// - Returns: the progress of the class afterwards.
  func step(_ progress: ClassProgress, _ size: inout PageSize) throws -> ClassProgress {
    progress.pending.isEmpty ? try dropOthers(progress) : try fetchPage(progress, &size)
  }

  private func fetchPage(
    _ progress: ClassProgress, _ size: inout PageSize
  ) throws -> ClassProgress {
    var conditions: [SQLCondition] = ["NOT \(sql: replicator.replica.state.position.isNew)"]
    if let wanted = try replicator.queries.condition(progress.pending) { conditions.append(wanted) }
    if !progress.complete.isEmpty, let had = try replicator.queries.condition(progress.complete) {
      conditions.append("NOT \(had)")
    }
    var pages = ClassPages(connection: replicator.connection, one: one.exchange)
    pages.size = size.rows
    let condition = SQLCondition.joined(conditions, " AND ")
    var next = progress
    if progress.last == nil {
      (next.expected, next.fetched) = (try pages.count(where: condition), 0)
    }
    try pages.begin(after: progress.last, where: condition)
    for number in 1...replicator.pagesMax {
      let page = try pages.receive()
      size.note(page.rows, of: one.exchange)
      let isFirst = next.last == nil
      next.fetched += page.count
      if page.count < pages.size {
        (next.complete, next.last) = (Set(next.queries), nil)
      } else {
        next.last = page.lastKey
      }
      let isLast = next.pending.isEmpty || number == replicator.pagesMax
      pages.size = size.rows
      if !isLast { try pages.begin(after: next.last, where: condition) }
      do {
        try store(page, next, isFirst: isFirst, isLast: isLast)
      } catch {
        if !isLast { _ = try? pages.receive() }
        throw error
      }
      if isLast { break }
    }
    if next.pending.isEmpty { try IndexMaking.run(one.id, replicator.replica) }
    return next
  }

  /// - Parameter isLast: whether no other page follows, which would be read as it arrives.
  private func store(
    _ page: RowReader.Page, _ next: ClassProgress, isFirst: Bool, isLast: Bool
  ) throws(StorageError) {
    try replicator.replica.edit(clock: clock) { edit, _ throws(StorageError) in
      if isFirst, next.expected >= IncarnationIndex.least, try edit.objects.isEmpty(one.id) {
        edit.objects.postponeIndex(of: one.id)
      }
      for (number, row) in page.rows.enumerated() {
        try edit.apply(row, one)
        if !isLast, number % Self.rowsBetween == 0 { replicator.connection.takeArrived() }
      }
      for row in page.unreadable { try edit.leaveOut(row, one) }
      edit.note(next, of: one.id)
    }
  }

  private func dropOthers(_ progress: ClassProgress) throws -> ClassProgress {
    var (kept, last): (Set<Int64>, Value?) = (try changed(), nil)
    let pages = ClassPages(connection: replicator.connection, one: one.exchange)
    while !progress.queries.isEmpty {
      let census = try pages.census(after: last)
      kept.formUnion(census.map(\.incarnation))
      last = census.last?.key.value
      if census.count < pages.size { break }
    }
    // Rows that changed meanwhile are left to the next download.
    kept.formUnion(try changed())
    var others: [(key: ObjectKey, incarnation: Int64)] = []
    try ReplicaObjects(replicator.replica.store.newestSnapshot()).forEach(in: one.id) {
      key, object throws(StorageError) in
      if !kept.contains(object.incarnation) { others.append((key, object.incarnation)) }
      return true
    }
    let gone = try Departures(replicator, one).gone(others)
    return try replicator.replica.edit(clock: clock) { edit, _ throws(StorageError) in
      for (key, _) in others { try edit.depart(key, one, gone: gone) }
      try edit.forgetLeftOut(except: kept, one)
      var next = progress
      next.hasOthers = edit.postponed.contains(one.id)
      edit.note(next, of: one.id)
      return next
    }
  }

  /// The incarnations of the rows that the next download has.
  private func changed() throws -> Set<Int64> {
    try Pull.changed(one.exchange, since: replicator.replica.state.position, replicator.connection)
  }
}

/// The number of rows of a page, chosen so that it has some megabytes.
struct PageSize {
  var rows = 500
  private static let most = 10_000
  private static let bytes = 4 << 20
  /// The number of rows of a page that are measured.
  private static let sample = 500

  mutating func note(_ page: [RowReader.Row], of one: ExchangeClass) {
    guard !page.isEmpty else { return }
    var (total, count) = (0, 0)
    for place in stride(from: 0, to: page.count, by: max(1, page.count / Self.sample)) {
      total += page[place].byteCount(one)
      count += 1
    }
    rows = min(max(1, Self.bytes / max(1, total / count)), Self.most, rows * 8)
  }
}
