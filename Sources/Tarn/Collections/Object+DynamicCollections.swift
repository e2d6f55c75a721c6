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
  private var elementType: any RealmCollectionValue.Type {
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
  /// Traps for an unmanaged object, and if the class has no list of objects of that name.
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

  private final func dynamicSequence(_ name: String, _ kind: CollectionKind) -> ManagedSequence {
    guard let core = _core else {
      trap(
        "'\(_className).\(name)': an unmanaged object has no dynamic collections. Add it to a "
          + "Realm first.")
    }
    if core.isInvalidated(self) { core.trapInvalid(self) }
    let own = core.binding(for: self)
    let column = own.reflection.property(name).flatMap { own.column($0.name) }
    let binding = core.dynamicBinding(own.reflection.name)
    guard let column, let property = binding.property(column), property.collection == kind,
      property.dynamicTarget != nil
    else {
      trap("Class '\(own.reflection.name)' has no \(kind) of objects '\(name)'.")
    }
    return ManagedSequence(self, column, as: property)
  }
}
