import TarnStore

// Collections in other instances of their file: frozen, and live again.

extension _CollectionProperty {
  public func _counterpart(in realm: Realm) -> Self? {
    guard let managed = backing as? ManagedSequence else { return nil }
    return ManagedSequence(managed, in: realm.core).map { Self(_handle: _SequenceHandle($0)) }
  }
}

extension Results {
  public func _counterpart(in realm: Realm) -> Results? {
    let other = realm.core
    if let owner = spec.origin?.owner, !other.has(owner) { return nil }
    return Results(other, spec)
  }
}

extension LinkingObjects {
  public func _counterpart(in realm: Realm) -> LinkingObjects? {
    guard let target = target?._counterpart(in: realm) else { return nil }
    return LinkingObjects(originProperty: originProperty, target: target)
  }
}
