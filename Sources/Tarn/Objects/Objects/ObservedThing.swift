import TarnStore

extension ObjectObservable {
  /// Calls `block` when a property changes, at that moment: see <doc:Properties>.
  ///
  ///     let token = dog.observe(\.age, options: [.old, .new]) { dog, change in
  ///       print(change.oldValue!, "→", change.newValue!)
  ///     }
  ///
  /// A local assignment is reported when it is made, even if the value stays the same; commits of
  /// others when the Realm advances; a cancelled write when the value is restored. The key path may
  /// follow links (`\.mother?.age`), end in a collection, or be `\.isInvalidated`. Assignments to
  /// an unmanaged object are reported in the same way; it cannot be added to a Realm meanwhile.
  ///
  /// Do not change managed objects in the block: it may be called outside of a write. Threading: on
  /// the Realm's thread, queue or actor, needs no later turns. Traps for a frozen or invalidated
  /// object, and for a key path that is not a chain of stored properties.
  ///
  /// - Parameters:
  ///   - keyPath: the property, or one reached through a chain of links.
  ///   - options: the values and calls that the block needs.
  ///   - block: called with the object and the change of the property.
  /// - Returns: a token; retain it for as long as you want to observe. It retains the object.
  public func observe<Value>(
    _ keyPath: KeyPath<Self, Value>, options: PropertyObservingOptions = [],
    _ block: @escaping (Self, PropertyObservedChange<Value>) -> Void
  ) -> NotificationToken {
    observeProperty(keyPath, options, block)
  }

  // If this were unavailable, it would never be chosen, because the method above also takes such a
  // key path.
  @available(
    *, deprecated,
    message: """
      LinkingObjects cannot be observed as a property: it is never assigned. Observe the \
      collection itself: object.property.observe { change in … }
      """
  )
  /// Traps: backlinks are never assigned.
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

/// Retains an observed object or collection, and its instance if it has one.
final class ObservedThing: TokenHost, @unchecked Sendable {
  // because: the object is only released.
  private let object: AnyObject
  private let host: ConfinedHost?

  init(_ object: AnyObject, _ host: ConfinedHost?) {
    self.object = object
    self.host = host
  }

  var isCurrent: Bool { host?.isCurrent ?? true }

  /// Observers of an unmanaged object, which may be in use elsewhere now, are removed at its next
  /// change.
  func unlink(_ state: ObservationState) { host?.unlink(state) }
}
