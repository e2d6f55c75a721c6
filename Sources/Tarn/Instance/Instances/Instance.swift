import CTarn
import Synchronization
import TarnStore

/// A Realm instance, as far as reading, editing, advancing and observing need it: a file on one
/// scheduler. This class knows neither the program's classes nor its objects; `RealmCore`, its only
/// subclass, does.
///
/// It is at the version of one snapshot. Only these advance it: a turn of its scheduler,
/// `refresh()`, the start of a write, its own commit. An advance is one step for everything that is
/// read through the instance: the generation in `context` changes, and every accessor looks its row
/// up again at its next use.
///
/// Reads and assignments use stored, final properties of this class, so that each use is one load.
///
/// Threading: confined to its scheduler, except where a doc comment says otherwise.
@usableFromInline
@safe class Instance: DeliveryHost {
  /// Checked by accessors before each read; see `tarn_context`.
  final let context: UnsafeMutablePointer<tarn_context>
  final let store: Store
  final let scheduler: Scheduler
  private final let sharesThreads: Bool
  /// The name of the thread on which it was opened, if it belongs to that.
  private final let threadName: String?

  /// The state of a frozen instance; nil for every other one.
  final let frozen: FrozenState?

  // The parts, which are independent of each other.

  /// The current snapshot. A frozen instance has one reader for each thread.
  final let state = ShownState()
  final let write = WriteState()
  final let scopes = SharedScopes()
  /// More than 0 while sections' keys are computed.
  final var sectionKeyDepth = 0
  /// The collections read so far at the current version.
  final var sequences = SequenceViews()

  /// Reports reads and changes to Swift's Observation; nil while that is off.
  private(set) final var tracking: Tracking?
  /// The observers of its rows' properties; nil without any, which every assignment through the
  /// instance checks.
  @safe @exclusivity(unchecked) final var properties: PropertyTable?
  /// Holds the observers, and calls them.
  private(set) final var delivery: Delivery!
  /// Moves the instance to newer versions.
  private(set) final var advancer: Advancer!
  final var autorefresh = true
  /// Notifies the instance of commits.
  final var wakeUp: WakeRegistration?
  /// The connection of tokens to the instance; all of them share it.
  final weak var confined: ConfinedHost?

  /// - Parameter tracks: whether Swift's Observation tracks reads and changes.
  init(store: Store, scheduler: Scheduler, frozen: FrozenState?, tracks: Bool) {
    self.store = store
    self.scheduler = scheduler
    sharesThreads = scheduler.sharesThreads
    threadName = scheduler.isThread ? Scheduler.threadName : nil
    self.frozen = frozen
    guard let context = unsafe tarn_context_make() else { trap("Tarn has no memory left") }
    unsafe self.context = unsafe context
    // Accessors of a frozen instance check it before each read, on any thread.
    let thread = frozen == nil ? tarn_thread_id() : 0
    unsafe context.initialize(to: tarn_context(generation: Generation.next(), thread: thread))
    delivery = Delivery(self)
    advancer = Advancer(self)
    if tracks, frozen == nil { tracking = Tracking(self) }
  }

  deinit { unsafe tarn_context_free(context) }

  /// Whether the system has memory for another one; making it without traps.
  static var hasRoom: Bool {
    guard let context = unsafe tarn_context_make() else { return false }
    unsafe tarn_context_free(context)
    return true
  }

  // MARK: - For the subclass

  /// The reasons why the program's classes cannot be used at a schema; none if they fit.
  func problems(at schema: SchemaView) -> [String] { [] }

  /// Waits for a commit on its way to the disk, if there is one, and advances the instance.
  func finishWriting() {}

  // MARK: - Confinement

  /// Traps unless this code runs where the instance lives. Updates the thread if the scheduler has
  /// moved to another one: other code may now run on the thread where an actor or a queue ran last.
  final func checkThread() {
    let thread = tarn_thread_id()
    if unsafe context.pointee.thread == thread, !sharesThreads { return }
    checkProcess()
    if frozen != nil { return }
    if !scheduler.isCurrent { trapElsewhere() }
    unsafe context.pointee.thread = thread
  }

