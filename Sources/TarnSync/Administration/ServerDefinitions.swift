package import TarnStore
import TarnText

/// The classes of a server as a store declares them: for a new replica.
package struct ServerDefinitions {
  private static let operation = "read the classes of the server"
  let connection: ServerConnection

  package init(_ connection: ServerConnection) { self.connection = connection }

  /// - Parameter names: the classes; nil for all.
  /// - Returns: the classes and their embedded ones. A table that belonged to an application has
  ///   the columns with single values, and those that a store has declared.
  /// - Throws: `ServerError` for a class that the server does not have.
  package func run(_ names: [String]?) throws(ServerError) -> [ClassDefinition] {
    let catalog = ServerCatalog(connection, Self.operation)
    let entries =
      if let names {
        try catalog.entries(named: names)
      } else {
        try catalog.entries().filter { !$0.key.isEmpty }
      }
    if names != nil {
      for entry in entries { try catalog.requireWhole(entry) }
    }
    let texts = try texts(of: entries)
    var definitions: [ClassDefinition] = []
    for entry in entries { definitions += try definition(entry, texts[entry.id]) }
    var known: Set<String> = []
    definitions = definitions.filter { known.insert($0.name).inserted }
    if let names { try Self.requireTargets(of: definitions, names) }
    return definitions
  }

  /// Why the server cannot exchange some of its classes: their tables, or the tables' primary keys,
  /// were dropped.
  ///
  /// - Parameter names: the classes to check; nil for all.
  package func problems(of names: [String]?) throws(ServerError) -> [ServerError] {
    let catalog = ServerCatalog(connection, ServerSetup.exchange)
    var problems: [ServerError] = []
    for entry in try catalog.entries() where names?.contains(entry.name) ?? true {
      do throws(ServerError) {
        try catalog.requireWhole(entry)
      } catch {
        problems.append(error)
      }
    }
    return problems
  }

  /// - Throws: `ServerError` if a class links to one that was not chosen.
  private static func requireTargets(
    of definitions: [ClassDefinition], _ names: [String]
  ) throws(ServerError) {
    let known = Set(definitions.map(\.name))
    var (links, missing): ([String], Set<String>) = ([], [])
    for one in definitions {
      for property in one.properties {
        guard let target = property.target, !known.contains(target) else { continue }
        links.append("\(one.name).\(property.name) links to \(target)")
        missing.insert(target)
      }
    }
    if links.isEmpty { return }
    let options = missing.sorted().map { "--class \($0)" }.joined(separator: " ")
    throw ServerError(
      operation, links.joined(separator: ", ") + ", which is not among the chosen classes",
      hint: "Exchange it, too: \(options)")
  }

  /// The declarations of the classes by stores, by the numbers of the classes.
  func texts(of entries: [ServerCatalog.Entry]) throws(ServerError) -> [Int: String] {
    let rows = try connection.query(
      "SELECT id, tarn.definition(id) FROM unnest($1::integer[]) id",
      [SQLText.array(entries.map { "\($0.id)" })], for: Self.operation)
    var texts: [Int: String] = [:]
    for row in rows {
      if let id = row[0].flatMap({ Int($0) }), let text = row[1] { texts[id] = text }
    }
    return texts
  }

  private func definition(
    _ entry: ServerCatalog.Entry, _ text: String?
  ) throws(ServerError) -> [ClassDefinition] {
    guard let text else { return [try columns(entry)] }
    do {
      var classes = try SchemaJSON.classes(JSONScanner.value(in: text))
      let present = Set(entry.columns.map(\.name))
      for place in classes.indices where classes[place].name == entry.name {
        // Without columns that were dropped since.
        classes[place].properties.removeAll { !present.contains($0.name) }
        let declared = Set(classes[place].properties.map(\.name))
        if present != declared {
          classes[place].properties += try columns(entry).properties.filter {
            !declared.contains($0.name)
          }
        }
      }
      return classes
    } catch {
      throw ServerError(
        Self.operation, "the server's definition of \(entry.name) is damaged",
        detail: "\(error)", hint: "Run 'tarn server migrate' with a store that has the class.")
    }
  }

  /// The class of a table that belonged to an application.
  func columns(_ entry: ServerCatalog.Entry) throws(ServerError) -> ClassDefinition {
    let rows = try connection.query(
      """
      SELECT attname FROM pg_attribute
      WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped AND attnotnull
      """, [entry.table], for: Self.operation)
    let required = Set(rows.compactMap { $0[0] })
    let properties = entry.columns.compactMap { column -> ClassDefinition.Property? in
      guard var type = SQLTypeName(column.type).propertyType else { return nil }
      let isKey = column.name == entry.key
      // Other bytes cannot be a key.
      if isKey, type == .data { type = .objectID }
      return ClassDefinition.Property(
        name: column.name, type: type, isOptional: !isKey && !required.contains(column.name),
        isIndexed: isKey, isPrimaryKey: isKey)
    }
    return ClassDefinition(name: entry.name, properties: properties)
  }
}
