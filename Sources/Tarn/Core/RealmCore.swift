import CTarn
import Synchronization
import TarnStore

/// One Realm instance: a file as one scheduler sees it. `Realm` is a handle on this.
///
/// It shows one snapshot. What moves it, and only this: a turn of its scheduler, `refresh()`, the
/// begin of a write, its own commit. A move is one step for everything that is read through the
/// instance: the generation in `context` changes, and every accessor finds its row anew at its next
/// use.
///
/// Threading: confined to its scheduler, apart from what its doc comment says otherwise.
@usableFromInline
@safe final class RealmCore: DeliveryHost {
  /// What accessors check before each read; see `tarn_context`.
  let context: UnsafeMutablePointer<tarn_context>
  let store: Store
  let configuration: Realm.Configuration
  let scheduler: Scheduler
  private let sharesThreads: Bool
  /// What the thread is called on which it was opened, where it belongs to that.
  private let threadName: String?

  /// The state that a frozen instance shows; nil for every other one.
  let frozen: FrozenState?
  /// The frozen instance of what was shown when it was asked for last.
  weak var lastFrozen: RealmCore?
  /// On the new side of a migration the instance that shows the old one.
  weak var oldSide: RealmCore?

  // The parts, each of which knows nothing of the others.

  /// What is shown. A frozen instance has it for each thread.
  let state = ShownState()
  let write = WriteState()
  let classes: ClassBindings
  /// Unmanaged objects on their way into the Realm.
  let intake = ObjectIntake()
  /// More than 0 while sections' keys are worked out.
  var sectionKeyDepth = 0

  // What collections share.

  var liveResults = WeakTable<QuerySpec>()
  var liveSections = WeakTable<SectionsName>()
  var liveGroups = WeakTable<GroupsName>()
  /// Lists, sets and maps that are observed.
  var liveSequences = WeakTable<SequencePlace>()
  /// Collections as they are read at the version shown.
  var sequences: [SequencePlace: SequenceView] = [:]

  /// Tells Swift's Observation what is read and what changes; nil where that is off.
  private(set) var tracking: Tracking?
  /// Who observes properties of its rows; nil if nobody does, which every assignment asks that
  /// goes through the instance.
  @safe @exclusivity(unchecked) final var properties: PropertyTable?
  /// Who observes, and is told when.
  private(set) var delivery: Delivery!
  var autorefresh = true
  /// Writes that wait for their turn or for the disk; nil until there is one.
  @safe @exclusivity(unchecked) final var pendingWrites: (any PendingWrites)?
  /// The instance can be told of commits.
  var wakeUp: WakeRegistration?
  /// Called at the instance's end by who handed it out: with an open write that it may have.
  var takeBack: ((RealmCore) -> Void)?
  /// How tokens reach the instance; all of them share it.
  weak var confined: ConfinedHost?

  init(
    store: Store, configuration: Realm.Configuration, scheduler: Scheduler, model: ModelSchema,
    frozen: FrozenState? = nil
  ) {
    self.store = store
    self.configuration = configuration
    self.scheduler = scheduler
    sharesThreads = scheduler.sharesThreads
    threadName = scheduler.isThread ? Scheduler.threadName : nil
    classes = ClassBindings(model)
    self.frozen = frozen
    unsafe context = .allocate(capacity: 1)
    // Accessors of a frozen instance ask it before each read, on whatever thread.
    let thread = frozen == nil ? tarn_thread_id() : 0
    unsafe context.initialize(to: tarn_context(generation: Generation.next(), thread: thread))
    delivery = Delivery(self)
    if configuration.tracksObservation, frozen == nil { tracking = Tracking(self) }
    if scheduler.isActor { write.watch = OpenWriteWatch(self) }
  }

  deinit {
    delivery.cancelWork()
    wakeUp?.end()
    pendingWrites?.end()
    takeBack?(self)
    unsafe context.deallocate()
  }

  // MARK: - The end of where it lives

  /// The instance's thread ends, and this is called there. Nobody can be called any more; what
  /// waits to be called, and tokens that others have, would keep the instance.
  func threadEnded() {
    pendingWrites?.abandon()
    dropObservations()
    confined?.letGo()
  }

  /// The actor has gone with a write open, and others hold the instance still.
  func actorLeftWrite() {
    let takeBack = takeBack.take()
    takeBack?(self)
    // No turn comes any more, and a turn that does not come lets go of what is queued.
    pendingWrites?.askForTurn()
  }

