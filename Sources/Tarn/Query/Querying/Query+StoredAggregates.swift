import TarnStore

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
