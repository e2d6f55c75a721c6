import TarnStore

/// The objects that link to this one through a property of theirs.
///
///     @Persisted(originProperty: "dogs") var owners: LinkingObjects<Person>
///
/// Computed at each use from the index that every link keeps, never stored. Live: it shows what
/// the object's Realm shows. Of an unmanaged object it is empty. In order of object keys.
public struct LinkingObjects<Element: Object> {
  let originProperty: String
  /// The object that is linked to; nil until it is read from a managed one.
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
    unsafeDowncast(target!._core!.object(Element.self, key), to: Element.self)
  }
}

extension LinkingObjects: RandomAccessCollection {
  public var startIndex: Int { 0 }
  public var endIndex: Int { keys.count }
  /// How many objects link here; an object that does so twice counts twice.
  public var count: Int { keys.count }

  /// Traps if there are not so many. To walk all of them iterate, which asks once.
  public subscript(position: Int) -> Element {
    let keys = keys
    guard keys.indices.contains(position) else {
      trap(
        "Index \(position) is out of bounds: \(keys.count) objects of class "
          + "\(Element.className()) link here through '\(originProperty)'")
    }
    return object(keys[position])
  }

  /// Over the objects that link here now: changes made meanwhile do not shift it.
  public func makeIterator() -> AnyIterator<Element> {
    var keys = keys.makeIterator()
    return AnyIterator { keys.next().map(object) }
  }
}

/// LinkingObjects of any element.
protocol AnyLinkingObjects {
  var originProperty: String { get }
}
extension LinkingObjects: AnyLinkingObjects {}

extension LinkingObjects: _Persistable {
  public static var _description: _ColumnDescription {
    _ColumnDescription(.link, target: Element.self, isComputed: true)
  }
  public static func _default() -> Self { Self(originProperty: "", target: nil) }

  /// The "column" is the property's number within its class.
  public static func _load(_ object: ObjectBase, _ column: UInt16) -> Self {
    let property = object._binding!.reflection.properties[Int(column)]
    return Self(originProperty: property.originProperty ?? "", target: object)
  }
  public static func _store(_ object: ObjectBase, _ column: UInt16, _ value: Self) {
    trap("LinkingObjects cannot be set: set the links of the objects instead")
  }
  public static func _put(_ value: Self, _ object: ObjectBase, _ column: UInt16) {}
  public func _box() -> _BoxedValue { _BoxedValue(.null) }
  public static func _unbox(_ boxed: _BoxedValue) -> Self? { nil }
}

extension Persisted {
  /// The objects that link here through that property of theirs.
  public init<Element>(originProperty: String) where Value == LinkingObjects<Element> {
    self.init(LinkingObjects(originProperty: originProperty, target: nil), flags: 0)
  }
}
