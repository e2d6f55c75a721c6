import TarnStore

/// Identifies a list, set or map in every Realm of its file, by its place.
private struct SequenceThreadReference<Collection: _CollectionProperty & ThreadConfined>:
  ThreadReference
{
  let place: SequencePlace
  let property: PropertyReflection
  let kind: CollectionKind

  var anchor: ThreadReferenceAnchor { .sequence(place) }

  func arrival(in core: RealmCore) -> (any ThreadConfined)? {
    guard core.sequence(at: place)?.reading != nil else { return nil }
    let sequence = ManagedSequence(
      core, property, kind, at: place, createdInWrite: core.writeThatMade(place))
    return Collection(_handle: _SequenceHandle(sequence))
  }
}

extension _CollectionProperty where Self: ThreadConfined {
  public func _threadReference() -> _ThreadReference {
    guard let managed = backing as? ManagedSequence else {
      trap("internal error: an unmanaged collection has no place")
    }
    return _ThreadReference(
      SequenceThreadReference<Self>(
        place: managed.place, property: managed.property, kind: managed.kind),
      createdInWrite: managed.instance.writeThatMade(managed.place) ?? managed.createdInWrite)
  }
}
