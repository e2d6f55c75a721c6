import Synchronization
import TarnStore

/// What makes an instance a frozen one: the state that it shows for good, and what is there once
/// for each thread that reads it.
///
/// A frozen instance belongs to no thread, so nothing may change in it that two threads could see.
/// Reading does change things, cursors and what was found last; each thread has those of its own.
final class FrozenState {
  let snapshot: Snapshot
  /// Where the instance that was frozen lives: `thaw()` goes back there, if it can.
  let home: Scheduler.Key
  private let isOver = Atomic<Bool>(false)
  private let readings = ThreadList<FrozenReading>()

  init(_ snapshot: Snapshot, home: Scheduler.Key) {
    self.snapshot = snapshot
    self.home = home
  }

  // MARK: - Life

  /// The program has let go of what is shown: reading traps from now on. The state itself stays
  /// as long as anybody refers to it, because other threads may be about to read.
  var isInvalidated: Bool { isOver.load(ordering: .relaxed) }

  func invalidate() { isOver.store(true, ordering: .relaxed) }

  // MARK: - Reading

  /// The reading of the calling thread.
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

  /// A collection, nil if its object is not there.
  func sequence(at place: SequencePlace) -> SequenceView? {
    if let known = sequences[place] { return known }
    let found = trapping { () throws(StorageError) in try reader.sequence(at: place) }
    return found.map { sequences.keep($0, at: place) }
  }
}

/// The members that behave differently in a frozen instance.
extension Instance {
  var isFrozen: Bool { frozen != nil }

  /// True if things that came from the instance in that life of it are invalidated.
  func hasEnded(_ life: UInt32) -> Bool {
    if let frozen { return frozen.isInvalidated }
    return life != state.life
  }

  /// The state of a frozen instance, to be read. Traps if the program has released it.
  func readable(_ frozen: FrozenState) -> FrozenState {
    require(
      !frozen.isInvalidated,
      "The frozen Realm '\(store.path)' was read after invalidate(). Freeze the live one again.")
    return frozen
  }

  /// The calling thread's reader over the state of a frozen instance.
  func shown(_ frozen: FrozenState) -> SnapshotReader { readable(frozen).here().reader }

  /// True for a frozen instance of that state that can still be read.
  func shows(_ snapshot: Snapshot) -> Bool {
    guard let frozen, !frozen.isInvalidated else { return false }
    return frozen.snapshot.head == snapshot.head
  }

  /// A collection at the version shown, not shared with other callers.
  func unsharedSequence(at place: SequencePlace) -> StoredSequence? {
    trapping { () throws(StorageError) in try shown().sequence(at: place) }
  }
}
