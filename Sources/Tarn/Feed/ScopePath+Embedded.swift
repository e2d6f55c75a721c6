import TarnStore

/// Embedded objects are part of the property that holds them: a selection of the property has them
/// whole.
extension ScopePath {
  /// The maximum number of properties and levels, because embedded classes may contain themselves.
  private static let (propertiesMax, levelsMax) = (4_000, 64)

  /// The path; where it ends at embedded objects, with all that is in them, level by level.
  func withEmbedded(_ schema: SchemaView) -> ScopePath {
    guard let end = dependencies.last, end.origin == nil else { return self }
    var path = self
    var level = [end]
    for _ in 0..<Self.levelsMax where !level.isEmpty {
      level = level.flatMap { Self.inside($0, schema) }
      path.dependencies += level
      if path.dependencies.count > Self.propertiesMax { break }
    }
    return path
  }

  private static func inside(_ end: QueryDependency, _ schema: SchemaView) -> [QueryDependency] {
    guard let target = schema[end.classID][end.column].target, schema.isEmbedded(target) else {
      return []
    }
    let links = end.links + [LinkStep(classID: end.classID, column: end.column, target: target)]
    return schema[target].columns.filter { !$0.isRemoved }.map { column in
      QueryDependency(links: links, classID: target, column: column.id)
    }
  }
}
