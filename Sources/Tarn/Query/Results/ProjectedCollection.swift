import TarnStore

/// One property of the objects in a list or set, as a collection of its values: live and read-only.
///
/// ```swift
/// let names = person.dogs.projectTo.name
/// ```
///
/// It has one element for each object, in the same order, including equal ones. Belongs to its
/// Realm's thread, queue or actor.
public struct ProjectedCollection<Element: RealmCollectionValue> {
  private let source: any ProjectedSource<Element>

  /// The property in the objects' class. Throws for one that is not a chain of stored properties.
  func steps() throws(KeyPathFault) -> [PropertyReflection] { try source.steps() }

  /// True if the objects are those of that list or set.
  func isOf(_ collection: Any) -> Bool { source.isOf(collection) }

  fileprivate init(_ source: any ProjectedSource<Element>) { self.source = source }

  /// The Realm that the objects belong to, nil while they are unmanaged.
  public var realm: Realm? { source.realm }

  /// True if the object that has the list or set was deleted, or its Realm was invalidated. Any
  /// other use of it then traps.
  public var isInvalidated: Bool { source.isInvalidated }

  /// The position of the first object with that value, or nil. A linear search.
  public func index(of value: Element) -> Int? { firstIndex(of: value) }
}

extension ProjectedCollection: _DeltaCollection {
  public var _plainOrigin: _ChangeOrigin<RealmCollectionChange<Self>> {
    source.plainOrigin.map { $0.map { Self($0) } }
  }

  public var _changeOrigin: _ChangeOrigin<ObservedChange<Self, CollectionDelta<Element>>> {
    source.changeOrigin.map { $0.map({ Self($0) }, { $0 }) }
  }
}

extension ProjectedCollection: RandomAccessCollection {
  public var startIndex: Int { 0 }
  public var endIndex: Int { count }
  /// The number of objects.
  public var count: Int { source.count }
  /// The value of the object at a position. Traps if it is out of bounds.
  public subscript(position: Int) -> Element { source.value(at: position) }
  /// Iterates the current objects, whatever happens to the collection meanwhile.
  public func makeIterator() -> AnyIterator<Element> { source.makeIterator() }
}

extension ProjectedCollection: ThreadConfined {
  public func _counterpart(in realm: Realm) -> ProjectedCollection? {
    source.counterpart(in: realm).map { ProjectedCollection($0) }
  }
  public func _threadReference() -> _ThreadReference { source.threadReference() }
}

extension ProjectedCollection: Equatable {
  /// True if both are the same property of one list or set.
  public static func == (a: Self, b: Self) -> Bool { a.source.isEqual(to: b.source) }
}

extension ProjectedCollection: CustomStringConvertible, DumpedCollection {
  func append(to dump: inout TextDump) {
    let name = "ProjectedCollection<\(Element.self)>"
    if isInvalidated { return dump.append("\(name) [invalidated]") }
    dump.append(elements: self, of: name)
  }
}

/// Selects the property by which a list or set is read, as a member: see ``ProjectedCollection``.
@dynamicMemberLookup
public struct CollectionElementMapper<Element: ObjectBase> {
  private let collection: AnyRealmCollection<Element>

  fileprivate init(_ collection: AnyRealmCollection<Element>) { self.collection = collection }

  /// The values of a property, one for each object.
  public subscript<Value: RealmCollectionValue>(
    dynamicMember keyPath: KeyPath<Element, Value>
  ) -> ProjectedCollection<Value> {
    ProjectedCollection(PropertySource(collection: collection, keyPath: keyPath))
  }
}

extension List where Element: ObjectBase {
  /// The values of the objects' properties, as members: `dogs.projectTo.name`. Threading: like the
  /// list.
  public var projectTo: CollectionElementMapper<Element> {
    CollectionElementMapper(AnyRealmCollection(self))
  }
}

extension MutableSet where Element: ObjectBase {
  /// The values of the objects' properties, as members: `dogs.projectTo.name`. They are in the
  /// set's order and include equal ones. Threading: like the set.
  public var projectTo: CollectionElementMapper<Element> {
    CollectionElementMapper(AnyRealmCollection(self))
  }
}

/// The source of a projected collection's values, for objects of any class.
private protocol ProjectedSource<Value> {
  associatedtype Value: RealmCollectionValue
  var realm: Realm? { get }
  var isInvalidated: Bool { get }
  var count: Int { get }
  func value(at position: Int) -> Value
  func makeIterator() -> AnyIterator<Value>
  func isEqual(to other: any ProjectedSource<Value>) -> Bool
  func steps() throws(KeyPathFault) -> [PropertyReflection]
  func isOf(_ collection: Any) -> Bool
  func counterpart(in realm: Realm) -> (any ProjectedSource<Value>)?
  func threadReference() -> _ThreadReference
  var plainOrigin: _ChangeOrigin<RealmCollectionChange<any ProjectedSource<Value>>> { get }
  var changeOrigin:
    _ChangeOrigin<ObservedChange<any ProjectedSource<Value>, CollectionDelta<Value>>>
  { get }
}

