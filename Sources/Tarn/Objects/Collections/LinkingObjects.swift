import TarnStore

/// The objects that link to this one through one of their properties.
///
///     @Persisted(originProperty: "dogs") var owners: LinkingObjects<Person>
///
/// Computed at each use from the index that every link has, never stored. Live: it is at the
/// version of the object's Realm. Empty for an unmanaged object. In the order of object keys.
public struct LinkingObjects<Element: ObjectBase> {
  let originProperty: String
  /// The link target; nil until it is read from a managed one.
  let target: ObjectBase?

  init(originProperty: String, target: ObjectBase?) {
    self.originProperty = originProperty
    self.target = target
  }

  /// The objects of class `fromType` whose property `property` links to the object.
  public init(fromType _: Element.Type, property propertyName: String) {
    self.init(originProperty: propertyName, target: nil)
  }

  /// The keys at this moment.
  var keys: [ObjectKey] {
    guard let target, let core = target._core else { return [] }
    return core.backlinks(target, from: Element.self, property: originProperty)
  }

  private func object(_ key: ObjectKey) -> Element {
    unsafe unsafeDowncast(target!._core!.object(Element.self, key), to: Element.self)
  }
}

extension LinkingObjects: RandomAccessCollection {
  public var startIndex: Int { 0 }
  public var endIndex: Int { keys.count }
  /// The number of objects that link here; an object that links twice counts twice.
  public var count: Int { keys.count }

  /// Traps if the position is out of bounds. To visit all of them, iterate: that reads them once.
  public subscript(position: Int) -> Element {
    let keys = keys
    if position < 0 || position >= keys.count {
      if let tracedElement { return tracedElement }
      trapOutside(position, keys.count)
    }
    return object(keys[position])
  }

  /// Represents every position while a key path is traced.
  private var tracedElement: Element? {
    target?._state.contains(.tracing) == true ? target as? Element : nil
  }

  private func trapOutside(_ position: Int, _ count: Int) -> Never {
    let property = "'\(Element.className()).\(originProperty)'"
    guard let target, target._core != nil else {
      trap(
        "Index \(position) is out of bounds: nothing links to an unmanaged object through "
          + "\(property). Add the object to a Realm first.")
    }
    trap(
      "Index \(position) is out of bounds (must be less than \(count)): that many objects link to "
        + "an object of class '\(target._className)' through \(property). Check count first, or "
        + "use first, last or indices.")
  }

  /// Iterates the objects that link here now: changes made meanwhile do not affect it.
  public func makeIterator() -> AnyIterator<Element> {
    var keys = keys.makeIterator()
    return AnyIterator { keys.next().map(object) }
  }
}

extension LinkingObjects: AnyLinkingObjects {
  static func traced(_ element: ObjectBase) -> LinkingObjects {
    LinkingObjects(originProperty: "", target: element)
  }
}

extension LinkingObjects: _Persistable {
  public static var _description: _ColumnDescription {
    _ColumnDescription(.link, target: Element.self, isComputed: true)
  }
  public static func _default() -> Self { Self(originProperty: "", target: nil) }

  /// The "column" is the property's number within its class.
  public static func _load(_ object: ObjectBase, _ column: UInt16) -> Self {
    let reflection = object._binding?.reflection ?? object._reflection
    return Self(
      originProperty: reflection.properties[Int(column)].originProperty ?? "", target: object)
  }
  public static func _store(_ object: ObjectBase, _ column: UInt16, _ value: Self) {
    let property = object._reflection.properties[Int(column)]
    trap(
      "'\(object._className).\(property.name)' is computed and cannot be set: set "
        + "'\(Element.className()).\(property.originProperty ?? "")' of the objects that should "
        + "link here."
    )
  }
  /// The value stays in the object, which needs it when it is unmanaged again.
  public static var _mover: _Mover {
    { wrapper, _, column in
      unsafe wrapper.assumingMemoryBound(to: Persisted<Self>.self).pointee._column = column
    }
  }
  public static func _put(_ value: Self, _ object: ObjectBase, _ column: UInt16) {}
  public func _box() -> _BoxedValue { _BoxedValue(.null) }
  public static func _unbox(_ boxed: _BoxedValue) -> Self? { nil }
}

extension Persisted {
  /// The objects that link here through that property.
  public init<Element>(originProperty: String) where Value == LinkingObjects<Element> {
    self.init(LinkingObjects(originProperty: originProperty, target: nil), flags: 0)
  }
}

@available(*, unavailable, message: "it belongs to one thread or actor: pass a ThreadSafeReference")
extension LinkingObjects: Sendable {}

extension LinkingObjects {
  public func _counterpart(in realm: Realm) -> LinkingObjects? {
    guard let target = target?._counterpart(in: realm) else { return nil }
    return LinkingObjects(originProperty: originProperty, target: target)
  }
}

/// Identifies backlinks in every Realm of their file: the link target and the linking property.
private struct LinkingThreadReference<Element: ObjectBase>: ThreadReference {
  let target: ObjectThreadReference
  let originProperty: String

  var anchor: ThreadReferenceAnchor { target.anchor }

  func arrival(in core: RealmCore) -> (any ThreadConfined)? {
    target.object(in: core).map {
      LinkingObjects<Element>(originProperty: originProperty, target: $0)
    }
  }
}

extension LinkingObjects {
  public func _threadReference() -> _ThreadReference {
    guard let target else { trap("internal error: backlinks without an object") }
    return _ThreadReference(
      LinkingThreadReference<Element>(
        target: target.objectReference, originProperty: originProperty),
      createdInWrite: target._createdInWrite)
  }
}
