import TarnStore

/// One Realm instance, with the classes of the program and the objects that are added to it.
/// `Realm` is a handle on this.
@usableFromInline
@safe final class RealmCore: Instance {
  let configuration: Realm.Configuration
  let classes: ClassBindings
  /// The bindings that each thread adds to `classes`; nil unless the instance is frozen.
  private let classesOfThreads: ThreadList<ClassBindings>?
  /// Unmanaged objects on their way into the Realm.
  let intake = ObjectIntake()
  /// Live sources that equal collections share.
  let shared: SharedSources
  /// The frozen instance of the version at the last `freeze()`.
  weak var lastFrozen: RealmCore?
  /// On the new side of a migration, the instance of the old side.
  weak var oldSide: RealmCore?
  /// On the new side of a migration, the program's classes, which declare values of new objects.
  var declaredClasses: ModelSchema?
  /// Writes that wait for their turn or for the disk; nil until there is one.
  @safe @exclusivity(unchecked) final var pendingWrites: (any PendingWrites)?
  /// The instance's part of a session with a server; lives as long as the instance.
  var companion: AnyObject?
  /// Called at the instance's end, with its open write if it has one, by the code that created it.
  var takeBack: ((RealmCore) -> Void)?

  init(
    store: Store, configuration: Realm.Configuration, scheduler: Scheduler, model: ModelSchema,
    frozen: FrozenState? = nil
  ) {
    self.configuration = configuration
    classes = ClassBindings(model)
    classesOfThreads = frozen == nil ? nil : ThreadList()
    shared = SharedSources(isFrozen: frozen != nil)
    super.init(
      store: store, scheduler: scheduler, frozen: frozen, tracks: configuration.tracksObservation)
    if scheduler.isActor {
      write.watch = OrphanedWriteCheck(scheduler) { [weak self] in self?.actorLeftWrite() }
    }
  }

  deinit {
    advancer.cancelWork()
    wakeUp?.end()
    pendingWrites?.end()
    takeBack?(self)
  }

  override func problems(at schema: SchemaView) -> [String] { classes.problems(at: schema) }

  override func finishWriting() { pendingWrites?.finishSync() }

  // MARK: - The end of its scheduler

  /// The instance's thread ends, and this is called there. No observer can be called any more;
  /// queued calls, and tokens held elsewhere, would retain the instance.
  func threadEnded() {
    pendingWrites?.abandon()
    dropObservations()
    confined?.letGo()
  }

  /// The actor was deallocated with a write open, and other code still holds the instance.
  func actorLeftWrite() {
    let takeBack = takeBack.take()
    takeBack?(self)
    // No turn runs any more, and a turn that is dropped releases the queued blocks.
    pendingWrites?.askForTurn()
  }

  // MARK: - Classes

  /// The binding of a class in the program. Traps if it is not in the Realm's schema.
  func binding(of type: ObjectBase.Type) -> ClassBinding {
    let schema = schemaToBind()
    if isFrozen {
      // Other threads may ask at the same time.
      if let known = classes.known(type) ?? classesOfThread?.known(type) { return known }
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
        "Object type '\(reflection.name)' is not in the Realm's current version: the program "
          + "has loaded the class since. Call refresh() first.")
    }
    let binding = ClassBinding(reflection, described)
    (classesOfThread ?? classes).keep(binding, for: type)
    return binding
  }

  /// The bindings that the calling thread has added; nil unless the instance is frozen.
  var classesOfThread: ClassBindings? { classesOfThreads?.here { ClassBindings(.empty) } }

  /// The schema of the instance's version, or of its open write. Bindings of another schema are
  /// forgotten.
  func schemaToBind() -> SchemaView {
    let schema = session?.schema ?? shown().schema
    if classes.epoch != schema.epoch { classes.bind(to: schema) }
    return schema
  }
}

/// Writes that wait for their turn or for the disk, as far as the instance knows them.
protocol PendingWrites: AnyObject {
  /// Waits for a commit on its way to the disk, if there is one, and advances the instance.
  func finishSync()
  /// Drops the queue: no completion can be called any more.
  func abandon()
  /// Asks for a turn, from any thread.
  func askForTurn()
  /// The instance is released.
  func end()
}

// Every instance is a RealmCore, so these casts are not checked.

extension ObjectBase {
  /// The instance that the object belongs to; nil while it is unmanaged.
  @inline(__always)
  final var _core: RealmCore? { _instance.map { unsafe unsafeDowncast($0, to: RealmCore.self) } }
}

extension Realm {
  var core: RealmCore { unsafe unsafeDowncast(instance, to: RealmCore.self) }
}

extension SequenceBacking {
  /// The instance that the sequence belongs to; nil while it is unmanaged.
  var core: RealmCore? { ownInstance.map { unsafe unsafeDowncast($0, to: RealmCore.self) } }
}
