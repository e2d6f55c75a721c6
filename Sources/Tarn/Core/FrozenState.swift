import CTarn
import Synchronization
import TarnStore

/// What makes an instance a frozen one: the state that it shows for good, and what is there once
/// for each thread that reads it.
///
/// A frozen instance belongs to no thread, so nothing may change in it that two threads could see.
/// Reading does change things, cursors and what was found last; each thread has those of its own.
/// Finding them takes no lock. What is worked out for all threads, the rows of results, is worked
/// out by the first that asks.
@safe final class FrozenState {
  let snapshot: Snapshot
  /// Where the instance that was frozen lives: `thaw()` goes back there, if it can.
  let home: Scheduler.Key
  private let isOver = Atomic<Bool>(false)
  /// The readings of all threads so far, as a list: the newest one first. They stay as long as
  /// this; a thread that ended leaves its own to the next that is known by the same number.
  private let newest = unsafe Atomic<Unmanaged<FrozenReading>?>(nil)
  private let results = Lock(LiveTable())

  /// Results that are alive, by what they ask for.
  private struct LiveTable: @unchecked Sendable {
    // because: it is used under the lock, and what it refers to is made for any thread.
    var sources = WeakTable<QuerySpec>()
    var sections = WeakTable<SectionsName>()
    var groups = WeakTable<GroupsName>()
  }

  init(_ snapshot: Snapshot, home: Scheduler.Key) {
    self.snapshot = snapshot
    self.home = home
  }

  deinit {
    var current = unsafe newest.load(ordering: .acquiring)
    while let reading = unsafe current {
      unsafe current = unsafe reading._withUnsafeGuaranteedRef { unsafe $0.next }
      unsafe reading.release()
    }
  }

  // MARK: - Life

  /// The program has let go of what is shown: reading traps from now on. The state itself stays
  /// as long as anybody refers to it, because other threads may be about to read.
  var isInvalidated: Bool { isOver.load(ordering: .relaxed) }

  func invalidate() { isOver.store(true, ordering: .relaxed) }

  // MARK: - Reading

  /// What the calling thread has of this.
  func here() -> FrozenReading {
    let thread = tarn_thread_id()
    var current = unsafe newest.load(ordering: .acquiring)
    while let reading = unsafe current {
      let (owner, next) = unsafe reading._withUnsafeGuaranteedRef { unsafe ($0.thread, $0.next) }
      if owner == thread { return unsafe reading.takeUnretainedValue() }
      unsafe current = unsafe next
    }
    return begin(thread)
  }

  private func begin(_ thread: UInt) -> FrozenReading {
    let made = trapping { () throws(StorageError) in
      FrozenReading(thread, try SnapshotReader(snapshot))
    }
    let handle = unsafe Unmanaged.passRetained(made)
    var isDone = false
    unsafe made.next = unsafe newest.load(ordering: .acquiring)
    while !isDone {
      let (exchanged, found) = unsafe newest.compareExchange(
        expected: made.next, desired: handle, successOrdering: .acquiringAndReleasing,
        failureOrdering: .acquiring)
      isDone = exchanged
      if !exchanged { unsafe made.next = unsafe found }
    }
    return made
  }

  /// The shared rows of a query.
  func source(
    _ name: WeakTable<QuerySpec>.Name, _ make: () -> LiveResult
  ) -> LiveResult {
    if let known = known({ $0.sources[name] }) as? LiveResult { return known }
    return share(make()) { table, made in
      if let known = table.sources[name] { return known }
      table.sources.insert(made, for: name)
      return made
    }
  }

  /// The shared sections of results by a property, nil without any.
  func sections(_ name: WeakTable<SectionsName>.Name) -> AnyObject? {
    known { $0.sections[name] }
  }

  /// Shares sections from now on.
  ///
  /// - Returns: them, or those that another thread shares already.
  func share<Sections: AnyObject>(
    _ made: Sections, as name: WeakTable<SectionsName>.Name
  ) -> Sections {
    share(made) { table, made in
      if let known = table.sections[name] { return known }
      table.sections.insert(made, for: name)
      return made
    }
  }

  /// The shared groups of results.
  func groups(
    _ name: WeakTable<GroupsName>.Name, _ make: () -> LiveSource<GroupsModel>
  ) -> LiveSource<GroupsModel> {
    if let known = known({ $0.groups[name] }) as? LiveSource<GroupsModel> { return known }
    return share(make()) { table, made in
      if let known = table.groups[name] { return known }
      table.groups.insert(made, for: name)
      return made
    }
  }

  private func known(_ find: (LiveTable) -> AnyObject?) -> AnyObject? {
    nonisolated(unsafe) var found: AnyObject?  // because: it is made for any thread
    results.withLock { unsafe found = find($0) }
    return unsafe found
  }

  private func share<Object: AnyObject>(
    _ object: Object, _ insert: (inout LiveTable, AnyObject) -> AnyObject
  ) -> Object {
    nonisolated(unsafe) let made = object  // because: it is made for any thread
    nonisolated(unsafe) var shared: AnyObject = unsafe made  // because: the same
    results.withLock { unsafe shared = unsafe insert(&$0, made) }
    return unsafe shared as? Object ?? made
  }
}

/// What one thread has of a frozen instance. Belongs to that thread.
@safe final class FrozenReading {
  let thread: UInt
  let reader: SnapshotReader
  /// How classes meet the file, beside what the instance knew from the beginning.
  var classes = ClassBindings(.empty)
  /// The reading that was the newest before this one; does not change once others can see this.
  fileprivate(set) var next: Unmanaged<FrozenReading>?
  private var sequences: [SequencePlace: SequenceView] = [:]
  private static let sequencesMax = 64

  init(_ thread: UInt, _ reader: SnapshotReader) {
    self.thread = thread
    self.reader = reader
  }

  /// A collection, nil if its object is not there.
  func sequence(at place: SequencePlace) -> SequenceView? {
    if let known = sequences[place] { return known }
    let found = trapping { () throws(StorageError) in try reader.sequence(at: place) }
    guard let found else { return nil }
    if sequences.count == Self.sequencesMax { sequences.removeAll(keepingCapacity: true) }
    let view = SequenceView(found)
    sequences[place] = view
    return view
  }
}

/// What is different in a frozen instance.
extension RealmCore {
  var isFrozen: Bool { frozen != nil }

  /// True if things that came from the instance in that life of it are invalidated.
  func hasEnded(_ life: UInt32) -> Bool {
    if let frozen { return frozen.isInvalidated }
    return life != state.life
  }

  /// The state of a frozen instance, to be read. Traps if the program has let go of it.
  func readable(_ frozen: FrozenState) -> FrozenState {
    require(
      !frozen.isInvalidated,
      "The frozen Realm '\(store.path)' is read after invalidate(). Freeze the live one again.")
    return frozen
  }

  /// The calling thread's reader over the state of a frozen instance.
  func shown(_ frozen: FrozenState) -> SnapshotReader { readable(frozen).here().reader }

  /// True for a frozen instance of that state that can still be read.
  func shows(_ snapshot: Snapshot) -> Bool {
    guard let frozen, !frozen.isInvalidated else { return false }
    return frozen.snapshot.head == snapshot.head
  }

  /// A collection at the version shown that nobody else has.
  func unsharedSequence(at place: SequencePlace) -> StoredSequence? {
    trapping { () throws(StorageError) in try shown().sequence(at: place) }
  }
}
