import TarnStore

extension RealmCollection where Element: ObjectBase {
  /// The position of the first object that meets a condition, or nil. The collection may be
  /// unmanaged. Traps for an invalidated one.
  public func index(matching condition: (Query<Element>) -> Query<Bool>) -> Int? {
    if isUnmanaged {
      return index(
        of: condition(Query<Element>.root).predicate, among: UnmanagedRows(Element.self))
    }
    let base = _derivation
    let predicate = condition(Query<Element>.root(in: base.core)).predicate
    return Results<Element>(base.core, base.spec, createdInWrite: base.createdInWrite).index(
      of: predicate)
  }

  /// The position of the first object that matches a filter string, or nil. Traps in the same cases
  /// as `filter(_:_:)`, but not for an unmanaged collection.
  public func index(matching format: String, _ arguments: Any?...) -> Int? {
    let filter = FilterText(format, arguments)
    do throws(Realm.Error) {
      guard isUnmanaged else {
        let base = _derivation
        let condition = try filter.predicate(on: base.spec, base.core)
        return Results<Element>(base.core, base.spec, createdInWrite: base.createdInWrite).index(
          of: condition)
      }
      let rows = UnmanagedRows(Element.self)
      return index(of: try filter.predicate(on: Element.self, among: rows), among: rows)
    } catch {
      trap(error.message)
    }
  }

  /// True for a collection that belongs to no Realm, and never did.
  private var isUnmanaged: Bool { realm == nil && !isInvalidated }

  private func index(of predicate: Predicate, among rows: UnmanagedRows) -> Int? {
    let resolved: ResolvedPredicate
    do {
      resolved = try ResolvedPredicate(predicate, on: ClassID(0), in: rows.schema.schema)
    } catch {
      trap("Invalid query on '\(Element.className())': \(error)")
    }
    return trapping { () throws(StorageError) in
      for (position, object) in enumerated()
      where try resolved.matches(rows.key(of: object, ClassID(0)), in: Rows(rows)) {
        return position
      }
      return nil
    }
  }
}

extension RealmCollection where Element: _Persistable {
  /// The position of the first value that meets a condition, or nil:
  /// `scores.index(matching: { $0 > 3 })`. The collection may be unmanaged.
  public func index(matching condition: (Query<Element>) -> Query<Bool>) -> Int? {
    let predicate = condition(Query<Element>.root).predicate
    do {
      return index(of: try ValueCondition(predicate, Element.conditionColumn))
    } catch {
      trap("Invalid query on values of '\(Element.self)': \(error)")
    }
  }

  /// The position of the first value that matches a filter string, or nil. `SELF` in it is the
  /// value: `scores.index(matching: "SELF > %@", 3)`. Traps for a string that cannot be parsed. The
  /// collection may be unmanaged.
  public func index(matching format: String, _ arguments: Any?...) -> Int? {
    let column = Element.conditionColumn
    do throws(Realm.Error) {
      let condition = try FilterText(format, arguments).predicate(
        on: "values of '\(Element.self)'", nil
      ) { (parsed) throws(PredicateSyntaxError) in try parsed.check(onValuesOf: column) }
      do {
        return index(of: try ValueCondition(condition, column))
      } catch {
        trap("internal error: \(error)")
      }
    } catch {
      trap(error.message)
    }
  }

  private func index(of condition: ValueCondition) -> Int? {
    firstIndex { condition.matches($0._boxElement().valueToTest) }
  }
}

extension _BoxedValue {
  /// Lists, maps and unmanaged objects are not nil, but equal nothing in a condition.
  fileprivate var valueToTest: Value {
    if nested != nil { return .list(CollectionID(0)) }
    return object != nil && value == .null ? .link(ObjectKey(0)) : value
  }
}

extension RealmCollectionValue {
  /// The column type of an element in conditions.
  fileprivate static var conditionColumn: ColumnSchema {
    let description = _elementDescription
    return ColumnSchema(
      id: ColumnID(0), name: "SELF", type: description.type, isOptional: description.isOptional)
  }
}