  // MARK: - Confinement

  /// Traps unless this code runs where the instance lives. Re-stamps the thread where a scheduler
  /// has moved to another one. Where an actor or a queue ran last other code may run by now.
  func checkThread() {
    let thread = tarn_thread_id()
    if unsafe context.pointee.thread == thread, !sharesThreads { return }
    if frozen != nil { return }
    if !scheduler.isCurrent { trapElsewhere() }
    unsafe context.pointee.thread = thread
  }

  /// True if code that runs here may read through the instance.
  var isReadableHere: Bool { frozen != nil || scheduler.isCurrent }

  /// Where it may be used, as messages say it.
  var ownSide: String { scheduler.ownSide(threadName) }

  private func trapElsewhere() -> Never {
    trap(
      "Realm accessed from incorrect thread. An instance and everything obtained from it belong "
        + "to the thread, queue or actor that opened it; open another instance here. This one, of "
        + "'\(store.path)', belongs to \(ownSide); this code runs on "
        + "\(Scheduler.thisSide).\(scheduler.adviceForTasks)")
  }

  // MARK: - What is shown

  /// The reader over the shown snapshot; starts at the newest one if there is none.
  func shown() -> SnapshotReader {
    if state.needsReset, session == nil {
      if trapping({ () throws(StorageError) in try advance() }) { delivery.postponeDidChange() }
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

  /// Makes every accessor find its row anew at its next use.
  func rowsMoved() {
    if !sequences.isEmpty { forgetSequences() }
    unsafe context.pointee.generation = Generation.next()
  }

  var reader: SnapshotReader? { state.reader }
  var shownVersion: Version? { frozen?.snapshot.version ?? state.version }
  var step: Int { state.step }
  var needsReset: Bool { state.needsReset }
  var recentSteps: RecentSteps { state.recentSteps }
  /// The open write, or the one that is on its way to the disk; nil otherwise.
  var session: WriteSession? { write.session }
  var activeWrite: ActiveWrite? { write.active }

  /// The rows as they are read now, an open write's in front.
  func rows() -> StoreRows { StoreRows(shown(), session) }

  /// True if no object of any class exists.
  var isEmpty: Bool {
    checkThread()
    return trapping { () throws(StorageError) in
      let rows = rows()
      for described in rows.schema.schema.classes where try rows.count(of: described.id) > 0 {
        return false
      }
      return true
    }
  }

  // MARK: - Classes

  /// How a class of the program meets the file. Traps if it is not in the Realm's schema.
  func binding(of type: ObjectBase.Type) -> ClassBinding {
    let schema = schemaToBind()
    if let frozen {
      // Other threads may ask at once.
      if let known = classes.known(type) ?? frozen.here().classes.known(type) { return known }
    } else if let known = classes.recall(type) {
      return known
    }
    guard let reflection = classes.model.reflection(of: type) else {
      trap(
        "Object type '\(ClassReflection.name(of: type))' is not managed by the Realm. If using a "
          + "custom `objectTypes` array in the configuration, add the class to it.")
    }
    guard let described = schema.schema.named(reflection.name) else {
      trap(
        "Object type '\(reflection.name)' is not in the version that the Realm shows: the program "
          + "has loaded the class since. Call refresh() first.")
    }
    let binding = ClassBinding(reflection, described)
    if let frozen {
      frozen.here().classes.keep(binding, for: type)
    } else {
      classes.keep(binding, for: type)
    }
    return binding
  }

  /// The schema of what is shown, the open write's if there is one. Bindings of another schema are
  /// forgotten.
  func schemaToBind() -> SchemaView {
    let schema = session?.schema ?? shown().schema
    if classes.epoch != schema.epoch { classes.bind(to: schema) }
    return schema
  }
}

/// Numbers that never repeat in this process.
enum Generation {
  private static let last = Atomic<UInt64>(0)
  static func next() -> UInt64 { last.wrappingAdd(1, ordering: .relaxed).newValue }
}

/// What the instance asks of writes that wait for their turn or for the disk.
protocol PendingWrites: AnyObject {
  /// Waits for the disk, if something is on its way there, and moves the instance.
  func finishSync()
  /// Nobody is left to be called.
  func abandon()
  func askForTurn()
  /// The instance goes.
  func end()
}
