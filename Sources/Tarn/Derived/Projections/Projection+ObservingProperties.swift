import TarnStore

extension ProjectionObservable where Root: ObjectObservable {
  /// Calls `block` when a projected property changes, at that moment. This is as if the property
  /// that it projects were observed: see <doc:Properties>.
  ///
  ///     let token = card.observe(\.name, options: .old) { card, change in
  ///       print(change.oldValue!, "→", card.name)
  ///     }
  ///
  /// The property may be reached through links, and end in a collection. `\.isInvalidated` can be
  /// observed, too. Traps for a property that projects a computed one or those of the objects in a
  /// list or set, for a key path that continues behind a projected property, and in the same cases
  /// as for objects.
  ///
  /// - Parameters:
  ///   - keyPath: the property of the projection.
  ///   - options: the values and calls that the block needs.
  ///   - block: called with a projection of the object and the change of the property.
  /// - Returns: a token; retain it for as long as you want to observe. It retains the object.
  public func observe<Value>(
    _ keyPath: KeyPath<Self, Value>, options: PropertyObservingOptions = [],
    _ block: @escaping (Self, PropertyObservedChange<Value>) -> Void
  ) -> NotificationToken {
    rootObject.observe(projected(keyPath), options: options) { [weak self] root, change in
      // An unmanaged object retains its observers, which must not retain it.
      let known = self.flatMap { $0.rootObject === root ? $0 : nil }
      block(known ?? Self(projecting: root), change)
    }
  }

  /// The key path of the object that a property of the projection stands for.
  private func projected<Value>(_ keyPath: KeyPath<Self, Value>) -> KeyPath<Root, Value> {
    // Key paths from a class and from its superclass differ, but not their getters.
    let end = KeyPathShape(\Projection<Root>.isInvalidated)?.onlyProperty
    if let end, KeyPathShape(keyPath)?.onlyProperty?.getter == end.getter,
      let end = \Root.isInvalidated as? KeyPath<Root, Value>
    {
      return end
    }
    let names = Self.properties(along: keyPath, for: .property).steps.map(\.name)
    let property = ProjectionLayout.of(type(of: self)).properties.first {
      !$0.isProjectedCollection && $0.path.map(\.name) == names
    }
    guard let property, let projected = property.keyPath as? KeyPath<Root, Value> else {
      trap(
        "A key path of '\(Self.self)' to a value of type '\(Value.self)' is not one projected "
          + "property of one object. Observe the object, or the collection.")
    }
    return projected
  }
}
