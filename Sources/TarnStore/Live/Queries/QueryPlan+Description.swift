/// Descriptions of plans, with the names of the schema.
extension QueryPlan {
  /// How the rows are found.
  package func description(of query: CompiledQuery, _ rows: Rows) throws(StorageError)
    -> String
  {
    let schema = rows.schema[query.classID]
    let total = try rows.count(of: query.classID)
    switch access {
    case .scan(let keys):
      let part = keys == Self.everyKey ? "all" : "a range of keys among"
      return "scan of \(part) \(total) objects: \(reason(query, rows, schema))"
    case .candidates(let leaves):
      var ways: [String] = []
      for leaf in leaves {
        let way = leaf.description(schema, rows.schema)
        if !ways.contains(way) { ways.append(way) }
      }
      return
        (ways.isEmpty
        ? "nothing can match"
        : ways.joined(separator: ", and ")
          + ": at most \(rowCount) of \(total) objects")
    }
  }

  private func reason(
    _ query: CompiledQuery, _ rows: Rows, _ schema: ClassSchema
  ) -> String {
    if query.isUnfiltered { return "there is no condition" }
    guard let access = query.access(rows.schema)?.access else {
      return "no index fits the condition"
    }
    if !rows.hasIndexes { return "a migration has no indexes" }
    let names = Set(access.descriptions(schema, rows.schema)).sorted()
    return "a scan is quicker than \(names.joined(separator: " or "))"
  }
}

extension RowAccess {
  /// All accesses that could be chosen.
  fileprivate func descriptions(_ schema: ClassSchema, _ all: SchemaView) -> [String] {
    switch self {
    case .keys(let ranges): return [QueryPlan.Leaf.keys(ranges).description(schema, all)]
    case .entries(let entries):
      return [QueryPlan.Leaf.entries(entries).description(schema, all)]
    case .oneOf(let options), .union(let options):
      return options.flatMap { $0.descriptions(schema, all) }
    case .behind(let behind):
      let links = behind.links.reversed().map {
        ", then the links of '\(all[$0.classID][$0.column].name)'"
      }
      let target = all[behind.classID]
      return behind.access.descriptions(target, all).map {
        "\($0) of '\(target.name)'" + links.joined()
      }
    }
  }
}

extension QueryPlan.Leaf {
  func description(_ schema: ClassSchema, _ all: SchemaView) -> String {
    switch self {
    case .keys:
      let name = schema.primaryKey.map { schema[$0].name } ?? ""
      return "the primary key '\(name)'"
    case .entries(let entries):
      let names = entries.columns.map { "'\(schema[$0].name)'" }.joined(separator: ", ")
      guard entries.index.isOfColumn else { return "the unique rule over \(names)" }
      let column = schema[entries.columns[0]]
      if !entries.origin.isEmpty {
        let ways = entries.origin.map {
          $0.leaf.description(all[$0.classID], all) + " of '\(all[$0.classID].name)'"
        }
        return ways.joined(separator: ", ") + ", then the links of \(names)"
      }
      let kind = column.type == .link ? "links of" : "index on"
      let count = entries.ranges.count
      return "the \(kind) \(names)" + (count == 1 ? "" : " (\(count) ranges)")
    }
  }
}

extension CompiledQuery {
  /// How the query would be evaluated now, a line for each step: how rows are found, which tests
  /// they pass, how they are ordered, and which are dropped as equal.
  package func explanation(_ rows: Rows) throws(StorageError) -> [String] {
    let plan = try plan(rows)
    let walked = rows.isEdited(classID) ? nil : orderedEntries(by: order, plan.access, rows)
    var lines: [String]
    if case .scan = plan.access, let walked {
      let way = QueryPlan.Leaf.entries(walked).description(rows.schema[classID], rows.schema)
      lines = ["find: \(way), because it has the order"]
    } else {
      lines = ["find: \(try plan.description(of: self, rows))"]
    }
    if case .candidates = plan.access {
      lines.append(plan.isExact ? "test: none needed" : "test: the whole condition")
    }
    if orderIsThatOfKeysReversed {
      lines.append("order: by the primary key, descending")
    } else if !order.terms.isEmpty {
      lines.append(walked != nil ? "order: as in the index" : "order: sorted afterwards")
    }
    for stage in stages {
      let names = stage.paths.map { "'\($0.name(in: rows.schema))'" }.joined(separator: ", ")
      lines.append("distinct: the first of the objects with equal \(names)")
      if !stage.order.terms.isEmpty { lines.append("order: the remaining objects are sorted") }
    }
    return lines
  }
}

extension ColumnPath {
  func name(in schema: SchemaView) -> String {
    let links = links.map { schema[$0.classID][$0.column].name }
    return Path(names: links + [schema[classID][column].name]).text()
  }
}
