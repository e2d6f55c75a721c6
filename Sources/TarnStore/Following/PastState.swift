/// A state that an instance has shown, or that lies between two commits of one transaction.
package enum PastState {
  case version(Snapshot)
  case between(StateBetween)

  /// What is there.
  package func rows() throws(StorageError) -> StoreRows {
    switch self {
    case .version(let snapshot): StoreRows(try SnapshotReader(snapshot))
    case .between(let between): between.rows
    }
  }
}

/// A state after some of the commits that share a transaction. Nobody but the instance that made
/// them has seen it; in the file there is only what all of them left.
package final class StateBetween {
  package let session: WriteSession
  /// What the commits after it changed, up to the version that all of them made.
  private let rest: ChangeSet

  /// - Parameters:
  ///   - session: what the write had become by then, which nobody changes any more.
  ///   - whole: the same when it was committed.
  ///   - version: what that made.
  package init(_ session: WriteSession, of whole: WriteSession, upTo version: Version) {
    self.session = session
    rest = whole.recorder.changeSet(
      since: session.recorder.position, from: session.base.version, to: version)
  }

  package var rows: StoreRows { StoreRows(session.reader, session) }
  package var position: ChangeRecorder.Position { session.recorder.position }

  /// What had changed by then since an earlier version.
  fileprivate func changes(since former: Snapshot) throws(StorageError) -> ChangeSet {
    let base = session.base
    let noted = session.recorder.changes(since: .start, upTo: position, over: base.version)
    return try ChangeLog.changes(from: former, to: base).merging(noted)
  }

  /// What has changed since then, up to a later version.
  fileprivate func changes(upTo later: Snapshot) throws(StorageError) -> ChangeSet {
    let others = try ChangeLog.changes(
      after: rest.to, upTo: later.version, in: later.transaction)
    return rest.merging(others)
  }

  /// What has changed since then, up to a later one.
  fileprivate func changes(upTo later: StateBetween) throws(StorageError) -> ChangeSet {
    let base = later.session.base
    if base.version == session.base.version {
      return later.session.recorder.changes(
        since: position, upTo: later.position, over: base.version)
    }
    return try changes(upTo: base).merging(
      later.session.recorder.changes(since: .start, upTo: later.position, over: base.version))
  }
}

extension ChangeLog {
  /// Everything that changed from one state to a later one.
  static func changes(
    from former: PastState, to later: PastState
  ) throws(StorageError) -> ChangeSet {
    switch (former, later) {
    case (.version(let old), .version(let new)): try changes(from: old, to: new)
    case (.version(let old), .between(let new)): try new.changes(since: old)
    case (.between(let old), .version(let new)): try old.changes(upTo: new)
    case (.between(let old), .between(let new)): try old.changes(upTo: new)
    }
  }
}
