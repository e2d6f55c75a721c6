import TarnStore

/// Moves the instance from version to version.
extension Delivery {
  /// Moves the instance in one step. Everything that observers need is computed here, while both
  /// versions are held.
  func move(_ move: PreparedMove) throws(StorageError) {
    guard let properties = host.properties else { return try step(move) }
    let changes = move.changes
    // All observers are called before the move, and then all after it, so that none sees a part of
    // it.
    let telling = telling {
      properties.begin(properties.effects(of: changes), in: changes.classes.map(\.id))
    }
    try step(move)
    self.telling { telling.finish() }
    host.endProperties()
  }

  /// Moves after the instance's own commit, of which property observers have been notified.
  ///
  /// - Parameters:
  ///   - news: the former values of observed objects; nil to read them from the current version.
  ///   - former: the state before, if that is not the current version.
  func moveAfterCommit(
    to snapshot: Snapshot, _ changes: ChangeSet, _ news: [ObjectNews]? = nil,
    from former: PastState? = nil
  ) throws(StorageError) {
    host.endProperties()
    try step(PreparedMove(snapshot: snapshot, changes: changes), news, from: former)
  }

  private func step(
    _ move: PreparedMove, _ news: [ObjectNews]? = nil, from past: PastState? = nil
  ) throws(StorageError) {
    guard let reader = host.reader else {
      host.state.begin(with: try SnapshotReader(move.snapshot))
      return host.rowsMoved()
    }
    let news = news ?? observers.readOldValues(move.changes, StoreRows(reader))
    let former = try host.state.move(reader, to: move.snapshot, move.changes)
    host.rowsMoved()
    let made = LiveMove(move.changes, from: past ?? .version(former), to: StoreRows(reader))
    observers.log(made, step: host.step, news, move.prepared, concerned: move.concerned)
  }

  /// Moves to the newest version.
  ///
  /// - Returns: true if the version changed.
  func advance() throws(StorageError) -> Bool {
    host.state.clearReset()
    return try advance(to: host.newestFittingSnapshot())
  }

  /// Advances to a snapshot, unless it is the current one.
  func advance(to newest: Snapshot) throws(StorageError) -> Bool {
    guard let reader = host.reader else {
      let changes = ChangeSet(from: .zero, to: newest.version)
      try move(PreparedMove(snapshot: newest, changes: changes))
      return true
    }
    let shown = reader.snapshot
    if newest.version == shown.version {
      if newest.schema.epoch != shown.schema.epoch {
        try reader.move(to: newest)
        host.rowsMoved()
      }
      return false
    }
    let changes = try ChangeLog.changes(from: shown, to: newest)
    try move(PreparedMove(snapshot: newest, changes: changes))
    return true
  }
}

/// A move to a newer version, and the results computed for it in advance.
struct PreparedMove {
  let snapshot: Snapshot
  /// The changes since the current version.
  let changes: ChangeSet
  /// The sources that it can concern; nil to look for them. A source added since is not followed
  /// yet, and one whose last observer has ended is not followed any more: neither needs the move.
  var concerned: [any ObservedSource]?
  /// The results that a worker has computed for these sources.
  var prepared: PreparedSteps = [:]
}
