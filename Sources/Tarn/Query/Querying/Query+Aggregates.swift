import TarnStore

/// Conditions on aggregates of a collection's values: `$0.scores.max > 90`. Nil and NaN are
/// ignored. Without values, the sum is 0 and the other aggregates are nil.
extension Query where T: _AggregatedCollection, T._Aggregated: _QueryMinMax {
  /// The minimum of the values.
  public var min: Query<T._Aggregated> { aggregate(.minimum) }
  /// The maximum of the values.
  public var max: Query<T._Aggregated> { aggregate(.maximum) }
}

extension Query where T: _AggregatedCollection, T._Aggregated: _QueryNumber {
  /// The sum of the values.
  public var sum: Query<T._Aggregated> { aggregate(.sum) }
  /// The average of the values.
  public var avg: Query<Double> { aggregate(.average) }
}

extension Query where T: _AggregatedCollection, T._Aggregated: _QueryDecimal {
  /// The average of the values, to compare with a decimal.
  @_disfavoredOverload
  public var avg: Query<Decimal128> { aggregate(.average) }
}

/// Conditions on aggregates of a property of all objects in a collection: `$0.dogs.age.max > 10`.
/// Traps if the path does not lead through a collection.
extension Query where T: _QueryMinMax {
  /// The minimum of the property over the objects of the collection.
  public var min: Query<T> { aggregateOfElements(.minimum) }
  /// The maximum of the property over the objects of the collection.
  public var max: Query<T> { aggregateOfElements(.maximum) }
}

extension Query where T: _QueryNumber {
  /// The sum of the property over the objects of the collection.
  public var sum: Query<T> { aggregateOfElements(.sum) }
  /// The average of the property over the objects of the collection.
  public var avg: Query<Double> { aggregateOfElements(.average) }
}

extension Query where T: _QueryDecimal {
  /// The average of the property, to compare with a decimal.
  @_disfavoredOverload
  public var avg: Query<Decimal128> { aggregateOfElements(.average) }
}

extension Query {
  func aggregate<V>(_ aggregate: CollectionAggregate) -> Query<V> {
    Query<V>(.figure(pathOfCollection, .aggregate(aggregate)))
  }

  func aggregateOfElements<V>(_ aggregate: CollectionAggregate) -> Query<V> {
    guard case .any(let path) = content else {
      trap(
        "\(aggregate.rawValue.dropFirst()) needs a collection, as in "
          + "$0.dogs.age.\(aggregate.rawValue.dropFirst()); this is a single value")
    }
    return Query<V>(.figure(path, .aggregate(aggregate)))
  }
}

/// Aggregates of enums and custom types that are stored as numbers or dates:
/// `$0.levels.max == .high`.
extension Query
where T: _AggregatedCollection, T._Aggregated: _QueryStored, T._Aggregated._StoredType: _QueryMinMax
{
  /// The minimum of the stored values.
  public var min: Query<T._Aggregated> { aggregate(.minimum) }
  /// The maximum of the stored values.
  public var max: Query<T._Aggregated> { aggregate(.maximum) }
}

extension Query
where T: _AggregatedCollection, T._Aggregated: _QueryStored, T._Aggregated._StoredType: _QueryNumber
{
  /// The sum of the stored values.
  public var sum: Query<T._Aggregated._StoredType> { aggregate(.sum) }
  /// The average of the stored values.
  public var avg: Query<Double> { aggregate(.average) }
}

extension Query where T: _QueryStored, T._StoredType: _QueryMinMax {
  /// The minimum of the property's stored values over the objects of the collection.
  public var min: Query<T> { aggregateOfElements(.minimum) }
  /// The maximum of the property's stored values over the objects of the collection.
  public var max: Query<T> { aggregateOfElements(.maximum) }
}

extension Query where T: _QueryStored, T._StoredType: _QueryNumber {
  /// The sum of the property's stored values over the objects of the collection.
  public var sum: Query<T._StoredType> { aggregateOfElements(.sum) }
  /// The average of the property's stored values over the objects of the collection.
  public var avg: Query<Double> { aggregateOfElements(.average) }
}

// MARK: - Compared with an element

// For variables of the elements' type: `$0.scores.avg > limit`, `$0.prices.sum == price`. The
// compiler prefers the forms above, which literals mean. They differ from those in a constraint
// that always holds: two properties of one name need different ones.

extension Query where T: _AggregatedCollection, T._Aggregated: _QueryNumber & _PersistableInteger {
  /// The average of the values, to compare with one of their type.
  @_disfavoredOverload
  public var avg: Query<T._Aggregated> { aggregate(.average) }
}

extension Query where T: _AggregatedCollection, T._Aggregated == Float {
  /// The average of the values, to compare with one of their type.
  @_disfavoredOverload
  public var avg: Query<Float> { aggregate(.average) }
}

extension Query where T == Float {
  /// The average of the property, to compare with a value of its type.
  @_disfavoredOverload
  public var avg: Query<Float> { aggregateOfElements(.average) }
}

extension Query where T: _QueryNumber & _PersistableInteger {
  /// The average of the property, to compare with a value of its type.
  @_disfavoredOverload
  public var avg: Query<T> { aggregateOfElements(.average) }
}

extension Query
where
  T: _AggregatedCollection, T._Aggregated: _QueryStored & _Persistable,
  T._Aggregated._StoredType: _QueryNumber
{
  /// The sum of the stored values, to compare with the stored value of an enum or a custom type.
  @_disfavoredOverload
  public var sum: Query<T._Aggregated> { aggregate(.sum) }
  /// The average of the stored values, to compare with that of an enum or a custom type.
  @_disfavoredOverload
  public var avg: Query<T._Aggregated> { aggregate(.average) }
}

extension Query where T: _QueryStored & _Persistable, T._StoredType: _QueryNumber {
  /// The sum of the property's stored values, to compare with that of an enum or a custom type.
  @_disfavoredOverload
  public var sum: Query<T> { aggregateOfElements(.sum) }
  /// The average of the property's stored values, to compare with that of an enum or a custom type.
  @_disfavoredOverload
  public var avg: Query<T> { aggregateOfElements(.average) }
}
