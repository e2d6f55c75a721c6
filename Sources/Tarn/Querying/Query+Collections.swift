import TarnStore

/// Conditions on the elements of lists and sets.
extension Query where T: RealmCollection {
  /// How many elements the collection has: `$0.dogs.count > 2`.
  public var count: Query<Int> { Query<Int>(.count(collectionPath)) }

  /// The path of a collection that is a property, and not behind another one.
  private var collectionPath: [String] { pathOfCollection }

  /// A property of some object in the collection: `$0.dogs.age > 3` is true if one of the dogs is
  /// older than that.
  public subscript<V>(dynamicMember member: KeyPath<T.Element, V>) -> Query<V>
  where T.Element: ObjectBase { appending(toElementsOf: member) }
}

extension Query where T: RealmCollection, T.Element: _Persistable {
  /// True if the value is among the elements.
  public func contains(_ element: T.Element) -> Query<Bool> {
    anyElement(.equal, constant(element))
  }

  /// True if one of the values is among the elements.
  public func containsAny<S: Sequence<T.Element>>(in values: S) -> Query<Bool> {
    anyElement(.in, .values(values.map { constantValue($0) }))
  }
}

extension Query where T: RealmCollection, T.Element: ObjectBase & _OptionalPersistable {
  /// True if the object is in the collection. Traps for one that is in no Realm.
  public func contains(_ object: T.Element) -> Query<Bool> {
    anyElement(.equal, constant(Optional(object)))
  }

  /// True if one of the objects is in the collection. Traps for one that is in no Realm.
  public func containsAny<S: Sequence<T.Element>>(in objects: S) -> Query<Bool> {
    anyElement(.in, .values(objects.map { constantValue(Optional($0)) }))
  }
}

/// Conditions on the values of maps.
extension Query where T: RealmKeyedCollection {
  /// How many keys the map has.
  public var count: Query<Int> { Query<Int>(.count(pathOfCollection)) }

  /// Some value of the map: `$0.scores.values > 3` is true if one of them is greater than that.
  public var values: Query<T.Value> { Query<T.Value>(.any(pathOfCollection)) }
}

extension Query where T: RealmKeyedCollection, T.Value: _Persistable {
  /// True if the value is under some key.
  public func contains(_ value: T.Value) -> Query<Bool> { anyElement(.equal, constant(value)) }

  /// True if one of the values is under some key.
  public func containsAny<S: Sequence<T.Value>>(in values: S) -> Query<Bool> {
    anyElement(.in, .values(values.map { constantValue($0) }))
  }
}

extension Query {
  private func anyElement(_ op: ComparisonOperator, _ right: Operand) -> Query<Bool> {
    Query<Bool>(.collection(CollectionCondition(pathOfCollection, .any(op, right, []))))
  }
}
