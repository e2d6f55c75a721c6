import TarnStore

extension RealmCollection {
  /// A property of each element, in the order of the collection; nil where it is null. The key
  /// "self" gives the elements themselves.
  ///
  /// Traps if the elements are no objects or have no such property.
  public func value(forKey key: String) -> [Any?] { ElementKeys.values(of: self, key) }

  /// A property behind links of each element, such as `mother.age`, as `value(forKey:)` gives one;
  /// or a number: `@count`, or `@min`, `@max`, `@sum` or `@avg` with a path behind, such as
  /// `@max.age`. Nil values and NaN do not take part in these; without any, the sum is 0 and the
  /// others are nil. `@sum.self` is of the elements themselves.
  ///
  /// Traps where `value(forKey:)` does, for other operators, and for values that are neither
  /// numbers nor dates.
  public func value(forKeyPath path: String) -> Any? { ElementKeys.value(of: self, path) }

  /// Sets a property of each element, as `setValue(_:forKey:)` of an object does, and traps where
  /// that would; in a managed collection also if there is no element.
  public func setValue(_ value: Any?, forKey key: String) {
    ElementKeys.set(value, of: self, key, realm)
  }
}

extension Map {
  /// A property of each value, in the order of the keys; nil where it is null or the value is. The
  /// key "self" gives the values themselves.
  ///
  /// Traps if the values are no objects or have no such property.
  public func value(forKey key: String) -> [Any?] { ElementKeys.values(of: values, key) }

  /// A property behind links of each value, or a number, as `List` gives it.
  public func value(forKeyPath path: String) -> Any? { ElementKeys.value(of: values, path) }

  /// Sets a property of each value that is there, as `List` does.
  public func setValue(_ value: Any?, forKey key: String) {
    ElementKeys.set(value, of: values, key, realm)
  }
}

/// Properties of the elements of a collection by name.
private enum ElementKeys {
  static func values<S: Sequence>(of elements: S, _ path: String) -> [Any?] {
    elements.map { element in
      let content = flattened(element)
      if path == "self" { return content }
      switch content {
      case nil: return nil
      case let object as ObjectBase: return object.value(forKeyPath: path)
      default: trap("Elements of type '\(S.Element.self)' have no property '\(path)'.")
      }
    }
  }

  static func value<C: Collection>(of elements: C, _ path: String) -> Any? {
    guard path.hasPrefix("@") else { return values(of: elements, path) }
    if path == "@count" { return elements.count }
    let parts = path.split(separator: ".", maxSplits: 1)
    guard parts.count == 2 else { trapOperator(path) }
    var fold = ValueFold()
    for value in values(of: elements, String(parts[1])) {
      if let value { fold.add(number(value, path)) }
    }
    switch parts[0] {
    case "@min": return DynamicValue.unboxed(_BoxedValue(fold.min))
    case "@max": return DynamicValue.unboxed(_BoxedValue(fold.max))
    case "@sum": return DynamicValue.unboxed(_BoxedValue(fold.sum))
    case "@avg": return DynamicValue.unboxed(_BoxedValue(fold.average))
    default: trapOperator(path)
    }
  }

  static func set(
    _ value: Any?, of elements: some Sequence, _ key: String, _ realm: Realm?
  ) {
    if let realm { _ = realm.core.writing("modify managed objects") }
    for element in elements {
      switch flattened(element) {
      case nil: break
      case let object as ObjectBase: object.setValue(value, forKey: key)
      default:
        trap("Elements of type '\(type(of: element))' have no property '\(key)' to be set.")
      }
    }
  }

  private static func number(_ value: Any, _ path: String) -> Value {
    let boxed = (value as? any _Persistable)?._box().value ?? .null
    switch boxed {
    case .int, .float, .double, .decimal, .date: return boxed
    default: trap("The path '\(path)' leads to '\(value)', which is no number and no date.")
    }
  }

  private static func trapOperator(_ path: String) -> Never {
    trap(
      "The path '\(path)' is neither '@count' nor '@min', '@max', '@sum' or '@avg' with a property."
    )
  }
}
