import TarnStore

/// The observed part of an object, and the form of its changes.
struct ObjectScope {
  /// Nil for all of the object's own properties.
  var paths: [ScopePath]?
  /// The reported ends of key paths, by their numbers; the others report their first property.
  var ends: [Int: ScopePath] = [:]
  /// Converts the old values at those ends into changes.
  var wording: ((_ object: ObjectBase, _ ends: [Int: Value]) -> [PropertyChange])?
}

/// An observation of an object. It is bound to the row, not to the accessor: a stale accessor is
/// updated before each call.
class AccessorObservation: ObjectObservation {
  // The instance owns its observations.
  private unowned let core: RealmCore
  /// Replaced by a new accessor if the program has invalidated the instance meanwhile.
  private var object: ObjectBase
  private let scope: ObjectScope
  private let block: (ObjectChange<ObjectBase>) -> Void

  /// - Parameter state: the state of an observable object.
  init(
    _ core: RealmCore, _ object: ObjectBase, _ scope: ObjectScope, state: ObservationState,
    block: @escaping (ObjectChange<ObjectBase>) -> Void
  ) {
    self.core = core
    self.object = object
    self.scope = scope
    self.block = block
    let (id, observers) = (object._binding!.classID, core.delivery.observers)
    super.init(
      state: state, serial: observers.claimSerial(), seen: core.step, classID: id,
      key: ObjectKey(object._key),
      scope.paths.map { observers.watch(id, $0, ends: scope.ends, core.shown().schema) })
  }

  override var isGone: Bool {
    revive()
    return object._isInvalidated
  }

  private func revive() {
    if object._life != core.state.life || object._state.contains(.invalidated) {
      object = core.object(key, core.binding(for: object))
    }
  }

  override func tell(_ oldValues: [(column: ColumnID, Value)], ends: [Int: Value]) {
    revive()
    let changes = scope.wording?(object, ends) ?? changes(oldValues, backlinks: ends.keys.sorted())
    if !changes.isEmpty { block(.change(object, changes)) }
  }

  private func changes(
    _ oldValues: [(column: ColumnID, Value)], backlinks: [Int]
  ) -> [PropertyChange] {
    let binding = core.binding(for: object)
    let own = binding.properties(of: oldValues).map { property, old in
      PropertyChange(
        name: property.name, oldValue: core.swiftValue(old, of: property),
        newValue: property.readFlat(object))
    }
    return own
      + backlinks.map { number in
        PropertyChange(
          name: binding.reflection.properties[number].name, oldValue: nil, newValue: nil)
      }
  }

  override func tellOfDeletion() { block(.deleted) }

  override func end(with error: StorageError) {
    if state.end() { block(.error(Realm.Error(error))) }
  }
}

/// An observation of an object whose changes are pulled.
final class PulledAccessorObservation: AccessorObservation, PulledObservation {
  private let signal: ChangeSignal

  init(
    _ core: RealmCore, _ object: ObjectBase, _ scope: ObjectScope, state: ObservationState,
    signal: ChangeSignal, block: @escaping (ObjectChange<ObjectBase>) -> Void
  ) {
    self.signal = signal
    super.init(core, object, scope, state: state, block: block)
  }

  var isExhausted: Bool { false }

  override func log(_ news: ObjectNews, step: Int) -> Bool {
    defer { mergeEntries() }
    return super.log(news, step: step)
  }

  override func log(
    behind property: KeyPathScope.FirstProperty, _ value: Value, end: Value?, step: Int
  ) {
    super.log(behind: property, value, end: end, step: step)
    mergeEntries()
  }

  override func hasPendingChange(upTo target: Int) -> Bool {
    signal.isWaiting && super.hasPendingChange(upTo: target)
  }

  override func deliver(upTo target: Int, _ host: any DeliveryHost) { signal.wake() }

  func pull(_ host: any DeliveryHost) {
    if hasEntries { super.deliver(upTo: host.step, host) }
    if hasEntries { host.scheduleTurn() }
  }

  override func end(with error: StorageError) {
    super.end(with: error)
    signal.wake()
  }
}

extension RealmCore {
  /// The key paths of an object with the names in the file; nil without any. Traps for a name that
  /// its class does not have.
  func observedPaths(from object: ObjectBase, _ keyPaths: [String]?) -> [ScopePath]? {
    checkThread()
    let scope = KeyPathResolver.observedScope(keyPaths, from: [binding(for: object)], self)
    if case .paths(let paths)? = scope { return paths } else { return nil }
  }

  func observe(
    _ object: ObjectBase, _ scope: ObjectScope,
    _ block: @escaping (ObjectChange<ObjectBase>) -> Void
  ) -> NotificationToken {
    let state = observedState(object)
    return add(AccessorObservation(self, object, scope, state: state, block: block))
  }

  /// The changes of an object, for a loop.
  func changes(
    of object: ObjectBase, _ scope: ObjectScope
  ) -> ChangeFeed<ObjectChange<ObjectBase>> {
    ChangeFeed(on: self) { [self] signal, inbox in
      let state = observedState(object)
      let observation = PulledAccessorObservation(
        self, object, scope, state: state, signal: signal
      ) { inbox.change = $0 }
      return (observation, add(observation))
    }
  }

  /// Traps for an object that cannot be observed.
  private func observedState(_ object: ObjectBase) -> ObservationState {
    checkCanObserve()
    require(!object._isInvalidated, "Cannot observe a deleted or invalidated object.")
    return ObservationState(.object(object._binding!.classID, ObjectKey(object._key)))
  }

  private func add(_ observation: AccessorObservation) -> NotificationToken {
    _ = shown()
    delivery.observers.add(observation)
    return NotificationToken(observation.state, confinedHost())
  }
}