/// One property of a collection's objects.
private struct PropertySource<Root: ObjectBase, Value: RealmCollectionValue>: ProjectedSource {
  let collection: AnyRealmCollection<Root>
  let keyPath: KeyPath<Root, Value>

  var realm: Realm? { collection.realm }
  var isInvalidated: Bool { collection.isInvalidated }
  var count: Int { collection.count }
  func value(at position: Int) -> Value { collection[position][keyPath: keyPath] }

  func makeIterator() -> AnyIterator<Value> {
    let objects = collection.makeIterator()
    return AnyIterator { objects.next()?[keyPath: keyPath] }
  }

  func isEqual(to other: any ProjectedSource<Value>) -> Bool {
    guard let other = other as? PropertySource<Root, Value> else { return false }
    return collection == other.collection && keyPath == other.keyPath
  }

  func steps() throws(KeyPathFault) -> [PropertyReflection] { try Tracer.steps(of: keyPath) }

  /// Only the property counts, if it is a stored one.
  private var scope: _ObservationScope {
    let steps = try? steps()
    return _ObservationScope(keyPaths: steps.map { [PathText.text(of: $0.map(\.name))] })
  }

  func isOf(_ other: Any) -> Bool {
    switch other {
    case let list as List<Root>: collection == AnyRealmCollection(list)
    case let set as MutableSet<Root>: collection == AnyRealmCollection(set)
    default: false
    }
  }

  func counterpart(in realm: Realm) -> (any ProjectedSource<Value>)? {
    collection._counterpart(in: realm).map { PropertySource(collection: $0, keyPath: keyPath) }
  }

  func threadReference() -> _ThreadReference {
    collection._threadReference().map {
      PropertyThreadReference(collection: $0, property: PassedKeyPath(keyPath: keyPath))
    }
  }

  var plainOrigin: _ChangeOrigin<RealmCollectionChange<any ProjectedSource<Value>>> {
    collection._plainOrigin.scoped(to: scope).map { change in
      change.map { PropertySource(collection: $0, keyPath: keyPath) }
    }
  }

  var changeOrigin:
    _ChangeOrigin<ObservedChange<any ProjectedSource<Value>, CollectionDelta<Value>>>
  {
    let origin = collection._changeOrigin.scoped(to: scope)
    guard case .paths(let paths) = origin.scope, let path = paths.first,
      let property = try? steps().last, property.type != .any
    else { return origin.map { change(from: $0) { $0.map { $0[keyPath: keyPath] } } } }
    return origin.map { [core = origin.core] in
      change(from: $0) { delta in
        delta.map(along: path) { object, value in
          core.swiftValue(value, of: property) as? Value ?? object[keyPath: keyPath]
        }
      }
    }
  }

  private func change(
    from change: ObservedChange<AnyRealmCollection<Root>, CollectionDelta<Root>>,
    _ delta: (CollectionDelta<Root>) -> CollectionDelta<Value>
  ) -> ObservedChange<any ProjectedSource<Value>, CollectionDelta<Value>> {
    change.map({ PropertySource(collection: $0, keyPath: keyPath) }, delta)
  }
}

/// A property of the objects of a collection, in a form that can be passed to another thread.
private struct PropertyThreadReference<Root: ObjectBase, Value: RealmCollectionValue>:
  ThreadReference
{
  let collection: any ThreadReference
  let property: PassedKeyPath<Root, Value>

  var anchor: ThreadReferenceAnchor { collection.anchor }

  func arrival(in core: RealmCore) -> (any ThreadConfined)? {
    (collection.arrival(in: core) as? AnyRealmCollection<Root>).map {
      ProjectedCollection(PropertySource(collection: $0, keyPath: property.keyPath))
    }
  }
}

@available(*, unavailable, message: "it belongs to one thread or actor: pass a ThreadSafeReference")
extension ProjectedCollection: Sendable {}

// Values are found as in `RealmCollection+Searching`.

extension ProjectedCollection {
  public func _customContainsEquatableElement(_ element: Element) -> Bool? {
    StoredSearch.boxed(element).map { StoredSearch.first($0, in: self) != nil }
  }

  public func _customIndexOfEquatableElement(_ element: Element) -> Int?? {
    StoredSearch.boxed(element).map { StoredSearch.first($0, in: self) }
  }

  public func _customLastIndexOfEquatableElement(_ element: Element) -> Int?? {
    StoredSearch.boxed(element).map { StoredSearch.last($0, in: self) }
  }
}
