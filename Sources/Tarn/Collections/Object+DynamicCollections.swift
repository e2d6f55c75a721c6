import TarnStore

/// Collections of objects of classes that the program does not have, or need not name.
extension ObjectBase {
  /// The list of that name as one of dynamic objects: live, and changed like any other.
  ///
  /// Traps for an unmanaged object, and if the class has no list of objects of that name.
  public func dynamicList(_ name: String) -> List<DynamicObject> {
    List(_handle: _SequenceHandle(dynamicSequence(name, .list)))
  }

  /// The set of that name as one of dynamic objects; as `dynamicList(_:)`.
  public func dynamicMutableSet(_ name: String) -> MutableSet<DynamicObject> {
    MutableSet(_handle: _SequenceHandle(dynamicSequence(name, .set)))
  }

  /// The map of that name as one of dynamic objects; as `dynamicList(_:)`.
  public func dynamicMap<Key: _MapKey>(_ name: String) -> Map<Key, DynamicObject?> {
    Map(_handle: _SequenceHandle(dynamicSequence(name, .map)))
  }

  private final func dynamicSequence(_ name: String, _ kind: CollectionKind) -> ManagedSequence {
    guard let core = _core else {
      trap("'\(_className).\(name)': an unmanaged object has no dynamic collections.")
    }
    if core.isInvalidated(self) { core.trapInvalid(self) }
    let own = core.binding(for: self)
    let column = own.reflection.property(name).flatMap { own.column($0.name) }
    let binding = core.dynamicBinding(own.reflection.name)
    guard let column, let property = binding.property(column), property.collection == kind,
      property.dynamicTarget != nil
    else {
      trap("Class '\(own.reflection.name)' has no \(kind) of objects '\(name)'.")
    }
    return ManagedSequence(self, column, as: property)
  }
}
