import TarnStore

/// Identifies a projection in every Realm of its file, by its object.
private struct ProjectionPassage<Root: ObjectBase>: Passage {
  let root: ObjectPassage
  let type: Projection<Root>.Type

  var anchor: PassageAnchor { root.anchor }

  func arrival(in core: RealmCore) -> (any ThreadConfined)? {
    root.object(in: core).map { type.init(projecting: unsafe unsafeDowncast($0, to: Root.self)) }
  }
}

extension Projection {
  public func _passage() -> _Passage {
    _Passage(
      ProjectionPassage(root: rootObject.objectPassage, type: Swift.type(of: self)),
      createdInWrite: rootObject._createdInWrite)
  }
}
