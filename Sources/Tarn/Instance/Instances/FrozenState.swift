import Synchronization
import TarnStore

/// The state of a frozen instance: its fixed snapshot, and one set of readers for each thread that
/// reads it.
///
/// A frozen instance belongs to no thread, so nothing in it may change that two threads could see.
/// Reading does change things, such as cursors and cached lookups; each thread has its own.
final class FrozenState {
  let snapshot: Snapshot
  /// The scheduler of the instance that was frozen: `thaw()` returns there, if possible.
  let home: Scheduler.Key
  private let isOver = Atomic<Bool>(false)
  private let readings = ThreadList<FrozenReading>()

  init(_ snapshot: Snapshot, home: Scheduler.Key) {
    self.snapshot = snapshot
    self.home = home
  }

  // MARK: - Life

  /// The program has released the snapshot: reading traps from now on. The snapshot itself stays as
  /// long as anything refers to it, because other threads may be about to read.
  var isInvalidated: Bool { isOver.load(ordering: .relaxed) }

  func invalidate() { isOver.store(true, ordering: .relaxed) }

  // MARK: - Reading

  /// The reader of the calling thread.
  func here() -> FrozenReading {
    readings.here {
      trapping { () throws(StorageError) in FrozenReading(try SnapshotReader(snapshot)) }
    }
  }
}

/// One thread's view of a frozen instance. Belongs to that thread.
final class FrozenReading {
  let reader: SnapshotReader
  private var sequences = SequenceViews()

  init(_ reader: SnapshotReader) { self.reader = reader }

  /// A collection, nil if its object does not exist.
  func sequence(at place: SequencePlace) -> SequenceView? {
    if let known = sequences[place] { return known }
    let found = trapping { () throws(StorageError) in try reader.sequence(at: place) }
    return found.map { sequences.keep($0, at: place) }
  }
}

/// The members that behave differently in a frozen instance.
extension Instance {
  var isFrozen: Bool { frozen != nil }

  /// True if objects from the instance in that life of it are invalidated.
  func hasEnded(_ life: UInt32) -> Bool {
    if let frozen { return frozen.isInvalidated }
    return life != state.life
  }

  /// The state of a frozen instance, for reading. Traps if the program has released it.
  func readable(_ frozen: FrozenState) -> FrozenState {
    checkProcess()
    require(
      !frozen.isInvalidated,
      "The frozen Realm '\(store.path)' was read after invalidate(). Freeze the live one again.")
    return frozen
  }

  /// The calling thread's reader for the state of a frozen instance.
  func shown(_ frozen: FrozenState) -> SnapshotReader { readable(frozen).here().reader }

  /// True for a frozen instance of that state that can still be read.
  func shows(_ snapshot: Snapshot) -> Bool {
    guard let frozen, !frozen.isInvalidated else { return false }
    return frozen.snapshot.head == snapshot.head
  }

  /// A collection at the instance's version, not shared with other callers.
  func unsharedSequence(at place: SequencePlace) -> StoredSequence? {
    trapping { () throws(StorageError) in try shown().sequence(at: place) }
  }
}
