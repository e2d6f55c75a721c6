import TarnStore

extension LinkingObjects: PositionedCollection, DumpedCollection {
  /// The Realm of the object that is linked to, nil while it is unmanaged.
  public var realm: Realm? { target?.realm }

  /// True if the link target was deleted or its Realm invalidated.
  public var isInvalidated: Bool { target?.isInvalidated ?? false }

  /// The first position of an object of this Realm, or nil. Traps for a deleted object.
  public func index(of object: Element) -> Int? {
    guard let target, object._core === target._core else { return nil }
    object.requirePosition()
    return keys.firstIndex(of: ObjectKey(object._key))
  }

  /// True if both are the backlinks of one object through one property.
  public static func == (a: Self, b: Self) -> Bool {
    guard a.originProperty == b.originProperty else { return false }
    guard let first = a.target, let second = b.target else { return a.target === b.target }
    return first === second || first._isSameRow(as: second)
  }

  func append(to dump: inout TextDump) {
    append("LinkingObjects<\(Element.textOfType)>", to: &dump)
  }

  var observed: ObservedPositions<LinkingObjects, Element> {
    guard let target, let core = target._core else { trapUnobserved() }
    let source = core.liveBacklinks(target, from: Element.self, property: originProperty)
    return ObservedPositions(core: core, source: source, isDynamic: false) {
      revived(core)
    } element: { value in
      guard case .link(let key) = value else { trap("no object links here: bug in this package") }
      return Element._element(of: core.object(Element.self, key))
    }
  }

  /// The same in the instance's present life.
  private func revived(_ core: RealmCore) -> Self {
    guard let target, target._life != core.state.life else { return self }
    return Self(
      originProperty: originProperty,
      target: core.object(type(of: target), ObjectKey(target._key)))
  }
}

extension RealmCore {
  /// The source that all observers of these backlinks share.
  fileprivate func liveBacklinks(
    _ target: ObjectBase, from origin: ObjectBase.Type, property: String
  ) -> LiveSource<BacklinksModel> {
    checkThread()
    if target._isInvalidated { target._trapInvalid() }
    let binding = binding(of: origin)
    guard let column = binding.column(property) else {
      trap("internal error: no column for '\(property)'")
    }
    let owner = ObjectRef(classID: target._binding!.classID, key: ObjectKey(target._key))
    let name = WeakTable.Name(BacklinksName(owner: owner, origin: binding.classID, column: column))
    if let known = shared.backlinks.known(name) as? LiveSource<BacklinksModel>, !known.isGone {
      return known
    }
    let model = BacklinksModel(to: owner, from: binding.classID, column, shown().schema)
    return shared.backlinks.share(LiveSource(model, on: self), as: name)
  }
}
