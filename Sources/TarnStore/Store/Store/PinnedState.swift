internal import Glibc

/// A state of the file that is being read, and its cost.
package struct PinnedState: Sendable {
  /// The process that reads it.
  package let process: SignalProcess
  /// Commits after the state.
  package let commitsBehind: UInt64
  /// Versions after the state.
  package let versionsBehind: UInt64
  /// Bytes of pages that later commits have freed and that cannot be used again before the state is
  /// released, by this reader and those of other old states.
  package let keptBytes: Int
  /// The time of the commit that made the state an old one, in microseconds since 1970: it has been
  /// read at least since then. Nil for the newest state, and if the record lacks a time.
  package let since: Int64?

  /// The seconds for which the state has been read at least, by the boot clock; nil if
  /// `since` is.
  package let seconds: Int64?

  /// The seconds from a commit until the history has an age.
  static func seconds(from note: CommitNote, toAge age: UInt64?) -> Int64? {
    age.map { Int64(clamping: ($0 - min($0, note.age)) / 1_000_000) }
  }

  /// "process 4711 (notes) has been reading an old version for 612 s, 1204 commits long"
  package var sentence: String {
    let who = process.processID == getpid() ? "this process" : "\(process)"
    let time = seconds.map { " for \($0) s" } ?? ""
    return "\(who) has been reading an old version\(time), \(commitsBehind) commits long"
  }
}

extension Store {
  /// The states that are read by processes, the oldest first.
  ///
  /// - Parameter others: whether to leave out those of this process.
  package func pinnedStates(ofOthers others: Bool = false) throws(StorageError) -> [PinnedState] {
    let snapshot = try newestSnapshot()
    let pins = Set(environment.readers().filter { !others || $0.processID != getpid() })
      .sorted { ($0.transactionID, $0.processID) < ($1.transactionID, $1.processID) }
    guard let oldest = pins.first?.transactionID else { return [] }
    let kept = try KeptPages(since: oldest, in: snapshot.transaction)
    let last = try ChangeLog.header(of: snapshot.version, in: snapshot.transaction)?.meta.note
    let age = last?.age(
      at: CommitNote.now, elapsed: signal.microseconds(sinceCommit: snapshot.head.commitID))
    let ids = Set(pins.map(\.processID))
    let processes = Dictionary(
      uniqueKeysWithValues: ids.map { ($0, signal.process(withID: $0)) })
    var states: [PinnedState] = []
    for pin in pins {
      states.append(try state(of: pin, processes, kept, snapshot, age))
    }
    return states
  }

  private func state(
    of pin: ReaderPin, _ processes: [Int32: SignalProcess], _ kept: KeptPages,
    _ snapshot: Snapshot, _ age: UInt64?
  ) throws(StorageError) -> PinnedState {
    let newest = snapshot.transaction.transactionID
    let next = try firstRecord(after: pin.transactionID, in: snapshot)
    let note = next?.meta.note
    return PinnedState(
      process: processes[pin.processID] ?? SignalProcess(processID: pin.processID, startTime: 0),
      commitsBehind: newest > pin.transactionID ? newest - pin.transactionID : 0,
      versionsBehind: next.map { snapshot.version.rawValue &- $0.to.rawValue &+ 1 } ?? 0,
      keptBytes: kept.count(since: pin.transactionID) * environment.pageSize,
      since: note?.time, seconds: note.flatMap { PinnedState.seconds(from: $0, toAge: age) })
  }

  /// The first record of a later commit: records that a reader needs are not removed. Nil if the
  /// state is the newest version.
  private func firstRecord(
    after transactionID: UInt64, in snapshot: Snapshot
  ) throws(StorageError) -> ChangeRecord.Header? {
    guard transactionID < snapshot.transaction.transactionID,
      let oldest = try ChangeLog.oldestVersion(in: snapshot.transaction)
    else { return nil }
    var (low, high) = (oldest, snapshot.version.next)
    while low < high {
      let middle = Version(low.rawValue + (high.rawValue - low.rawValue) / 2)
      let header = try ChangeLog.header(of: middle, in: snapshot.transaction)
      guard let header else { return nil }
      if header.meta.transactionID > transactionID { high = middle } else { low = middle.next }
    }
    return try ChangeLog.header(of: low, in: snapshot.transaction)
  }
}
