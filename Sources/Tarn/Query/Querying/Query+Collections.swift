import TarnStore

/// Conditions on the elements of lists and sets, and on the objects that link to one.
///
/// A condition on a collection is true if some element meets it, and through several collections
/// if at least one path leads to such an element: `$0.tasks.labels.name == "x"`.
extension Query where T: RealmCollection {
  /// The number of elements in the collection: `$0.dogs.count > 2`. For a collection that is
  /// reached through another, the condition is true if at least one of them has that many.
  public var count: Query<Int> { numberOfElements }

  /// A property of some object in the collection: `$0.dogs.age > 3` is true if one of the dogs is
  /// older than that.
  public subscript<V>(dynamicMember member: KeyPath<T.Element, V>) -> Query<V>
  where T.Element: _ObjectClass { appending(toElementsOf: member) }
}

extension Query where T: RealmCollection, T.Element: _Persistable {
  /// True if the value is among the elements.
  public func contains(_ element: T.Element) -> Query<Bool> {
    anyElement(constant(element))
  }

  /// True if one of the values is among the elements.
  public func containsAny<S: Sequence<T.Element>>(in values: S) -> Query<Bool> {
    anyElement(of: values.map { constant($0) })
  }
}

extension Query where T: RealmCollection, T.Element: ObjectBase & _OptionalPersistable {
  /// True if the object is in the collection; for an embedded object, if one with equal properties
  /// is. An unmanaged object that is not embedded is never in a collection of a Realm.
  public func contains(_ object: T.Element) -> Query<Bool> {
    anyElement(constant(Optional(object)))
  }

  /// True if one of the objects is in the collection, as in `contains(_:)`.
  public func containsAny<S: Sequence<T.Element>>(in objects: S) -> Query<Bool> {
    anyElement(of: objects.map { constant(Optional($0)) })
  }
}

/// Conditions on the keys and values of maps.
extension Query where T: RealmKeyedCollection {
  /// The number of keys in the map.
  public var count: Query<Int> { numberOfElements }

  /// Some value of the map: `$0.scores.values > 3` is true if one of them is greater than that.
  public var values: Query<T.Value> { element() }

  /// Some key of the map: `$0.scores.keys.starts(with: "a")`.
  public var keys: Query<T.Key> {
    element(of: [.keys])
  }
}

extension Query where T: RealmKeyedCollection, T.Value: _Persistable {
  /// True if the value is under some key.
  public func contains(_ value: T.Value) -> Query<Bool> { anyElement(constant(value)) }

  /// True if one of the values is under some key.
  public func containsAny<S: Sequence<T.Value>>(in values: S) -> Query<Bool> {
    anyElement(of: values.map { constant($0) })
  }
}

extension Query
where T: RealmKeyedCollection, T.Value: _Persistable & _QueryComparable & Comparable {
  /// True if every value of the map is in the range, and there is one.
  public func contains(_ range: Range<T.Value>) -> Query<Bool> {
    everyElement(range.lowerBound, range.upperBound, isClosed: false)
  }
  /// True if every value of the map is in the range, and there is one.
  public func contains(_ range: ClosedRange<T.Value>) -> Query<Bool> {
    everyElement(range.lowerBound, range.upperBound, isClosed: true)
  }

  /// True if some value of the map is in the range.
  public func containsAny(in range: Range<T.Value>) -> Query<Bool> { values.contains(range) }
  /// True if some value of the map is in the range.
  public func containsAny(in range: ClosedRange<T.Value>) -> Query<Bool> { values.contains(range) }
}

extension Query where T: RealmKeyedCollection {
  /// True if every value of the map that is not nil is in the range, and there is one.
  public func contains<W: _OptionalPersistable & _QueryComparable & Comparable>(
    _ range: Range<W>
  ) -> Query<Bool> where T.Value == W? {
    everyElement(Optional(range.lowerBound), Optional(range.upperBound), isClosed: false)
  }
  /// True if every value of the map that is not nil is in the range, and there is one.
  public func contains<W: _OptionalPersistable & _QueryComparable & Comparable>(
    _ range: ClosedRange<W>
  ) -> Query<Bool> where T.Value == W? {
    everyElement(Optional(range.lowerBound), Optional(range.upperBound), isClosed: true)
  }

  /// True if some value of the map is in the range; nil never is.
  public func containsAny<W: _OptionalPersistable & _QueryComparable & Comparable>(
    in range: Range<W>
  ) -> Query<Bool> where T.Value == W? { (element() as Query<W?>).contains(range) }
  /// True if some value of the map is in the range; nil never is.
  public func containsAny<W: _OptionalPersistable & _QueryComparable & Comparable>(
    in range: ClosedRange<W>
  ) -> Query<Bool> where T.Value == W? { (element() as Query<W?>).contains(range) }
}

extension Query {
  var numberOfElements: Query<Int> {
    if case .any(let path) = content { return Query<Int>(.anyCount(path), of: scope) }
    return Query<Int>(.figure(pathOfCollection, .count))
  }

  private func anyElement(_ value: Operand) -> Query<Bool> {
    (element() as Query<Bool>).compare(.equal, value)
  }

  private func anyElement(of values: [Operand]) -> Query<Bool> {
    (element() as Query<Bool>).isOne(of: values)
  }
}
