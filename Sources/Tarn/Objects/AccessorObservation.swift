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
    _ core: RealmCore, _ object: ObjectBase, state: ObservationState,
    block: @escaping (ObjectChange<ObjectBase>) -> Void
  ) {
    self.core = core
    self.object = object
    self.block = block
    super.init(
      state: state, serial: core.delivery.observers.claimSerial(), seen: core.step,
      classID: object._binding!.classID, key: ObjectKey(object._key))
  }

  override func tell(_ oldValues: [(column: ColumnID, Value)]) {
    if object._life != core.state.life || object._state.contains(.invalidated) {
      object = core.object(key, core.binding(for: object))
    }
    let binding = core.binding(for: object)
    let changes = binding.properties(of: oldValues).map { property, old in
      PropertyChange(
        name: property.name, oldValue: core.swiftValue(old, of: property),
        newValue: property.readFlat(object))
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
    _ core: RealmCore, _ object: ObjectBase, state: ObservationState, signal: ChangeSignal,
    block: @escaping (ObjectChange<ObjectBase>) -> Void
  ) {
    self.signal = signal
    super.init(core, object, state: state, block: block)
  }

  var isExhausted: Bool { false }

  override func log(_ news: ObjectNews, step: Int) {
    super.log(news, step: step)
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
  func observe(
    _ object: ObjectBase, _ block: @escaping (ObjectChange<ObjectBase>) -> Void
  ) -> NotificationToken {
    add(AccessorObservation(self, object, state: observedState(object), block: block))
  }

  /// The changes of an object, for who asks.
  func changes(of object: ObjectBase) -> ChangeFeed<ObjectChange<ObjectBase>> {
    ChangeFeed(on: self) { [self] signal, inbox in
      let observation = PulledAccessorObservation(
        self, object, state: observedState(object), signal: signal
      ) { inbox.change = $0 }
      return (observation, add(observation))
    }
  }

  /// Traps for what cannot be observed.
  private func observedState(_ object: ObjectBase) -> ObservationState {
    checkCanObserve()
    require(!isInvalidated(object), "Cannot observe a deleted or invalidated object.")
    return ObservationState(.object(object._binding!.classID, ObjectKey(object._key)))
  }

  private func add(_ observation: AccessorObservation) -> NotificationToken {
    _ = shown()
    delivery.observers.add(observation)
    return NotificationToken(observation.state, confinedHost())
  }
}
