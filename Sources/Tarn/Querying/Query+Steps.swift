import TarnStore

/// Conditions on one element of a map: `$0.marks["maths"] > 3`, `$0.parts["left"].weight > 3`.
extension Query where T: RealmKeyedCollection, T.Key == String {
  /// The value under that key. Without one a comparison with a value is false but for `!=`, as with
  /// nil.
  public subscript(_ key: String) -> Query<T.Value> { stepping(.key(key)) }
}

extension Query where T: RealmKeyedCollection, T.Value == AnyRealmValue {
  /// Some value of the map, and on to what lies within it: `$0.data.values["size"] > 3`.
  public var values: Query<AnyRealmValue> { element([CollectionCondition.mapValues]) }
}

/// Conditions on what lies within a value of any type: `$0.data["address"]["city"] == "Bath"`.
/// Where a value is no list or map, or has no such element, what is meant is nil.
extension Query where T == AnyRealmValue {
  /// An element of the list that the value is.
  ///
  /// - Parameter position: from 0; less than that traps.
  public subscript(_ position: Int) -> Query<AnyRealmValue> {
    require(position >= 0, "A position of a list is 0 or more, not \(position).")
    return stepping(.position(position))
  }

  /// What the map that the value is has under a key.
  public subscript(_ key: String) -> Query<AnyRealmValue> { stepping(.key(key)) }

  /// Each element of the list or map that the value is: the condition is true if some element meets
  /// it.
  public var any: Query<AnyRealmValue> { stepping(.each) }
}

extension Query {
  private func stepping<V>(_ step: ValueStep) -> Query<V> {
    switch content {
    case .path(let path): Query<V>(.path(path + [step.name]), in: storeOfObjects)
    case .any(let path): Query<V>(.any(path + [step.name]), of: collection, in: storeOfObjects)
    case .condition, .total, .anyCount: trap("A condition has no elements")
    }
  }
}
