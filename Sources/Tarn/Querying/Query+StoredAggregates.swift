import TarnStore

/// The same of enums and custom types that are stored as numbers or dates:
/// `$0.levels.max == .high`.
extension Query
where T: _AggregatedCollection, T._Aggregated: _QueryStored, T._Aggregated._StoredType: _QueryMinMax
{
  /// The least of the values, by what is stored.
  public var min: Query<T._Aggregated> { aggregate(.minimum) }
  /// The greatest of the values, by what is stored.
  public var max: Query<T._Aggregated> { aggregate(.maximum) }
}

extension Query
where T: _AggregatedCollection, T._Aggregated: _QueryStored, T._Aggregated._StoredType: _QueryNumber
{
  /// The sum of the values as they are stored.
  public var sum: Query<T._Aggregated._StoredType> { aggregate(.sum) }
  /// The average of the values as they are stored.
  public var avg: Query<Double> { aggregate(.average) }
}

extension Query where T: _QueryStored, T._StoredType: _QueryMinMax {
  /// The least of what the property has in the objects of the collection, by what is stored.
  public var min: Query<T> { aggregateOfElements(.minimum) }
  /// The greatest of what the property has in the objects of the collection, by what is stored.
  public var max: Query<T> { aggregateOfElements(.maximum) }
}

extension Query where T: _QueryStored, T._StoredType: _QueryNumber {
  /// The sum of what the property has in the objects of the collection as they are stored.
  public var sum: Query<T._StoredType> { aggregateOfElements(.sum) }
  /// The average of what the property has in the objects of the collection as they are stored.
  public var avg: Query<Double> { aggregateOfElements(.average) }
}