  /// The same for an operation that throws: in a child of the process that opened the instance, an
  /// error.
  final func checkThread(toThrowFrom operation: String) throws(StorageError) {
    if isForked { throw store.environment.forked(operation) }
    checkThread()
  }

  /// Traps in a child of the process that opened the instance. Costs one comparison.
  final func checkProcess() {
    if isForked { trapForked() }
  }

  private final var isForked: Bool { unsafe context.pointee.generation == 0 }

  private final func trapForked() -> Never {
    trap(
      "Realm accessed in a forked process: '\(store.path)' was opened before this process was "
        + "forked from its parent. Open it again here; nothing read through the parent's Realm can "
        + "be used.")
  }

  /// True if code that runs here may read through the instance.
  final var isReadableHere: Bool { !isForked && (frozen != nil || scheduler.isCurrent) }

  /// The place where it may be used, for messages.
  final var ownSide: String { scheduler.ownSide(threadName) }

  private final func trapElsewhere() -> Never {
    trap(
      "Realm accessed from incorrect thread. An instance and everything obtained from it belong "
        + "to the thread, queue or actor that opened it; open another instance here. This one, of "
        + "'\(store.path)', belongs to \(ownSide); this code runs on "
        + "\(Scheduler.thisSide).\(scheduler.adviceForTasks)")
  }

  // MARK: - The current version

  /// The reader of the current snapshot; starts at the newest one if the instance has none.
  final func shown() -> SnapshotReader {
    if state.needsReset, session == nil {
      if trapping({ () throws(StorageError) in try advancer.advance() }) {
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

  /// Makes every accessor look its row up again at its next use.
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

  /// The rows as they are now, including those of an open write.
  final func rows() -> Rows { Rows(shown(), session) }

  /// True if no object of any class exists.
  final var isEmpty: Bool {
    checkThread()
    return trapping { () throws(StorageError) in
      let rows = rows()
      tracking?.note(.classes(Set(rows.schema.schema.classes.map(\.id))))
      for described in rows.schema.schema.classes where try rows.count(of: described.id) > 0 {
        return false
      }
      return true
    }
  }
}

/// Numbers that never repeat in this process.
enum Generation {
  private static let last = Atomic<UInt64>(0)
  static func next() -> UInt64 { last.wrappingAdd(1, ordering: .relaxed).newValue }
}

/// The version that the instance can advance to.
extension Instance {
  /// The newest snapshot, if the program's classes fit its schema: every property still has its
  /// column. Then everything found before stays valid.
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
          + "classes of this program do not match:\n\(list)\nThis instance stays at its "
          + "version; open the file again with the new classes.")
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

/// Operations that an instance refuses in its present state.
extension Instance {
  /// Traps outside of a write.
  func writing(_ operation: String) -> WriteSession {
    checkThread()
    guard let session, write.isOpen else {
      if isFrozen { trapFrozen("Cannot \(operation) of") }
      trap(
        "Cannot \(operation) outside of a write transaction. Call it inside realm.write { … }.")
    }
    if sectionKeyDepth > 0 { refuseInSectionKey(operation) }
    return session
  }

  /// Traps for an operation that a frozen instance does not support.
  func trapFrozen(_ operation: String) -> Never {
    let version = shownVersion.map { " at version \($0.rawValue)" } ?? ""
    trap(
      "\(operation) a frozen Realm: frozen data of '\(store.path)'\(version) never changes. "
        + "Call thaw() on the object, the collection or the Realm, and use the result.")
  }

  /// Traps in a property observer that is called in the middle of a change.
  func refuseWhileTelling(_ operation: String) {
    require(
      !delivery.isTellingOfProperties,
      "Cannot \(operation) in the observer of a property that is called before a change, while the "
        + "Realm moves to another version, or in the middle of a larger change. Do it later, or "
        + "observe the object: object.observe { change in … }.")
  }

  /// Traps in a block that computes the key of a section.
  func refuseInSectionKey(_ operation: String) {
    require(
      sectionKeyDepth == 0,
      "Cannot \(operation) while section keys are computed: the block given to "
        + "sectioned(by:) may only read.")
  }
}
