/// A collection whose values can be aggregated: its elements, or the values of a map.
public protocol _AggregatedCollection {
  /// The type of the values.
  associatedtype _Aggregated
}

/// A collection or map of objects, whose properties can be aggregated.
public protocol _ObjectAggregating {
  /// The type of the objects.
  associatedtype _Member
}
