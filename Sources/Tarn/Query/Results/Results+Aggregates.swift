import TarnStore

extension Results: PropertyAggregating {
  /// An aggregate of a property, computed from its column. The objects' values are read one by one
  /// only of an `AnyRealmValue` property, whose values the store does not add up.
  func storedAggregate(_ kind: AggregateTerm.Kind, of property: String) -> Value {
    check()
    require(
      spec.values == nil, "Elements of type '\(Element.self)' have no property '\(property)'.")
    let names = PathText.names(in: property)
    let reflection = core.binding(of: spec).reflection
    let found = names.count == 1 ? reflection.property(names[0]) : nil
    found?.requireAggregate(kind, names[0])
    if let found, found.type == .any, found.collection == .none {
      return ValueFold(of: self, elements: Element.self, property: property, for: kind).value(kind)
    }
    let name = found.map { PathText.text(of: [$0.columnName]) } ?? property
    let groups: GroupQuery
    do {
      groups = try GroupQuery(
        model.query, by: nil, [AggregateTerm(kind, of: name)], core.shown().schema.schema)
    } catch {
      trap("Invalid aggregate on '\(spec.type)': \(error)")
    }
    let source = core.rows()
    return trapping { () throws(StorageError) in
      if case .query = model { return try groups.values(of: nil, source)[0] }
      let rows = rows()
      return try groups.values(of: rows.keys(in: 0..<rows.count), source)[0]
    }
  }
}
