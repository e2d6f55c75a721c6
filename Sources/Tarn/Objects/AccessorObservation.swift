import TarnStore

/// An observation of an object. It is bound to the row, not to the accessor: a stale accessor is
/// brought up to date before each call.
class AccessorObservation: ObjectObservation {
  // The instance has its observations.
  private unowned let core: RealmCore
  /// Replaced by a new accessor if the program has invalidated the instance meanwhile.
  private var object: ObjectBase
  private let block: (ObjectChange<ObjectBase>) -> Void

  init(
    _ core: RealmCore, _ object: ObjectBase, _ watch: PathWatch?, state: ObservationState,
    block: @escaping (ObjectChange<ObjectBase>) -> Void
  ) {
    self.core = core
    self.object = object
    self.block = block
    super.init(
      state: state, serial: core.delivery.observers.claimSerial(), seen: core.step,
      classID: object._binding!.classID, key: ObjectKey(object._key), watch)
  }

  override func tell(_ oldValues: [(column: ColumnID, Value)], backlinks: Set<Int>) {
    if object._life != core.state.life || object._state.contains(.invalidated) {
      object = core.object(key, core.binding(for: object))
    }
    let binding = core.binding(for: object)
    var changes = binding.properties(of: oldValues).map { property, old in
      PropertyChange(
        name: property.name, oldValue: core.swiftValue(old, of: property),
        newValue: property.readFlat(object))
    }
    changes += backlinks.sorted().map { number in
      PropertyChange(
        name: binding.reflection.properties[number].name, oldValue: nil, newValue: nil)
    }
    if !changes.isEmpty { block(.change(object, changes)) }
  }

  override func tellOfDeletion() { block(.deleted) }

  override func end(with error: StorageError) {
    if state.end() { block(.error(Realm.Error(error))) }
  }
}

/// An observation of an object that is asked for its news.
final class PulledAccessorObservation: AccessorObservation, PulledObservation {
  private let signal: ChangeSignal

  init(
    _ core: RealmCore, _ object: ObjectBase, _ watch: PathWatch?, state: ObservationState,
    signal: ChangeSignal, block: @escaping (ObjectChange<ObjectBase>) -> Void
  ) {
    self.signal = signal
    super.init(core, object, watch, state: state, block: block)
  }

  var isExhausted: Bool { false }

  override func log(_ news: ObjectNews, step: Int) -> Bool {
    defer { mergeEntries() }
    return super.log(news, step: step)
  }

  override func log(behind property: PathWatch.FirstProperty, _ value: Value, step: Int) {
    super.log(behind: property, value, step: step)
    mergeEntries()
  }

  override func hasPendingChange(upTo target: Int) -> Bool {
    signal.isWaiting && super.hasPendingChange(upTo: target)
  }

  override func deliver(upTo target: Int, _ host: any DeliveryHost) { signal.wake() }

  func pull(_ host: any DeliveryHost) {
    if hasEntries { super.deliver(upTo: host.step, host) }
  }

  override func end(with error: StorageError) {
    super.end(with: error)
    signal.wake()
  }
}

extension RealmCore {
  /// The key paths of an object as the file has them; nil without any. Traps for those of which
  /// its class knows nothing.
  func observedPaths(from object: ObjectBase, _ keyPaths: [String]?) -> [ObservedPath]? {
    checkThread()
    let reach = KeyPathReader.reach(keyPaths, from: [binding(for: object)], self)
    if case .paths(let paths)? = reach { return paths } else { return nil }
  }

  func observe(
    _ object: ObjectBase, along paths: [ObservedPath]?,
    _ block: @escaping (ObjectChange<ObjectBase>) -> Void
  ) -> NotificationToken {
    let (state, watch) = observed(object, along: paths)
    return add(AccessorObservation(self, object, watch, state: state, block: block))
  }

  /// The changes of an object, for who asks.
  func changes(
    of object: ObjectBase, along paths: [ObservedPath]?
  ) -> ChangeFeed<ObjectChange<ObjectBase>> {
    ChangeFeed(on: self) { [self] signal, inbox in
      let (state, watch) = observed(object, along: paths)
      let observation = PulledAccessorObservation(
        self, object, watch, state: state, signal: signal
      ) { inbox.change = $0 }
      return (observation, add(observation))
    }
  }

  /// Traps for what cannot be observed.
  private func observed(
    _ object: ObjectBase, along paths: [ObservedPath]?
  ) -> (ObservationState, PathWatch?) {
    checkCanObserve()
    require(!isInvalidated(object), "Cannot observe a deleted or invalidated object.")
    let id = object._binding!.classID
    let state = ObservationState(.object(id, ObjectKey(object._key)))
    return (state, paths.map { delivery.observers.watch(id, $0, shown().schema) })
  }

  private func add(_ observation: AccessorObservation) -> NotificationToken {
    _ = shown()
    delivery.observers.add(observation)
    return NotificationToken(observation.state, confinedHost())
  }
}
