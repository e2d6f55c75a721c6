import TarnStore

extension ObjectObservable {
  /// Calls `block` when a property changes, at that moment: see <doc:Properties>.
  ///
  ///     let token = dog.observe(\.age, options: [.old, .new]) { dog, change in
  ///       print(change.oldValue!, "→", change.newValue!)
  ///     }
  ///
  /// A local assignment is told at the assignment, be it to the same value; what others have
  /// committed when the Realm moves there; a cancelled write when it goes back. The key path may
  /// lead over links (`\.mother?.age`), to a collection, or be `\.isInvalidated`. On an unmanaged
  /// object assignments are told in the same way; it cannot be added to a Realm meanwhile.
  ///
  /// Do not change managed objects in the block: it may be called outside of a write. Threading: on
  /// the Realm's thread, queue or actor, needs no later turns. Traps for a frozen or invalidated
  /// object, and for a key path that is no chain of stored properties.
  ///
  /// - Parameters:
  ///   - keyPath: the property, or one of an object that a chain of links leads to.
  ///   - options: what the block wants to be told.
  ///   - block: is called with the object and what happened to the property.
  /// - Returns: a token; keep it for as long as you want to observe. It keeps the object.
  public func observe<Value>(
    _ keyPath: KeyPath<Self, Value>, options: PropertyObservingOptions = [],
    _ block: @escaping (Self, PropertyObservedChange<Value>) -> Void
  ) -> NotificationToken {
    observeProperty(keyPath, options, block)
  }

  // Unavailable it would never be chosen, because the one above takes such a key path, too.
  @available(
    *, deprecated,
    message: """
      LinkingObjects cannot be observed as a property: it is never assigned. Observe the \
      collection itself: object.property.observe { change in … }
      """
  )
  /// Traps: what links to an object is not assigned to it.
  public func observe<Origin>(
    _ keyPath: KeyPath<Self, LinkingObjects<Origin>>, options: PropertyObservingOptions = [],
    _ block: @escaping (Self, PropertyObservedChange<LinkingObjects<Origin>>) -> Void
  ) -> NotificationToken {
    observeProperty(keyPath, options, block)
  }

  private func observeProperty<Value>(
    _ keyPath: KeyPath<Self, Value>, _ options: PropertyObservingOptions,
    _ block: @escaping (Self, PropertyObservedChange<Value>) -> Void
  ) -> NotificationToken {
    if let core = _core {
      core.checkThread()
      if core.isFrozen {
        core.trapFrozen("Cannot observe a property of")
      }
      require(!_isInvalidated, "Cannot observe a deleted or invalidated object.")
    }
    let observation = KeyPathObservation(self, keyPath, options, block)
    if let core = _core { core.add(observation) } else { observation.hook() }
    if options.contains(.initial) { observation.tellInitially(self) }
    return NotificationToken(observation.state, ObservedThing(self, _core?.confinedHost()))
  }
}

/// Keeps an object or collection that is observed, and its instance if it has one.
final class ObservedThing: TokenHost, @unchecked Sendable {
  // because: what it keeps is only let go of.
  private let object: AnyObject
  private let host: ConfinedHost?

  init(_ object: AnyObject, _ host: ConfinedHost?) {
    self.object = object
    self.host = host
  }

  var isCurrent: Bool { host?.isCurrent ?? true }

  /// Observers of an unmanaged object, which may be in use elsewhere now, go when it is asked next.
  func unlink(_ state: ObservationState) { host?.unlink(state) }
}
