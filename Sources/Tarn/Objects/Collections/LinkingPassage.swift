import TarnStore

/// Identifies backlinks in every Realm of their file: the link target and the linking property.
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
