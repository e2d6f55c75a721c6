import TarnStore

extension LinkingObjects: RealmCollection, DumpedCollection {
  /// The Realm of the link target, nil while it is unmanaged.
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

  func append(to dump: inout TextDump) { append("LinkingObjects<\(Element.self)>", to: &dump) }

  /// Calls `block` first with `.initial` and then with the exact changes whenever objects began or
  /// ceased to link here, or a linking object has changed, itself or up to three links away. An
  /// object that links here twice is in the collection twice. If the link target is deleted, all
  /// objects are reported as deleted, and nothing follows.
  ///
  /// Traps on an unmanaged or invalidated object, on a thread that has no later turns, and in a
  /// write that has changed something.
  ///
  /// - Returns: a token; retain it for as long as you want to observe.
  public func observe(
    _ block: @escaping (RealmCollectionChange<LinkingObjects<Element>>) -> Void
  ) -> NotificationToken {
    _observe(.standard, block)
  }

  public func _observe(
    _ look: _Look, _ block: @escaping (RealmCollectionChange<LinkingObjects<Element>>) -> Void
  ) -> NotificationToken {
    let (core, source) = observed
    return core.observe(source, look, isDynamic: false) { [self] news in
      switch news {
      case .initial: block(.initial(revived(core)))
      case .update(.keys), .update(.derived): break
      case .update(.indices(let changes)):
        block(
          .update(
            revived(core), deletions: changes.deletions, insertions: changes.insertions,
            modifications: changes.modifications))
      case .error(let error): block(.error(Realm.Error(error)))
      }
    }
  }

  public var _changeOrigin: _ChangeOrigin<ObservedChange<LinkingObjects, CollectionDelta<Element>>>
  {
    let (core, source) = observed
    return core.changeOrigin(of: source, isDynamic: false) {
      revived(core)
    } _: { value in
      guard case .link(let key) = value else { trap("internal error: no object links here") }
      return Element._element(of: core.object(Element.self, key))
    }
  }

  private var observed: (core: RealmCore, source: LiveSource<BacklinksModel>) {
    guard let target, let core = target._core else {
      trap(
        "Only collections which are managed by a Realm support change notifications; add the "
          + "object that owns this one first.")
    }
    return (core, core.liveBacklinks(target, from: Element.self, property: originProperty))
  }

  /// The same collection in the instance's present life.
  private func revived(_ core: RealmCore) -> Self {
    guard let target, target._life != core.state.life else { return self }
    return Self(
      originProperty: originProperty,
      target: core.object(type(of: target), ObjectKey(target._key)))
  }
}

extension RealmCore {
  fileprivate func liveBacklinks(
    _ target: ObjectBase, from origin: ObjectBase.Type, property: String
  ) -> LiveSource<BacklinksModel> {
    checkThread()
    if target._isInvalidated { target._trapInvalid() }
    let binding = binding(of: origin)
    guard let column = binding.column(property) else {
      trap("internal error: no column for '\(property)'")
    }
    let owner = LinkTarget(classID: target._binding!.classID, key: ObjectKey(target._key))
    let model = BacklinksModel(to: owner, from: binding.classID, column, shown().schema)
    return LiveSource(model, on: self)
  }
}
