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
final class RealmCore: LiveHost {
  /// What accessors check before each read; see `tarn_context`.
  let context: UnsafeMutablePointer<tarn_context>
  let store: Store
  let configuration: Realm.Configuration
  let scheduler: Scheduler
  var model: ModelSchema

  /// The state that a frozen instance shows; nil for every other one.
  let frozen: FrozenState?
  /// The frozen instance of what was shown when it was asked for last.
  weak var lastFrozen: RealmCore?

  /// The state that is shown; nil until something is read, and after `invalidate()`. Of a frozen
  /// instance each thread has its own.
  var reader: SnapshotReader?
  /// The open write, nil outside of one.
  var session: WriteSession?
  var gateToken: GateToken?
  /// On the new side of a migration the instance that shows the old one.
  weak var oldSide: RealmCore?
  /// Names the last write of this instance.
  var writeSerial: UInt64 = 0
  /// The same for what is born in it.
  var openWrite: WriteMark?
  /// While objects are made of values: which properties those name.
  var given: GivenProperties = [:]
  /// While an object is added: what becomes of those that it links to and that exist.
  var addingPolicy = Realm.UpdatePolicy.error
  /// Objects that have their rows and whose values are still to come there, the next one last.
  var arriving: [ArrivingObject] = []
  var isTakingIn = false
  /// The embedded ones among those that came with the change that is being made.
  var arrivedEmbedded: Set<LinkTarget> = []
  /// What the open write has made managed, where that is wanted back if it is cancelled.
  var addedObjects: [ObjectBase] = []
  /// How often the instance was invalidated; accessors of an earlier life are dead.
  var invalidations: UInt32 = 0
  /// Invalidated while observers need the shown state as what their next difference starts from:
  /// the next use of the instance moves to the newest version.
  var startsOver = false
  /// The shown version moved in a place where no observer can be called.
  var owesDidChange = false

  /// How classes of the program meet classes of the file, at the schema that was bound last.
  var bindings: [ObjectIdentifier: ClassBinding] = [:]
  /// The same for classes as dynamic objects show them, by their names.
  var dynamicBindings: [String: ClassBinding] = [:]
  var boundEpoch: UInt64 = .max
  /// The newest schema that is known to fit the program's classes.
  var fittingSchema: SchemaView?
  /// The one asked for last.
  private var recentBinding: ClassBinding?

  /// Results that are alive, by what they ask for.
  var liveResults: [QuerySpec: WeakSource] = [:]
  /// Sections that are alive, by what they are made of.
  var liveSections: [SectionsName: WeakSections] = [:]
  /// More than 0 while sections' keys are worked out.
  var sectionKeyDepth = 0
  /// Lists, sets and maps that are observed.
  var liveSequences: [SequencePlace: WeakSource] = [:]
  /// Collections as they are read at the version shown.
  var sequences: [SequencePlace: SequenceView] = [:]
  let observers = ObserverTable()
  /// How often the read version has moved, the instance's own commits included.
  var step = 0
  /// What the last moves changed, for results that nobody observes.
  var recentSteps = RecentSteps()

  /// When a worker is asked, and what it has been asked for.
  var workLimits: WorkAhead.Limits
  var workAhead: WorkAhead?

  var autorefresh = true
  /// The targets of the rounds that are being delivered, the innermost last.
  var roundTargets: [Int] = []
  /// What realm-level observers are being told at this moment.
  var realmNotification: Realm.Notification?
  /// A turn came at a moment when nothing may move; it is made up for.
  var turnIsOwed = false
  /// The instance can be told of commits.
  var wakeUp: WakeRegistration?
  /// How tokens reach the instance; all of them share it.
  weak var confined: ConfinedCore?
  /// Set when the store can no longer be followed: the error that ended it.
  var failure: StorageError?

  init(
    store: Store, configuration: Realm.Configuration, scheduler: Scheduler, model: ModelSchema,
    frozen: FrozenState? = nil
  ) {
    self.store = store
    self.configuration = configuration
    self.scheduler = scheduler
    self.model = model
    self.frozen = frozen
    workLimits = WorkAhead.Limits(on: scheduler)
    context = .allocate(capacity: 1)
    // Accessors of a frozen instance ask it before each read, on whatever thread.
    let thread = frozen == nil ? tarn_thread_id() : 0
    context.initialize(to: tarn_context(generation: Generation.next(), thread: thread))
  }

  deinit {
    workAhead?.work.cancel()
    if let wakeUp {
      wakeUp.end()
      let key = LeftWrites.Key(store: ObjectIdentifier(store), scheduler: scheduler.key)
      if let session { LeftWrites.keep(LeftWrite(self, session), key) }
      RealmCache.forget(ObjectIdentifier(self), key)
    }
    context.deallocate()
  }

  // MARK: - Confinement

  /// Traps unless this code runs where the instance lives. Re-stamps the thread where a scheduler
  /// has moved to another one.
  func checkThread() {
    if context.pointee.thread == tarn_thread_id() || frozen != nil { return }
    require(
      scheduler.isCurrent,
      "Realm accessed from incorrect thread. An instance and everything obtained from it belong "
        + "to the thread, queue or actor that opened it; open another instance here."
        + scheduler.adviceForTasks)
    context.pointee.thread = tarn_thread_id()
  }

  // MARK: - What is shown

  /// The reader over the shown snapshot; starts at the newest one if there is none.
  func shown() -> SnapshotReader {
    if startsOver, session == nil {
      if trapping({ () throws(StorageError) in try advance() }) { owesDidChange = true }
      scheduleTurn()
    }
    if let reader { return reader }
    if let frozen { return shown(frozen) }
    let started = trapping { () throws(StorageError) in
      try SnapshotReader(newestFittingSnapshot())
    }
    reader = started
    rowsMoved()
    return started
  }

  /// Makes every accessor find its row anew at its next use.
  func rowsMoved() {
    if !sequences.isEmpty { forgetSequences() }
    context.pointee.generation = Generation.next()
  }

  var shownVersion: Version? { frozen?.snapshot.version ?? reader?.snapshot.version }

  var activeWrite: ActiveWrite? {
    guard let session, !session.isEmpty else { return nil }
    return ActiveWrite(session: session, serial: writeSerial)
  }

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
    if let recentBinding, recentBinding.reflection.type == type { return recentBinding }
    let id = ObjectIdentifier(type)
    if let known = bindings[id] ?? frozen?.here().bindings[id] {
      if frozen == nil { recentBinding = known }
      return known
    }
    guard let reflection = model.reflection(of: type) else {
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
    if let frozen { frozen.here().bindings[id] = binding } else { bindings[id] = binding }
    return binding
  }

  /// The schema of what is shown, the open write's if there is one. Bindings of another schema are
  /// forgotten.
  func schemaToBind() -> SchemaView {
    let schema = session?.schema ?? shown().schema
    if boundEpoch != schema.epoch {
      bindings.removeAll()
      dynamicBindings.removeAll()
      recentBinding = nil
      boundEpoch = schema.epoch
    }
    return schema
  }
}

/// Numbers that never repeat in this process.
enum Generation {
  private static let last = Atomic<UInt64>(0)
  static func next() -> UInt64 { last.wrappingAdd(1, ordering: .relaxed).newValue }
}
