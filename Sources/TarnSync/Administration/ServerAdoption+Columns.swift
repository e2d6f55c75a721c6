import TarnText

/// Adds columns that SQL has added to the table of a class: `tarn server adopt`, run again.
extension ServerAdoption {
  /// Adds the columns of a class's table that are not properties yet.
  ///
  /// - Returns: a line for each column; nil if the table is not that class, or has no such column.
  /// - Throws: `ServerError`, which lists all reasons why a column cannot be a property.
  func addColumns(_ name: String, _ place: TableName.Found) throws(ServerError) -> [String]? {
    let catalog = ServerCatalog(connection, Self.operation)
    guard let entry = try catalog.entry(named: name, with: place), !entry.key.isEmpty else {
      return nil
    }
    let table = try AdoptedTable(place, connection, Self.operation)
    let known = Set(entry.columns.map(\.name) + ServerClass.stateColumnNames.map(String.init))
    let others = table.columns.filter { !known.contains($0.name) }
    let added = others.filter(\.isProperty)
    if added.isEmpty { return nil }
    var problems: [String] = []
    for column in added {
      problems += ServerClass.nameProblems(column.name, "column \(column.name)")
      problems += table.problems(of: column)
      if let now = entry.formerNames[column.name] {
        problems.append(
          "\(column.name) is a former name of \(now), which older programs still use; "
            + "'tarn server migrate' with --free \(name).\(column.name) frees it")
      }
    }
    if !problems.isEmpty {
      throw ServerError(
        Self.operation, "the columns of \(table.name) cannot be properties of \(name)",
        detail: problems.map { "- \($0)" }.joined(separator: "\n"))
    }
    let columns = added.map { ServerColumn(name: $0.name, type: $0.type) }
    try catalog.changing { () throws(ServerError) in
      try connection.run("SET LOCAL lock_timeout = '10s'", for: Self.operation)
      for column in columns { try catalog.note(column, entry.id) }
      // The values of all rows were set without a trigger.
      try catalog.renew(entry.id)
      let whole = try catalog.existing(name)
      try ServerDefinitions(connection).add(columns, to: whole)
      try catalog.makeTriggers(whole)
    }
    return columns.map { "added \(name).\($0.name)" }
      + others.compactMap(\.rest)
  }
}

extension ServerCatalog {
  /// The class of that name; nil if it has another table, or does not exist.
  func entry(
    named name: String, with table: TableName.Found
  ) throws(ServerError) -> Entry? {
    try ServerSetup.check(connection, operation)
    let found = try connection.query(
      "SELECT FROM tarn.class WHERE name = $1 AND tab = $2::oid", [name, table.oid], for: operation)
    return found.isEmpty ? nil : try existing(name)
  }
}

extension ServerDefinitions {
  /// Adds columns to the declaration of a class, so that new stores have them, too. Without a
  /// declaration they have all columns.
  func add(
    _ columns: [ServerColumn], to entry: ServerCatalog.Entry
  ) throws(ServerError) {
    guard let text = try texts(of: [entry])[entry.id],
      case .array(let classes)? = try? JSONScanner.value(in: text)
    else { return }
    let names = Set(columns.map(\.name))
    let properties = try self.columns(entry).properties.filter { names.contains($0.name) }
    let added = properties.map { property in
      JSONValue.object(
        [
          JSONMember("name", .string(property.name)),
          JSONMember("type", .string(ValueText.name(of: property.type))),
        ] + (property.isOptional ? [JSONMember("optional", .bool(true))] : []))
    }
    let changed = classes.map { item in
      guard case .object(let members) = item, item["class"] == .string(entry.name) else {
        return item
      }
      return JSONValue.object(
        members.map { member in
          guard member.name == "columns", case .array(let own) = member.value else { return member }
          let others = own.filter { column in !names.contains { column["name"] == .string($0) } }
          return JSONMember("columns", .array(others + added))
        })
    }
    try connection.query(
      "UPDATE tarn.class SET definition = $2 WHERE id = $1",
      ["\(entry.id)", JSONText.text(.array(changed))], for: "adopt columns")
  }
}
