import TarnStore

/// How the shown version moves.
extension Instance {
  /// Moves to `snapshot`, which covers `changes` since the shown one, as one step. Everything that
  /// observers need is worked out here, while both ends are held.
  ///
  /// - Parameters:
  ///   - prepared: what a worker has worked out of it already.
  ///   - news: what observed objects had before, if that had to be read earlier.
  func move(
    to snapshot: Snapshot, _ changes: ChangeSet, prepared: PreparedSteps = [:],
    news: [ObjectNews]? = nil
  ) throws(StorageError) {
    guard let properties else { return try step(to: snapshot, changes, prepared, news) }
    // All before the move, and then all of them after it: nobody sees half of it.
    let telling = delivery.telling {
      properties.begin(properties.effects(of: changes), in: changes.classes.map(\.id))
    }
    try step(to: snapshot, changes, prepared, news)
    delivery.telling { telling.finish() }
    endProperties()
  }

  /// The same after the instance's own commit, of which observers of properties know.
  ///
  /// - Parameter former: what there was before, if that is not what is shown.
  func moveAfterCommit(
    to snapshot: Snapshot, _ changes: ChangeSet, _ news: [ObjectNews], from former: PastState? = nil
  ) throws(StorageError) {
    endProperties()
    try step(to: snapshot, changes, [:], news, from: former)
  }

  /// Logs a commit that shares its transaction with later ones, with the last of which the instance
  /// will move: to observers it is a step of its own.
  func passThrough(
    _ changes: ChangeSet, from former: PastState, to between: StateBetween
  ) throws(StorageError) {
    let news = delivery.observers.readOldValues(changes, try former.rows())
    state.passThrough(changes)
    let move = LiveMove(changes, from: former, to: between.rows)
    // Keys of sections are asked of the program, whose code reads what is shown.
    write.showing(between.session) {
      rowsMoved()
      delivery.observers.log(move, step: step, news, [:])
    }
    rowsMoved()
  }

  private func step(
    to snapshot: Snapshot, _ changes: ChangeSet, _ prepared: PreparedSteps, _ news: [ObjectNews]?,
    from past: PastState? = nil
  ) throws(StorageError) {
    guard let reader else {
      state.begin(with: try SnapshotReader(snapshot))
      return rowsMoved()
    }
    let news = news ?? delivery.observers.readOldValues(changes, StoreRows(reader))
    let former = try state.move(reader, to: snapshot, changes)
    rowsMoved()
    let move = LiveMove(changes, from: past ?? .version(former), to: StoreRows(reader))
    delivery.observers.log(move, step: step, news, prepared)
  }

  /// Moves to the newest version.
  ///
  /// - Returns: true if the version changed.
  func advance() throws(StorageError) -> Bool {
    state.clearReset()
    return try advance(to: newestFittingSnapshot())
  }

  /// Moves to a snapshot that is as new as the shown one or newer.
  func advance(to newest: Snapshot) throws(StorageError) -> Bool {
    guard let reader else {
      try move(to: newest, ChangeSet(from: .zero, to: newest.version))
      return true
    }
    let shown = reader.snapshot
    if newest.version == shown.version {
      if newest.schema.epoch != shown.schema.epoch {
        try reader.move(to: newest)
        rowsMoved()
      }
      return false
    }
    let changes = try ChangeLog.changes(from: shown, to: newest)
    try move(to: newest, changes)
    return true
  }

  /// The newest snapshot, if the program's classes fit its schema: every property has the column
  /// that it had. Then all that was found before stays right.
  ///
  /// - Throws: `.schemaMismatch` naming every difference.
  func newestFittingSnapshot() throws(StorageError) -> Snapshot {
    let newest = try store.newestSnapshot()
    let problems = problems(at: newest.schema)
    guard problems.isEmpty else {
      let list = problems.map { "- " + $0 }.joined(separator: "\n")
      throw StorageError(
        .schemaMismatch, operation: "follow", path: store.path,
        detail: "the file was migrated to schema version \(newest.head.schemaVersion), which the "
          + "classes of this program do not match:\n\(list)\nThis instance stays at the version "
          + "that it shows; open the file again with the new classes.")
    }
    return newest
  }

  var isBehind: Bool {
    guard let shownVersion else { return false }
    return store.newestKnownVersion > shownVersion
  }

  func scheduleTurn() {
    wakeUp?.schedule()
  }
}
