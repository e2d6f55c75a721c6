import TarnStore

/// Describes a collection, so that `Results` can be derived from it.
public struct _Derivation {
  let core: RealmCore
  /// Its elements, in its order.
  let spec: QuerySpec
  /// The write that created its owner.
  let createdInWrite: WriteMark?

  init(_ core: RealmCore, _ spec: QuerySpec, createdInWrite: WriteMark?) {
    self.core = core
    self.spec = spec
    self.createdInWrite = createdInWrite
  }

  static func trapUnmanaged() -> Never {
    trap(
      "Only collections which are managed by a Realm can be queried and sorted; add the object "
        + "that owns this one first.")
  }
}

extension ManagedSequence {
  /// The objects or values in the collection. Traps if it is invalidated.
  func derivation(of type: Any.Type) -> _Derivation {
    _ = view()
    guard let type = type as? ObjectBase.Type else {
      let values = ValueQuery(kind: kind, property: property)
      return _Derivation(instance, QuerySpec(values, at: place), createdInWrite: createdInWrite)
    }
    var spec = property.dynamicTarget.map { QuerySpec(dynamicClass: $0) } ?? QuerySpec(type)
    spec.origin = .sequence(place)
    return _Derivation(instance, spec, createdInWrite: createdInWrite)
  }
}

extension _CollectionProperty {
  /// The collection's elements, of that type.
  func derivation(of type: Any.Type) -> _Derivation {
    guard let managed = backing as? ManagedSequence else { _Derivation.trapUnmanaged() }
    return managed.derivation(of: type)
  }
}

extension List {
  public var _derivation: _Derivation { derivation(of: Element.self) }
}

extension MutableSet {
  public var _derivation: _Derivation { derivation(of: Element.self) }
}

extension LinkingObjects {
  public var _derivation: _Derivation {
    guard let target, let core = target._core else { _Derivation.trapUnmanaged() }
    core.checkThread()
    if target._isInvalidated { target._trapInvalid() }
    let binding = core.binding(of: Element.self)
    guard let column = binding.column(originProperty) else {
      trap("internal error: no column for '\(originProperty)'")
    }
    let owner = ObjectRef(classID: target._binding!.classID, key: ObjectKey(target._key))
    var spec = QuerySpec(Element.self)
    spec.origin = .backlinks(to: owner, from: binding.classID, column)
    return _Derivation(core, spec, createdInWrite: target._createdInWrite)
  }
}
