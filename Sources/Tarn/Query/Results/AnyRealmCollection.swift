internal import TarnStore

/// A type-erased collection of any kind. Its observers receive exactly the same as its base's.
public struct AnyRealmCollection<Element: RealmCollectionValue>: RealmCollection {
  private let base: AnyCollectionBase<Element>

  private init(_ base: AnyCollectionBase<Element>) { self.base = base }

  /// Erases the type of a collection.
  public init<C: RealmCollection>(_ collection: C) where C.Element == Element {
    base = CollectionBase(collection)
  }

  public var startIndex: Int { 0 }
  public var endIndex: Int { count }
  /// The number of elements.
  public var count: Int { base.count }
  /// The element at a position. Traps if it is out of bounds.
  public subscript(position: Int) -> Element { base.element(at: position) }
  /// The first element, or nil.
  public var first: Element? { base.first }
  /// The last element, or nil.
  public var last: Element? { base.last }
  public func makeIterator() -> AnyIterator<Element> { base.makeIterator() }
  /// The Realm that the collection belongs to, nil if it is unmanaged.
  public var realm: Realm? { base.realm }
  /// True if the collection's owner was deleted. Any other use of it then traps.
  public var isInvalidated: Bool { base.isInvalidated }
  /// The first position of an element, or nil. Traps for a deleted object.
  public func index(of element: Element) -> Int? { base.index(of: element) }
  public var _derivation: _Derivation { base.derivation }
  public var _isSet: Bool { base.isSet }
  public func _counterpart(in realm: Realm) -> Self? {
    base.counterpart(in: realm).map { Self($0) }
  }
  public func _threadReference() -> _ThreadReference { base.threadReference() }
  /// The description of the base.
  public var description: String { base.description }

  /// True if the bases are of one type and equal.
  public static func == (a: Self, b: Self) -> Bool { a.base.isEqual(to: b.base) }

  public var _plainOrigin: _ChangeOrigin<RealmCollectionChange<Self>> { base.plainOrigin }

  public var _changeOrigin: _ChangeOrigin<ObservedChange<Self, CollectionDelta<Element>>> {
    base.changeOrigin
  }
}

extension AnyRealmCollection: PropertyAggregating {
  func storedAggregate(_ kind: AggregateTerm.Kind, of property: String) -> Value {
    base.aggregate(kind, of: property)
  }
}

/// The interface of the base, overridden where its type is known.
private class AnyCollectionBase<Element: RealmCollectionValue> {
  var count: Int { Self.unreachable() }
  func element(at position: Int) -> Element { Self.unreachable() }
  var first: Element? { Self.unreachable() }
  var last: Element? { Self.unreachable() }
  func makeIterator() -> AnyIterator<Element> { Self.unreachable() }
  var realm: Realm? { Self.unreachable() }
  var isInvalidated: Bool { Self.unreachable() }
  func index(of element: Element) -> Int? { Self.unreachable() }
  var derivation: _Derivation { Self.unreachable() }
  var isSet: Bool { Self.unreachable() }
  var description: String { Self.unreachable() }
  func isEqual(to other: AnyCollectionBase) -> Bool { Self.unreachable() }
  func counterpart(in realm: Realm) -> AnyCollectionBase? { Self.unreachable() }
  func threadReference() -> _ThreadReference { Self.unreachable() }
  var plainOrigin: _ChangeOrigin<RealmCollectionChange<AnyRealmCollection<Element>>> {
    Self.unreachable()
  }

  func aggregate(_ kind: AggregateTerm.Kind, of property: String) -> Value { Self.unreachable() }

  var changeOrigin:
    _ChangeOrigin<ObservedChange<AnyRealmCollection<Element>, CollectionDelta<Element>>>
  {
    Self.unreachable()
  }

  static func unreachable() -> Never { trap("internal error: a collection without a base") }
}

private final class CollectionBase<Base: RealmCollection>: AnyCollectionBase<Base.Element> {
  private let base: Base
  init(_ base: Base) { self.base = base }

  override var count: Int { base.count }
  override func element(at position: Int) -> Base.Element { base[position] }
  override var first: Base.Element? { base.first }
  override var last: Base.Element? { base.last }
  override func makeIterator() -> AnyIterator<Base.Element> { AnyIterator(base.makeIterator()) }
  override var realm: Realm? { base.realm }
  override var isInvalidated: Bool { base.isInvalidated }
  override func index(of element: Base.Element) -> Int? { base.index(of: element) }
  override var derivation: _Derivation { base._derivation }
  override var isSet: Bool { base._isSet }
  override var description: String { base.description }
  override func isEqual(to other: AnyCollectionBase<Base.Element>) -> Bool {
    (other as? CollectionBase<Base>)?.base == base
  }
  override func counterpart(in realm: Realm) -> AnyCollectionBase<Base.Element>? {
    base._counterpart(in: realm).map { CollectionBase($0) }
  }
  override func aggregate(_ kind: AggregateTerm.Kind, of property: String) -> Value {
    base.aggregate(kind, property)
  }
  override func threadReference() -> _ThreadReference {
    base._threadReference().map { ErasedThreadReference<Base>(base: $0) }
  }

  override var plainOrigin: _ChangeOrigin<RealmCollectionChange<AnyRealmCollection<Base.Element>>> {
    base._plainOrigin.map { $0.map { AnyRealmCollection($0) } }
  }

  override var changeOrigin:
    _ChangeOrigin<ObservedChange<AnyRealmCollection<Base.Element>, CollectionDelta<Base.Element>>>
  {
    base._changeOrigin.map { $0.map({ AnyRealmCollection($0) }, { $0 }) }
  }
}

/// A collection whose type is erased where it arrives.
private struct ErasedThreadReference<Base: RealmCollection>: ThreadReference {
  let base: any ThreadReference

  var anchor: ThreadReferenceAnchor { base.anchor }

  func arrival(in core: RealmCore) -> (any ThreadConfined)? {
    (base.arrival(in: core) as? Base).map { AnyRealmCollection($0) }
  }
}

@available(*, unavailable, message: "it belongs to one thread or actor: pass a ThreadSafeReference")
extension AnyRealmCollection: Sendable {}
