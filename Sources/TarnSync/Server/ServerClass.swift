import TarnStore
import TarnText

/// A class as a table of the server.
struct ServerClass: Equatable, Sendable {
  let name: String
  let key: ServerColumn
  /// The other properties.
  let columns: [ServerColumn]
  /// The columns of each unique rule.
  let uniqueRules: [[String]]
  /// The class and its embedded classes as JSON; nil for a table of an application.
  var definition: String?

  /// A row must fit into a page.
  static let columnsMax = 500
  private static let systemColumns: Set = ["tableoid", "xmin", "cmin", "xmax", "cmax", "ctid"]

  /// - Returns: the class, or the reason why the server cannot have it.
  static func made(
    _ described: ClassSchema, _ schema: StoreSchema
  ) -> (class: ServerClass?, problems: [String]) {
    let columns = described.columns.filter { !$0.isRemoved }
    var problems = columns.flatMap {
      nameProblems($0.name, "property \(described.name).\($0.name)")
    }
    problems += nameProblems(described.name, "class \(described.name)")
    if columns.count > columnsMax {
      problems.append(
        "class \(described.name) has \(columns.count) properties; the server takes \(columnsMax)")
    }
    guard let primaryKey = described.primaryKey else {
      problems.append(
        "class \(described.name) has no primary key, by which replicas know its objects")
      return (nil, problems)
    }
    let keyColumn = described[primaryKey]
    if ![.int, .string, .uuid, .objectID].contains(keyColumn.type) {
      problems.append(
        "the primary key \(described.name).\(keyColumn.name) must be "
          + "an Int, String, UUID or ObjectId"
      )
    }
    var others: [ServerColumn] = []
    for column in columns where column.id != primaryKey {
      let target = column.target.flatMap { schema[$0] }
      let isEmbedded = target?.isEmbedded == true
      let targetKey = target.flatMap { target in target.primaryKey.map { target[$0] } }
      if let target, !isEmbedded, targetKey == nil {
        problems.append(
          "\(described.name).\(column.name) links to \(target.name), which has no primary key")
        continue
      }
      others.append(ServerColumn(column, embedded: isEmbedded, targetKey: targetKey))
    }
    var key = keyColumn
    key.isOptional = false
    var made = ServerClass(
      name: described.name, key: ServerColumn(key, embedded: false, targetKey: nil),
      columns: others,
      uniqueRules: described.uniqueRules.map { $0.map { described[$0].name } })
    made.definition = definition(described, schema)
    return problems.isEmpty ? (made, []) : (nil, problems)
  }

  private static func definition(_ described: ClassSchema, _ schema: StoreSchema) -> String {
    var classes = [described]
    var next = 0
    while next < classes.count {
      for column in classes[next].columns where !column.isRemoved {
        guard let embedded = ItemCoder.embedded(column, schema),
          !classes.contains(where: { $0.id == embedded.id })
        else { continue }
        classes.append(embedded)
      }
      next += 1
    }
    return JSONText.text(SchemaJSON.json(classes, schema))
  }

  static func nameProblems(_ name: String, _ what: String) -> [String] {
    if name.utf8.count > SQLText.nameBytesMax {
      return [
        "the name of \(what) has \(name.utf8.count) bytes; PostgreSQL takes "
          + "\(SQLText.nameBytesMax)"
      ]
    }
    if name.utf8.contains(0) { return ["the name of \(what) has a NUL in it"] }
    if name.beginsWithBytes(of: "_tarn_") {
      return ["\(what): names that begin with _tarn_ are Tarn's own"]
    }
    if systemColumns.contains(name) { return ["\(what): PostgreSQL has a column of that name"] }
    return []
  }
}

extension ServerClass {
  /// The synchronization state of each row. It is stored in the row, so that the row's policies
  /// cover it.
  static let stateColumns = """
    _tarn_xid xid8 NOT NULL,
    _tarn_oid bigint NOT NULL,
    _tarn_at bigint NOT NULL,
    _tarn_by integer NOT NULL,
    _tarn_cols jsonb,
    _tarn_parts jsonb,
    _tarn_in jsonb
    """

  static let stateColumnNames = stateColumns.splitASCII("\n").compactMap {
    $0.splitASCII(" ").first
  }

  func table(in schema: String) -> String { "\(SQLText.name(schema)).\(SQLText.name(name))" }

  /// Creates the table, without triggers.
  func creation(_ table: String) -> String {
    let definitions =
      [key.definition + " PRIMARY KEY"] + columns.map(\.definition) + [Self.stateColumns]
    return """
      CREATE TABLE \(table) (
      \(definitions.joined(separator: ",\n"))
      );
      CREATE INDEX ON \(table) (_tarn_xid);
      GRANT SELECT, INSERT, UPDATE, DELETE ON \(table) TO \(ServerSchema.client);
      """
  }
}
