import TarnStore

// Those by key path are what every collection has.
extension Results {
  /// The minimum of the property with that name, nil if there are no values. Traps if the class has
  /// no such property or its type is another.
  public func min<T: MinMaxType>(ofProperty name: String) -> T? {
    ValueFold.typed(folded(name)?.min ?? aggregate(name).min, "property '\(name)'")
  }

  /// The maximum of the property with that name, nil if there are no values. Traps if the class has
  /// no such property or its type is another.
  public func max<T: MinMaxType>(ofProperty name: String) -> T? {
    ValueFold.typed(folded(name)?.max ?? aggregate(name).max, "property '\(name)'")
  }

  /// The sum of the property with that name, 0 if there are no values. Traps if the class has no
  /// such property, if its type is another, or if the type cannot hold the sum.
  public func sum<T: AddableType>(ofProperty name: String) -> T {
    let total = folded(name)?.sum ?? aggregate(name).sum
    guard let sum: T = ValueFold.typed(total, "property '\(name)'") else {
      trap("Dates have no sum: property '\(name)'.")
    }
    return sum
  }

  /// The average of the property with that name, nil if there are no values; truncated for integer
  /// types. Traps if the class has no such property or it is not a number.
  public func average<T: AddableType>(ofProperty name: String) -> T? {
    if let fold = folded(name) { return ValueFold.typed(fold.average, "property '\(name)'") }
    let aggregate = aggregate(name)
    require(aggregate.path.type != .date, "Dates have no average: property '\(name)'.")
    return ValueFold.typed(aggregate.average, "property '\(name)'")
  }

  /// Of an `AnyRealmValue` property, which the store does not add up; nil for others.
  private func folded(_ name: String) -> ValueFold? {
    check()
    guard spec.values == nil,
      core.binding(of: spec).reflection.property(PathText.name(name))?.type == .any
    else {
      return nil
    }
    return ValueFold(of: self, elements: Element.self, property: name)
  }

  private func aggregate(_ property: String) -> ScanAggregate {
    check()
    require(
      spec.values == nil, "Elements of type '\(Element.self)' have no property '\(property)'.")
    let query = model.query
    let reflection = core.binding(of: spec).reflection
    let names = PathText.names(in: property)
    let found = names.count == 1 ? reflection.property(names[0]) : nil
    let name = found.map { PathText.text(of: [$0.columnName]) } ?? property
    var aggregate: ScanAggregate
    do {
      aggregate = try ScanAggregate(name, on: query.classID, in: core.shown().schema.schema)
    } catch {
      trap("Invalid aggregate on '\(spec.type)': \(error)")
    }
    let source = core.rows()
    trapping { () throws(StorageError) in
      if case .query = model {
        try query.feed(&aggregate, source)
      } else {
        let rows = rows()
        try query.feed(&aggregate, keys: rows.keys(in: 0..<rows.count), source)
      }
    }
    return aggregate
  }
}
