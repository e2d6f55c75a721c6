/// A move from one version to a newer one.
package struct LiveMove {
  package let changes: ChangeSet
  /// The rows at the end of the move.
  package let rows: Rows
  /// The state at its start; nil if no model involved reads it.
  package let past: PastState?

  package init(_ changes: ChangeSet, from past: PastState?, to rows: Rows) {
    self.changes = changes
    self.rows = rows
    self.past = past
  }

  /// The rows at its start. Traps if the move does not have them.
  package func pastRows() throws(StorageError) -> Rows {
    guard let past else { trap("internal error: the state before a move was released") }
    return try past.rows()
  }
}

/// A former state of an instance, or one between two commits of one transaction. It is opened only
/// when it is read, on one thread at a time.
package final class PastState {
  fileprivate enum Form {
    case version(Snapshot)
    case between(GroupedCommitState)
    case recorded(PastRows)
  }

  fileprivate let form: Form
  private var known: Rows?

  private init(_ form: Form) { self.form = form }

  package static func version(_ snapshot: Snapshot) -> PastState { PastState(.version(snapshot)) }
  package static func between(_ state: GroupedCommitState) -> PastState {
    PastState(.between(state))
  }
  /// A state that no snapshot pins, from change records. Only its rows are read.
  static func recorded(_ rows: PastRows) -> PastState { PastState(.recorded(rows)) }

  /// The rows of that state.
  package func rows() throws(StorageError) -> Rows {
    if let known { return known }
    let made =
      switch form {
      case .version(let snapshot): Rows(try SnapshotReader(snapshot))
      case .between(let between): between.rows
      case .recorded(let past): past.rows
      }
    known = made
    return made
  }
}

extension Rows {
  /// The value at the end of a path from an object; null if a link on the path is nil, and for a
  /// path to or through collections or backlinks.
  package func value(
    along path: ScopePath, from key: ObjectKey
  ) throws(StorageError) -> Value {
    guard let end = path.dependencies.last, end.origin == nil else { return .null }
    var key = key
    for link in end.links {
      guard !link.isBackwards,
        case .link(let next) = try plainValue(of: link.column, at: key, in: link.classID)
      else { return .null }
      key = next
    }
    return try plainValue(of: end.column, at: key, in: end.classID)
  }
}

/// A state after some of the commits that share a transaction. Only the instance that made them has
/// seen it; the file has only the final state.
package final class GroupedCommitState {
  package let session: WriteSession
  /// The changes of the later commits, up to the version that all of them made.
  private let rest: ChangeSet

  /// - Parameters:
  /// - session: the write at that state, which is no longer changed.
  /// - whole: the write when it was committed.
  /// - version: the committed version.
  package init(_ session: WriteSession, of whole: WriteSession, upTo version: Version) {
    self.session = session
    rest = whole.recorder.changeSet(
      since: session.recorder.position, from: session.base.version, to: version)
  }

  package var rows: Rows { Rows(session.reader, session) }
  package var position: ChangeRecorder.Position { session.recorder.position }

  /// The changes from an earlier version to this state.
  fileprivate func changes(since past: Snapshot) throws(StorageError) -> ChangeSet {
    let base = session.base
    let noted = session.recorder.changes(since: .start, upTo: position, over: base.version)
    return try ChangeLog.changes(from: past, to: base).merging(noted)
  }

  /// The changes from this state to a later version.
  fileprivate func changes(upTo later: Snapshot) throws(StorageError) -> ChangeSet {
    let others = try ChangeLog.changes(
      after: rest.to, upTo: later.version, in: later.transaction)
    return rest.merging(others)
  }

  /// The changes from this state to a later one.
  fileprivate func changes(upTo later: GroupedCommitState) throws(StorageError) -> ChangeSet {
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
  /// All changes from one state to a later one.
  static func changes(
    from past: PastState, to later: PastState
  ) throws(StorageError) -> ChangeSet {
    switch (past.form, later.form) {
    case (.version(let old), .version(let new)): try changes(from: old, to: new)
    case (.version(let old), .between(let new)): try new.changes(since: old)
    case (.between(let old), .version(let new)): try old.changes(upTo: new)
    case (.between(let old), .between(let new)): try old.changes(upTo: new)
    case (.recorded, _), (_, .recorded):
      trap("internal error: changes from or to a state of change records")
    }
  }
}
