import TarnStore

/// What backlinks are to every Realm of their file: the object that is linked to, and through which
/// property.
private struct LinkingPassage<Element: ObjectBase>: Passage {
  let target: ObjectPassage
  let originProperty: String

  var anchor: PassageAnchor { target.anchor }

  func arrival(in core: RealmCore) -> (any ThreadConfined)? {
    target.object(in: core).map {
      LinkingObjects<Element>(originProperty: originProperty, target: $0)
    }
  }
}

extension LinkingObjects {
  public func _passage() -> _Passage {
    guard let target else { trap("internal error: backlinks without an object") }
    return _Passage(
      LinkingPassage<Element>(target: target.objectPassage, originProperty: originProperty),
      createdInWrite: target._createdInWrite)
  }
}
