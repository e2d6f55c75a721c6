import TarnStore

extension _Derivation {
  /// The query with a further filter string.
  func filtered(_ filter: FilterText) throws(Realm.Error) -> QuerySpec {
    spec.filtered(try filter.predicate(on: spec, core))
  }

  /// The same where the signature cannot throw.
  func filteredOrTrap(_ filter: FilterText) -> QuerySpec {
    do throws(Realm.Error) {
      return try filtered(filter)
    } catch {
      trap(error.message)
    }
  }
}

extension RealmCollection where Element: KeypathSortable {
  /// The objects that match a filter string, in the order of the collection.
  ///
  /// ```swift
  /// realm.objects(Dog.self).filter("age > %@ AND owner.name BEGINSWITH[c] 'b'", age)
  /// ```
  ///
  /// Each placeholder takes the next argument: `%@` for any value that a property can have, an
  /// object, nil, or a list after `IN` and `BETWEEN`; `%K` for the name or the path of a property;
  /// `[%K]` for a map's key, a position, `FIRST`, `LAST` or `#any`; `%d` and `%f` for numbers.
  /// Arguments are values, whatever they contain, and are never parsed as part of the string.
  ///
  /// For filters that are part of the program: a string that cannot be parsed traps with the
  /// problem and its place. Use `filtered(_:_:)` or ``Filter`` for strings that come from outside,
  /// and `where` for conditions that the compiler checks. Traps for an unmanaged or invalidated
  /// collection.
  public func filter(_ format: String, _ arguments: Any?...) -> Results<Element> {
    let base = _derivation
    return Results(
      base.core, base.filteredOrTrap(FilterText(format, arguments)),
      createdInWrite: base.createdInWrite)
  }

  /// The objects that match a filter string from outside the program; see `filter(_:_:)`.
  ///
  /// Traps for an unmanaged or invalidated collection.
  ///
  /// - Throws: `Realm.Error.invalidInput` with the problem and the character where it is: a syntax
  ///   error, a property that the class does not have, sides that cannot be compared, or arguments
  ///   that are missing, too many or of the wrong kind.
  public func filtered(_ format: String, _ arguments: Any?...) throws -> Results<Element> {
    let base = _derivation
    let spec = try base.filtered(FilterText(format, arguments))
    return Results(base.core, spec, createdInWrite: base.createdInWrite)
  }
}

extension Map where Value: OptionalProtocol, Value.Wrapped: ObjectBase {
  /// The objects among the values that match a filter string, in the order of the keys, like
  /// `List`. Traps in the same cases.
  public func filter(_ format: String, _ arguments: Any?...) -> Results<Value.Wrapped> {
    let base = derivation(of: Value.Wrapped.self)
    return Results(
      base.core, base.filteredOrTrap(FilterText(format, arguments)),
      createdInWrite: base.createdInWrite)
  }

  /// The same for strings from outside the program. Traps for an unmanaged or invalidated map.
  ///
  /// - Throws: `Realm.Error.invalidInput` with the problem and its place.
  public func filtered(_ format: String, _ arguments: Any?...) throws -> Results<Value.Wrapped> {
    let base = derivation(of: Value.Wrapped.self)
    let spec = try base.filtered(FilterText(format, arguments))
    return Results(base.core, spec, createdInWrite: base.createdInWrite)
  }
}
