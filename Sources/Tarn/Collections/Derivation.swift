import TarnStore

/// What a collection says of itself, so that results can be made of it.
public struct _Derivation {
  let core: RealmCore
  /// The elements that it has, in its order.
  let spec: QuerySpec
  /// The write that made what it belongs to.
  let createdInWrite: WriteMark?

  init(_ core: RealmCore, _ spec: QuerySpec, createdInWrite: WriteMark?) {
    self.core = core
    self.spec = spec
    self.createdInWrite = createdInWrite
  }

  static func trapUnmanaged() -> Never {
    trap(
      "Only collections which are managed by a Realm can be queried and sorted; add the object "
        + "that has this one first.")
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
