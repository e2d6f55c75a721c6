import TarnStore

/// A collection type that a property can have: `List`, `MutableSet` and `Map`. The library provides
/// the conformances.
///
/// An unmanaged object retains its collections; the collection of a managed one is a view, made at
/// each read.
public protocol _CollectionProperty: AnyObject, _Persistable {
  /// The storage of the elements.
  var _handle: _SequenceHandle { get set }
  /// A collection with existing elements.
  init(_handle: _SequenceHandle)
  /// Its only property that can be observed. The key path of a protocol requirement would differ.
  static var _isInvalidatedPath: AnyKeyPath { get }
}

extension List {
  public static var _isInvalidatedPath: AnyKeyPath { \List.isInvalidated }
  var backing: any SequenceBacking { _handle.backing }
}

extension MutableSet {
  public static var _isInvalidatedPath: AnyKeyPath { \MutableSet.isInvalidated }
  var backing: any SequenceBacking { _handle.backing }
}

extension Map {
  public static var _isInvalidatedPath: AnyKeyPath { \Map.isInvalidated }
  var backing: any SequenceBacking { _handle.backing }
}

extension _CollectionProperty {
  /// The classes declare it, too: there, it needs no witness table, which each call would look up
  /// for the element's type.
  var backing: any SequenceBacking { _handle.backing }
  static var kind: CollectionKind { _description.collection }
}

extension _CollectionProperty {
  public static var _isCollection: Bool { true }
  public static func _default() -> Self {
    Self(_handle: _SequenceHandle(UnmanagedSequence(kind)))
  }

  public static func _load(_ object: ObjectBase, _ column: UInt16) -> Self {
    Self(_handle: _SequenceHandle(ManagedSequence(object, ColumnID(column))))
  }

  public static func _store(_ object: ObjectBase, _ column: UInt16, _ value: Self) {
    ManagedSequence(object, ColumnID(column)).assign(value.backing)
  }

  public static func _put(_ value: Self, _ object: ObjectBase, _ column: UInt16) {
    ManagedSequence(object, ColumnID(column)).assign(value.backing)
  }

  public static func _replaceElements(of current: Self, with value: Self) {
    current.backing.assign(value.backing)
  }

  /// The collection instance that the program holds becomes a view of the stored elements.
  public static var _mover: _Mover {
    { wrapper, object, column in
      let wrapper = unsafe wrapper.assumingMemoryBound(to: Persisted<Self>.self)
      let collection = unsafe wrapper.pointee._value
      unsafe wrapper.pointee._value = nil
      unsafe wrapper.pointee._column = column
      collection?.becomeManaged(object, ColumnID(column), update: .error)
    }
  }

  func becomeManaged(
    _ object: ObjectBase, _ column: ColumnID, update: Realm.UpdatePolicy
  ) {
    let unmanaged = backing
    let managed = ManagedSequence(object, column)
    // Managed before its objects are added: a cycle ends here.
    if unmanaged.core == nil { _handle = _SequenceHandle(managed) }
    managed.update = update
    if update == .modified { managed.merge(unmanaged) } else { managed.assign(unmanaged) }
    managed.update = .error
  }

  public func _box() -> _BoxedValue { _BoxedValue(.null) }
  public static func _unbox(_ boxed: _BoxedValue) -> Self? { nil }
  public static func _collection(_ elements: _SequenceHandle) -> Self? { Self(_handle: elements) }
}

extension UnmanagedCollection where Self: _CollectionProperty {
  var unmanagedElements: [_BoxedValue]? { backing.core == nil ? backing.all : nil }
  func noteObservers(_ property: UnmanagedProperty) {
    (backing as? UnmanagedSequence)?.note(property, isOwn: true)
  }
  func forgetObservers(_ property: UnmanagedProperty) {
    (backing as? UnmanagedSequence)?.forgetObservers(property)
  }
}

extension UnmanagedSequence: UnmanagedCollection {
  var unmanagedElements: [_BoxedValue]? { all }
  func noteObservers(_ property: UnmanagedProperty) { note(property, isOwn: false) }
}

extension PropertyReflection {
  /// The element type of a collection that belongs to no object.
  init<C: _CollectionProperty>(of type: C.Type) {
    self.init(
      name: "", columnName: "", offset: 0, wrapper: Persisted<C>.self,
      description: C._description, isIndexed: false, isPrimaryKey: false, originProperty: nil)
  }
}

extension _CollectionProperty {
  public func _counterpart(in realm: Realm) -> Self? {
    guard let managed = backing as? ManagedSequence else { return nil }
    return ManagedSequence(managed, in: realm.core).map { Self(_handle: _SequenceHandle($0)) }
  }
}
