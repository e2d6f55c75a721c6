import Foundation
import TarnStore

extension ManagedSequence {
  /// The sequence of a dynamic object as a collection of the type that belongs to its elements:
  /// `Int` for every integer, `DynamicObject` for objects.
  var dynamicCollection: Any {
    func collection<Element: RealmCollectionValue>(_ type: Element.Type) -> Any {
      let handle = _SequenceHandle(self)
      switch kind {
      case .set: return MutableSet<Element>(_handle: handle)
      case .map: return Map<String, Element>(_handle: handle)
      case .list, .none: return List<Element>(_handle: handle)
      }
    }
    return collection(elementType)
  }

  /// The type of the elements of a dynamic object's collection.
  fileprivate var elementType: any RealmCollectionValue.Type {
    func optional<Wrapped: _OptionalPersistable & Hashable>(
      _ type: Wrapped.Type
    ) -> any RealmCollectionValue.Type {
      Optional<Wrapped>.self
    }
    let type: any (_OptionalPersistable & RealmCollectionValue).Type
    switch place.nested == nil ? property.type : .any {
    case .any: return AnyRealmValue.self
    case .int: type = Int.self
    case .bool: type = Bool.self
    case .string: type = String.self
    case .data: type = Data.self
    case .date: type = Date.self
    case .float: type = Float.self
    case .double: type = Double.self
    case .link: type = DynamicObject.self
    case .objectID: type = ObjectId.self
    case .decimal: type = Decimal128.self
    case .uuid: type = UUID.self
    }
    return property.isOptional ? optional(type) : type
  }
}

/// Collections of objects of classes that the program does not have, or need not name.
extension ObjectBase {
  /// The list of that name as a list of dynamic objects: live, and changed like any other.
  ///
  /// Traps for an unmanaged object, and if the class has no list of objects of that name. For a
  /// list of values, give the type of the result, as in
  /// `let legs: List<Int> = object.dynamicList("legs")`.
  public func dynamicList(_ name: String) -> List<DynamicObject> {
    List(_handle: _SequenceHandle(dynamicSequence(name, .list)))
  }

  /// The set of that name as a set of dynamic objects; like `dynamicList(_:)`.
  public func dynamicMutableSet(_ name: String) -> MutableSet<DynamicObject> {
    MutableSet(_handle: _SequenceHandle(dynamicSequence(name, .set)))
  }

  /// The map of that name as a map of dynamic objects; like `dynamicList(_:)`.
  public func dynamicMap<Key: _MapKey>(_ name: String) -> Map<Key, DynamicObject?> {
    Map(_handle: _SequenceHandle(dynamicSequence(name, .map)))
  }

  /// The list of values of that name: `let legs: List<Int> = object.dynamicList("legs")`.
  ///
  /// Traps for an unmanaged object, and if the class has no list of elements of that type of that
  /// name. Every integer is an `Int` here, and an optional element is an `Optional`.
  public func dynamicList<Element: RealmCollectionValue>(_ name: String) -> List<Element> {
    List(_handle: _SequenceHandle(dynamicSequence(name, .list, of: Element.self)))
  }

  /// The set of values of that name; like `dynamicList(_:)`.
  public func dynamicMutableSet<Element: RealmCollectionValue>(
    _ name: String
  ) -> MutableSet<Element> {
    MutableSet(_handle: _SequenceHandle(dynamicSequence(name, .set, of: Element.self)))
  }

  private final func dynamicSequence<Element: RealmCollectionValue>(
    _ name: String, _ kind: CollectionKind, of type: Element.Type
  ) -> ManagedSequence {
    let sequence = dynamicSequence(name, kind, isOfObjects: nil)
    guard sequence.elementType == type else {
      trap(
        "The \(kind) '\(name)' of class '\(_className)' has elements of type "
          + "\(sequence.elementType), not \(type).")
    }
    return sequence
  }

  private final func dynamicSequence(_ name: String, _ kind: CollectionKind) -> ManagedSequence {
    dynamicSequence(name, kind, isOfObjects: true)
  }

  /// - Parameter isOfObjects: nil for a collection of any elements.
  private final func dynamicSequence(
    _ name: String, _ kind: CollectionKind, isOfObjects: Bool?
  ) -> ManagedSequence {
    guard let core = _core else {
      trap(
        "'\(_className).\(name)': an unmanaged object has no dynamic collections. Add it to a "
          + "Realm first.")
    }
    if _isInvalidated { _trapInvalid() }
    let own = core.binding(for: self)
    let column = own.reflection.property(name).flatMap { own.column($0.name) }
    let binding = core.dynamicBinding(own.reflection.name)
    guard let column, let property = binding.property(column), property.collection == kind,
      isOfObjects != true || property.dynamicTarget != nil
    else {
      let elements = isOfObjects == true ? " of objects" : ""
      trap("Class '\(own.reflection.name)' has no \(kind)\(elements) '\(name)'.")
    }
    return ManagedSequence(self, column, as: property)
  }
}

extension ObjectBase: DynamicReading {
  /// A property of a dynamic object, nil for null. Traps for an invalidated object.
  final func dynamicValue(of property: PropertyReflection) -> Any? {
    guard let core = _core else { return nil }
    if _isInvalidated { _trapInvalid() }
    let binding = core.binding(for: self)
    let column = core.column(of: property, in: binding)
    if property.collection != .none {
      return ManagedSequence(self, column, as: property).dynamicCollection
    }
    if let tracking = core.tracking, let row = _row { tracking.note(.property(row, column)) }
    let value = _storedValue(column)
    switch value {
    case nil: return nil
    case .list?, .map?:
      let boxed = ManagedSequence(self, column, as: property).boxed(value ?? .null)
      return (boxed.nested as? ManagedSequence)?.dynamicCollection
    case let value?: return core.swiftValue(value, of: property)
    }
  }
}
