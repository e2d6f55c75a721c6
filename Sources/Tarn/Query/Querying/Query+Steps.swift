import TarnStore

/// Conditions on one element of a list: `$0.scores[0] > 3`, `$0.dogs[0].name == "Rex"`. If the list
/// is shorter, the element is nil.
extension Query {
  /// The element at that position.
  ///
  /// - Parameter position: from 0; a negative one traps.
  public subscript<E: _Persistable>(_ position: Int) -> Query<E> where T == List<E> {
    stepping(to: position)
  }

  /// The object at that position.
  ///
  /// - Parameter position: from 0; a negative one traps.
  public subscript<E: ObjectBase>(_ position: Int) -> Query<E?> where T == List<E> {
    stepping(to: position)
  }

  private func stepping<V>(to position: Int) -> Query<V> {
    require(
      position >= 0,
      "A position of a list must be 0 or more, not \(position): a filter string can use [LAST] "
        + "for the last element.")
    return appending([.element(.position(position))])
  }
}

/// Conditions on one element of a map: `$0.marks["maths"] > 3`, `$0.parts["left"].weight > 3`.
extension Query where T: RealmKeyedCollection, T.Key == String {
  /// The value under that key, nil if the key is missing.
  public subscript(_ key: String) -> Query<T.Value> { appending([.element(.key(key))]) }
}

extension Query where T: RealmKeyedCollection, T.Value == AnyRealmValue {
  /// Some value of the map, whose contents can follow: `$0.data.values["size"] > 3`.
  public var values: Query<AnyRealmValue> { element(of: [.values]) }
}

/// Conditions on values within an `AnyRealmValue`: `$0.data["address"]["city"] == "Bath"`. If a
/// value is not a list or map, or has no such element, the result is nil.
extension Query where T == AnyRealmValue {
  /// The element at that position, if the value is a list.
  ///
  /// - Parameter position: from 0; a negative one traps.
  public subscript(_ position: Int) -> Query<AnyRealmValue> { stepping(to: position) }

  /// The entry under a key, if the value is a map.
  public subscript(_ key: String) -> Query<AnyRealmValue> { appending([.element(.key(key))]) }

  /// Each element, if the value is a list or map: the condition is true if some element meets it.
  public var any: Query<AnyRealmValue> {
    var element: Query<AnyRealmValue> = appending([.element(.each)])
    if case .path(let path) = content, scope == nil { element.scope = ElementScope(path) }
    return element
  }

  /// The number of elements, if the value is a list or map.
  public var count: Query<Int> { numberOfElements }
}
