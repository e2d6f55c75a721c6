import TarnStore

/// The first pages of classes with few rows, or none: those of many classes are fetched in one
/// round trip, and stored in one commit. Each class separately would need several.
struct SmallClasses {
  /// The maximum number of classes to request at once, and of rows to receive.
  private static let classesMax = 100
  private static let rowsMax = 500

  /// The version of the subscriptions for which the rows were counted.
  private var counted: UInt64?
  /// The classes that remain, with their numbers of rows.
  private var waiting: [(id: ClassID, rows: Int)] = []

  /// Fetches the first pages of some classes. The others are left to ``ClassFilling``.
  ///
  /// - Returns: whether there were any.
  mutating func fill(_ replicator: Replicator, clock: Int64) throws -> Bool {
    if counted != replicator.subscribed {
      counted = replicator.subscribed
      waiting = try count(replicator)
    }
    let next = takeNext().compactMap { id in replicator.classes.first { $0.id == id } }
      .filter { Self.isNew($0, replicator) }
    if next.isEmpty { return false }
    let pages = try ClassPages.firstPages(
      next.map { ($0.exchange, try Self.condition($0, replicator)) }, size: Self.rowsMax,
      replicator.connection)
    var known: [ClassID: ClassProgress] = [:]
    try replicator.replica.edit(clock: clock) { edit, _ throws(StorageError) in
      for (one, page) in zip(next, pages) {
        guard var progress = replicator.progress[one.id] else { continue }
        for row in page.rows { try edit.apply(row, one) }
        for row in page.unreadable { try edit.leaveOut(row, one) }
        (progress.expected, progress.fetched) = (page.count, page.count)
        if page.count < Self.rowsMax {
          progress.complete = Set(progress.queries)
        } else {
          progress.last = page.lastKey
        }
        edit.note(progress, of: one.id)
        known[one.id] = progress
      }
    }
    replicator.progress.merge(known) { $1 }
    for one in next { try IndexMaking.run(one.id, replicator.replica) }
    return true
  }

  /// The next classes that have few rows together.
  private mutating func takeNext() -> [ClassID] {
    var (taken, rows): ([ClassID], Int) = ([], 0)
    while let (id, count) = waiting.last, taken.count < Self.classesMax,
      rows + count <= Self.rowsMax
    {
      waiting.removeLast()
      taken.append(id)
      rows += count
    }
    return taken
  }

  /// Whether no row of a class that its subscriptions select was fetched yet.
  private static func isNew(_ one: ReplicaClass, _ replicator: Replicator) -> Bool {
    guard let progress = replicator.progress[one.id] else { return false }
    return !progress.pending.isEmpty && progress.complete.isEmpty && progress.last == nil
  }

  private static func condition(
    _ one: ReplicaClass, _ replicator: Replicator
  ) throws(ServerError) -> SQLCondition {
    let known: SQLCondition = "NOT \(sql: replicator.replica.state.position.isNew)"
    let pending = replicator.progress[one.id]?.pending ?? []
    guard let wanted = try replicator.queries.condition(pending) else { return known }
    return "\(known) AND \(wanted)"
  }

  private func count(_ replicator: Replicator) throws -> [(id: ClassID, rows: Int)] {
    let new = replicator.classes.filter { Self.isNew($0, replicator) }
    // A single class is counted with its first page.
    if new.count < 2 { return [] }
    var counts: [(id: ClassID, rows: Int)] = []
    for start in stride(from: 0, to: new.count, by: Self.classesMax) {
      let some = new[start..<min(start + Self.classesMax, new.count)]
      let rows = try ClassPages.counts(
        some.map { ($0.exchange, try Self.condition($0, replicator)) }, replicator.connection)
      counts += zip(some, rows).map { ($0.id, $1) }
    }
    return counts.filter { $0.rows < Self.rowsMax }.sorted { $0.rows > $1.rows }
  }
}
