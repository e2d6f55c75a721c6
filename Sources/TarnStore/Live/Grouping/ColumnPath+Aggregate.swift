extension ColumnPath {
  /// The column of that name, which may be in back quotes. Throws for a column that does not exist,
  /// is behind a link, or is neither a number nor a date.
  init(
    aggregated name: String, on classID: ClassID, in schema: StoreSchema
  ) throws(PredicateError) {
    if let problem = Self.problem(ofAggregated: name) {
      let known = (schema[classID]?.columns ?? []).lazy.filter { !$0.isRemoved }.map(\.name)
      let advice = PathText.advice(for: PathText.names(in: name), among: known)
      throw PredicateError(problem + (advice.map { "; \($0)" } ?? ""))
    }
    let name = PathText.name(name)
    self = try ColumnPath([name], from: classID, in: schema, for: .aggregate)
    guard type.isNumeric || type == .date else {
      throw PredicateError(
        "property '\(name)' of class '\(schema[classID]?.name ?? "")' is of type "
          + "\(typeName(in: schema)), which has no minimum, maximum or sum")
    }
  }

  /// The reason why a path cannot be aggregated; nil for a name.
  package static func problem(ofAggregated name: String) -> String? {
    guard PathText.names(in: name).count > 1 else { return nil }
    return "'\(name)' is not a property of the objects themselves, and only those can be "
      + "aggregated. Go over the objects in Swift instead"
  }
}
