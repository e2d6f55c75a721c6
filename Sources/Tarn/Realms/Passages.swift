import TarnStore

// What each kind of object and collection is to every Realm of its file.

/// An object: the class and the key of its row.
struct ObjectPassage: Passage {
  let row: LinkTarget
  private let type: ObjectBase.Type
  /// The class's name in the file, for a dynamic object.
  private let dynamicClass: String?

  /// Nil for an unmanaged object.
  init?(_ object: ObjectBase) {
    guard let binding = object._binding else { return nil }
    row = LinkTarget(classID: binding.classID, key: ObjectKey(object._key))
    type = Swift.type(of: object)
    dynamicClass = object is DynamicObject ? binding.reflection.name : nil
  }

  var anchor: PassageAnchor { .row(row) }

  func object(in core: RealmCore) -> ObjectBase? {
    let binding = dynamicClass.map { core.dynamicBinding($0) } ?? core.binding(of: type)
    guard binding.classID == row.classID else { return nil }
    return core.object(row.key, existingIn: binding)
  }

  func arrival(in core: RealmCore) -> (any ThreadConfined)? { object(in: core) }
}

extension ObjectBase {
  /// Traps for an unmanaged object.
  final var objectPassage: ObjectPassage {
    guard let passage = ObjectPassage(self) else {
      trap("an unmanaged object has no row: bug in this package")
    }
    return passage
  }

  public func _passage() -> _Passage {
    _Passage(objectPassage, createdInWrite: _createdInWrite)
  }
}

/// A list, set or map: where it is.
private struct SequencePassage<Collection: _CollectionProperty & ThreadConfined>: Passage {
  let place: SequencePlace
  let property: PropertyReflection
  let kind: CollectionKind

  var anchor: PassageAnchor { .sequence(place) }

  func arrival(in core: RealmCore) -> (any ThreadConfined)? {
    guard core.sequence(at: place)?.reading != nil else { return nil }
    let sequence = ManagedSequence(
      core, property, kind, at: place, createdInWrite: core.writeThatMade(place))
    return Collection(_handle: _SequenceHandle(sequence))
  }
}

extension _CollectionProperty where Self: ThreadConfined {
  public func _passage() -> _Passage {
    guard let managed = backing as? ManagedSequence else {
      trap("an unmanaged collection has no place: bug in this package")
    }
    return _Passage(
      SequencePassage<Self>(
        place: managed.place, property: managed.property, kind: managed.kind),
      createdInWrite: managed.instance.writeThatMade(managed.place) ?? managed.createdInWrite)
  }
}

/// Results: what they ask for.
private struct ResultsPassage<Element: RealmCollectionValue>: Passage {
  let spec: QuerySpec

  var anchor: PassageAnchor {
    switch spec.origin {
    case .sequence(let place): .sequence(place)
    case .backlinks(let target, _, _): .row(target)
    case .objects, nil: .nothing
    }
  }

  func arrival(in core: RealmCore) -> (any ThreadConfined)? {
    if let owner = spec.origin?.owner, !core.has(owner) { return nil }
    return Results<Element>(core, spec, createdInWrite: core.writeThatMadeOrigin(of: spec))
  }
}

extension Results {
  /// Traps for those of a collection that the open write made.
  public func _passage() -> _Passage {
    require(
      core.writeThatMadeOrigin(of: spec) == nil,
      "This Results<\(Element.self)> is derived from a collection that was created in the open "
        + "write, and cannot be passed on before that is committed. Pass the collection or its "
        + "object and derive the results where they arrive, or commit first.")
    return _Passage(ResultsPassage<Element>(spec: spec), createdInWrite: createdInWrite)
  }
}

extension RealmCore {
  /// The open write, if it made the collection that results are of.
  fileprivate func writeThatMadeOrigin(of spec: QuerySpec) -> WriteMark? {
    switch spec.origin {
    case .sequence(let place): writeThatMade(place)
    case .backlinks(let target, _, _): writeThatMade(target)
    case .objects, nil: nil
    }
  }
}

/// Backlinks: the object that is linked to, and through which property.
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
    guard let target else { trap("backlinks of no object: bug in this package") }
    return _Passage(
      LinkingPassage<Element>(target: target.objectPassage, originProperty: originProperty),
      createdInWrite: target._createdInWrite)
  }
}

/// A projection: its object.
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
