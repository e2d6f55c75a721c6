import CTarn
import TarnStore

/// A Realm instance, as far as reading, editing, moving and observing need it: a file as one
/// scheduler sees it. This class knows neither the program's classes nor objects; `RealmCore`, its
/// only subclass, does.
///
/// It shows one snapshot. What moves it, and only this: a turn of its scheduler, `refresh()`, the
/// begin of a write, its own commit. A move is one step for everything that is read through the
/// instance: the generation in `context` changes, and every accessor finds its row anew at its next
/// use.
///
/// Reads and assignments use stored, final properties of this class, so that each use is one load.
///
/// Threading: confined to its scheduler, apart from what its doc comment says otherwise.
@usableFromInline
@safe class Instance: DeliveryHost {
  /// What accessors check before each read; see `tarn_context`.
  final let context: UnsafeMutablePointer<tarn_context>
  final let store: Store
  final let scheduler: Scheduler
  private final let sharesThreads: Bool
  /// What the thread is called on which it was opened, where it belongs to that.
  private final let threadName: String?

  /// The state that a frozen instance shows; nil for every other one.
  final let frozen: FrozenState?

  // The parts, each of which knows nothing of the others.

  /// What is shown. A frozen instance has it for each thread.
  final let state = ShownState()
  final let write = WriteState()
  /// More than 0 while sections' keys are computed.
  final var sectionKeyDepth = 0
  /// Collections as they are read at the version shown.
  final var sequences = SequenceViews()

  /// Tells Swift's Observation what is read and what changes; nil where that is off.
  private(set) final var tracking: Tracking?
  /// Who observes properties of its rows; nil if nobody does, which every assignment asks that
  /// goes through the instance.
  @safe @exclusivity(unchecked) final var properties: PropertyTable?
  /// Holds the observers, and decides when they are called.
  private(set) final var delivery: Delivery!
  final var autorefresh = true
  /// Brings commits to the instance.
  final var wakeUp: WakeRegistration?
  /// How tokens reach the instance; all of them share it.
  final weak var confined: ConfinedHost?

  /// - Parameter tracks: whether Swift's Observation learns of reads and changes.
  init(store: Store, scheduler: Scheduler, frozen: FrozenState?, tracks: Bool) {
    self.store = store
    self.scheduler = scheduler
    sharesThreads = scheduler.sharesThreads
    threadName = scheduler.isThread ? Scheduler.threadName : nil
    self.frozen = frozen
    unsafe context = .allocate(capacity: 1)
    // Accessors of a frozen instance ask it before each read, on whatever thread.
    let thread = frozen == nil ? tarn_thread_id() : 0
    unsafe context.initialize(to: tarn_context(generation: Generation.next(), thread: thread))
    delivery = Delivery(self)
    if tracks, frozen == nil { tracking = Tracking(self) }
  }

  deinit { unsafe context.deallocate() }

  // MARK: - For the subclass

  /// What keeps the program's classes from being used at a schema; nothing if they fit.
  func problems(at schema: SchemaView) -> [String] { [] }

  /// Waits for the disk, if a commit is on its way there, and moves the instance.
  func finishWriting() {}

  // MARK: - Confinement

  /// Traps unless this code runs where the instance lives. Re-stamps the thread where a scheduler
  /// has moved to another one. Where an actor or a queue ran last other code may run by now.
  final func checkThread() {
    let thread = tarn_thread_id()
    if unsafe context.pointee.thread == thread, !sharesThreads { return }
    if frozen != nil { return }
    if !scheduler.isCurrent { trapElsewhere() }
    unsafe context.pointee.thread = thread
  }

  /// True if code that runs here may read through the instance.
  final var isReadableHere: Bool { frozen != nil || scheduler.isCurrent }

  /// Where it may be used, as messages say it.
  final var ownSide: String { scheduler.ownSide(threadName) }

  private final func trapElsewhere() -> Never {
    trap(
      "Realm accessed from incorrect thread. An instance and everything obtained from it belong "
        + "to the thread, queue or actor that opened it; open another instance here. This one, of "
        + "'\(store.path)', belongs to \(ownSide); this code runs on "
        + "\(Scheduler.thisSide).\(scheduler.adviceForTasks)")
  }

  // MARK: - What is shown

  /// The reader over the shown snapshot; starts at the newest one if there is none.
  final func shown() -> SnapshotReader {
    if state.needsReset, session == nil {
      if trapping({ () throws(StorageError) in try delivery.advance() }) {
        delivery.postponeDidChange()
      }
      scheduleTurn()
    }
    if let reader = state.reader { return reader }
    if let frozen { return shown(frozen) }
    let started = trapping { () throws(StorageError) in
      try SnapshotReader(newestFittingSnapshot())
    }
    state.begin(with: started)
    rowsMoved()
    return started
  }

  /// Makes every accessor find its row again at its next use.
  final func rowsMoved() {
    if !sequences.isEmpty { sequences.forget() }
    unsafe context.pointee.generation = Generation.next()
  }

  final var reader: SnapshotReader? { state.reader }
  final var shownVersion: Version? { frozen?.snapshot.version ?? state.version }
  final var step: Int { state.step }
  final var needsReset: Bool { state.needsReset }
  final var recentSteps: RecentSteps { state.recentSteps }
  /// The open write, or the one that is on its way to the disk; nil otherwise.
  final var session: WriteSession? { write.session }
  final var activeWrite: ActiveWrite? { write.active }

  /// The rows as they are read now, an open write's in front.
  final func rows() -> StoreRows { StoreRows(shown(), session) }

  /// True if no object of any class exists.
  final var isEmpty: Bool {
    checkThread()
    return trapping { () throws(StorageError) in
      let rows = rows()
      for described in rows.schema.schema.classes where try rows.count(of: described.id) > 0 {
        return false
      }
      return true
    }
  }
}
