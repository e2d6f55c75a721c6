import TarnStore

extension _CollectionProperty {
  /// Calls `block` when the object that has the collection is deleted, or its deletion is
  /// cancelled: see <doc:Properties>. To observe the elements, observe the object's property:
  /// `person.observe(\.dogs)`.
  ///
  /// `block` is called on the Realm's thread, queue or actor, at that moment. Traps for a key path
  /// other than `\.isInvalidated`, and for a collection that is frozen, invalidated, or within a
  /// value.
  ///
  /// - Returns: a token; keep it for as long as you want to observe. It retains the collection.
  public func observe(
    _ keyPath: KeyPath<Self, Bool>, options: PropertyObservingOptions = [],
    _ block: @escaping (Self, PropertyObservedChange<Bool>) -> Void
  ) -> NotificationToken {
    observeEnd(keyPath == Self._isInvalidatedPath, options, block)
  }
}

extension _CollectionProperty {
  fileprivate func observeEnd(
    _ isInvalidation: Bool, _ options: PropertyObservingOptions,
    _ block: @escaping (Self, PropertyObservedChange<Bool>) -> Void
  ) -> NotificationToken {
    require(
      isInvalidation,
      "The only property of a collection that can be observed is \\.isInvalidated. Observe its "
        + "elements with collection.observe { change in … }, or as a property of the object that "
        + "owns it.")
    let managed = backing as? ManagedSequence
    if let managed {
      managed.instance.checkThread()
      if managed.instance.isFrozen {
        managed.instance.trapFrozen("Cannot observe a property of")
      }
      require(
        managed.place.nested == nil,
        "A collection within a value cannot be observed as a property: observe the property.")
      require(!managed.isInvalidated, "Cannot observe an invalidated collection.")
    }
    let observation = SequenceEndObservation(self, managed, options, block)
    managed?.instance.add(observation)
    if options.contains(.initial) { observation.tellInitially() }
    let host = managed?.instance.confinedHost()
    return NotificationToken(observation.state, ObservedThing(self, host))
  }
}

/// Observes the existence of a collection's object.
private final class SequenceEndObservation<C: _CollectionProperty>: PropertyObservation {
  /// The token retains it.
  private weak var collection: C?
  /// The row of its object; nil for an unmanaged collection, which is never deleted.
  private let row: Row?
  private let options: PropertyObservingOptions
  private let block: (C, PropertyObservedChange<Bool>) -> Void

  init(
    _ collection: C, _ sequence: ManagedSequence?, _ options: PropertyObservingOptions,
    _ block: @escaping (C, PropertyObservedChange<Bool>) -> Void
  ) {
    self.collection = collection
    self.options = options
    self.block = block
    row = sequence.map { sequence in
      let place = sequence.place
      return Row(
        core: sequence.instance, target: ObjectRef(classID: place.classID, key: place.key))
    }
  }

  private struct Row {
    unowned let core: RealmCore
    let target: ObjectRef
  }

  func tellInitially() { tell(old: nil, isPrior: false) }

  override func hook() {
    guard let row else { return }
    let hook = PropertyRegistration(observation: self, column: nil, isRoot: true, isLast: true)
    row.core.properties?.hook(hook, to: row.target)
  }

  override func begin(_ kind: PropertyEffect.Kind) -> (() -> Void)? {
    guard kind.isOfObject else { return nil }
    let old = kind == .returning
    if options.contains(.prior) { tell(old: old, isPrior: true) }
    return { [self] in tell(old: old, isPrior: false) }
  }

  private func tell(old: Bool?, isPrior: Bool) {
    guard let collection else { return }
    let new = collection.backing.isInvalidated
    block(
      collection,
      PropertyObservedChange(
        kind: .setting, indexes: nil, oldValue: options.contains(.old) ? old : nil,
        newValue: options.contains(.new) && !isPrior ? new : nil, isPrior: isPrior))
  }
}
