import TarnStore

/// Conditions on one element of a list: `$0.scores[0] > 3`, `$0.dogs[0].name == "Rex"`. Where the
/// list is shorter, what is meant is nil.
extension Query {
  /// The element at that position.
  ///
  /// - Parameter position: from 0; less than that traps.
  public subscript<E: _Persistable>(_ position: Int) -> Query<E> where T == List<E> {
    stepping(to: position)
  }

  /// The object at that position.
  ///
  /// - Parameter position: from 0; less than that traps.
  public subscript<E: ObjectBase>(_ position: Int) -> Query<E?> where T == List<E> {
    stepping(to: position)
  }

  private func stepping<V>(to position: Int) -> Query<V> {
    require(
      position >= 0,
      "A position of a list must be 0 or more, not \(position): a filter string can use [LAST] "
        + "for the last element.")
    return appending([ValueStep.position(position).name])
  }
}

/// Conditions on one element of a map: `$0.marks["maths"] > 3`, `$0.parts["left"].weight > 3`.
extension Query where T: RealmKeyedCollection, T.Key == String {
  /// The value under that key, which is nil without one.
  public subscript(_ key: String) -> Query<T.Value> { appending([ValueStep.key(key).name]) }
}

extension Query where T: RealmKeyedCollection, T.Value == AnyRealmValue {
  /// Some value of the map, and on to what lies within it: `$0.data.values["size"] > 3`.
  public var values: Query<AnyRealmValue> { element(of: [CollectionCondition.mapValues]) }
}

/// Conditions on what lies within an `AnyRealmValue`: `$0.data["address"]["city"] == "Bath"`.
/// Where a value is no list or map, or has no such element, what is meant is nil.
extension Query where T == AnyRealmValue {
  /// An element of the list that the value is.
  ///
  /// - Parameter position: from 0; less than that traps.
  public subscript(_ position: Int) -> Query<AnyRealmValue> { stepping(to: position) }

  /// What the map that the value is has under a key.
  public subscript(_ key: String) -> Query<AnyRealmValue> { appending([ValueStep.key(key).name]) }

  /// Each element of the list or map that the value is: the condition is true if some element meets
  /// it.
  public var any: Query<AnyRealmValue> {
    var element: Query<AnyRealmValue> = appending([ValueStep.each.name])
    if case .path(let path) = content, scope == nil { element.scope = ElementScope(path) }
    return element
  }

  /// The number of elements of the list or map that the value is.
  public var count: Query<Int> { numberOfElements }
}
