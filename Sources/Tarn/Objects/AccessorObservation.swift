import TarnStore

/// An observation of an object. It is bound to the row, not to the accessor: a stale accessor is
/// brought up to date before each call.
final class AccessorObservation: ObjectObservation {
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

extension RealmCore {
  func observe(
    _ object: ObjectBase, along keyPaths: [String]?,
    _ block: @escaping (ObjectChange<ObjectBase>) -> Void
  ) -> NotificationToken {
    checkCanObserve()
    require(!isInvalidated(object), "Cannot observe a deleted or invalidated object.")
    let id = object._binding!.classID
    let reach = KeyPathReader.reach(keyPaths, from: [binding(for: object)], self)
    var watch: PathWatch?
    if case .paths(let paths)? = reach {
      watch = delivery.observers.watch(id, paths, shown().schema)
    }
    let state = ObservationState(.object(id, ObjectKey(object._key)))
    _ = shown()
    delivery.observers.add(AccessorObservation(self, object, watch, state: state, block: block))
    return NotificationToken(state, confinedHost())
  }
}
