import TarnStore

/// A class of the file with the class of the server with which it is exchanged.
struct ReplicaClass {
  let described: ClassSchema
  var exchange: ExchangeClass
  /// For each property the class that it links to, and its value if the server has none.
  private let targets: [ClassID?]
  private let absent: [Value]
  /// The properties whose values are stored directly, and the others: links, and properties with
  /// parts.
  let plain: [ExchangeClass.Property]
  let plainIDs: [ColumnID]
  let linksAndParts: [ExchangeClass.Property]
  /// For each column of the file, its index in `plain`; -1 for others.
  private let plainPlaces: [Int]
  /// For each property of `plain`.
  private let plainColumns: [RowReader.Column]
  /// The properties without parts whose columns may have values that they cannot hold.
  private let checked: [ExchangeClass.Property]
  /// Whether there are properties with parts.
  let hasContents: Bool

  var id: ClassID { described.id }

  /// - Parameters:
  ///   - schema: the schema of the file.
  ///   - names: all exchanged classes.
  ///   - snapshot: a snapshot of the file, which records renamed properties.
  /// - Throws: `ServerError` for a class that a replica cannot have.
  init(
    _ entry: ServerCatalog.Entry, _ described: ClassSchema, _ schema: StoreSchema,
    among names: [String], in snapshot: Snapshot
  ) throws {
    self.described = described
    let origins = try ColumnOrigins(of: described.id, in: snapshot.transaction)
    exchange = try ExchangeClass(
      entry, described, schema, formerNames: { origins.formerNames(of: $0, in: described) },
      exchanged: ExchangedNames.of(described.id, in: snapshot))
    for property in exchange.others {
      let column = described[property.id]
      let target = column.target.flatMap { schema[$0] }
      if let target, !target.isEmbedded, !names.contains(target.name) {
        throw ServerError(
          "exchange \(entry.name)",
          "\(entry.name).\(column.name) links to \(target.name), which is not exchanged",
          hint: "Exchange both classes.")
      }
    }
    targets = exchange.others.map { $0.contents == nil ? described[$0.id].target : nil }
    absent = exchange.others.map { described[$0.id].isOptional ? .null : $0.type.zero }
    hasContents = exchange.others.contains { $0.contents != nil }
    var (plain, others): ([ExchangeClass.Property], [ExchangeClass.Property]) = ([], [])
    for property in exchange.others {
      if property.contents == nil, targets[property.place] == nil {
        plain.append(property)
      } else {
        others.append(property)
      }
    }
    (self.plain, linksAndParts) = (plain, others)
    plainIDs = plain.map(\.id)
    checked = exchange.others.filter {
      $0.contents == nil && ([.objectID, .decimal].contains($0.type) || $0.domain != nil)
    }
    plainColumns = plain.map { RowReader.Column($0) }
    var places = [Int](repeating: -1, count: described.columns.count)
    for (place, property) in plain.enumerated() { places[property.id.index] = place }
    plainPlaces = places
  }

  /// The names of columns whose foreign keys refuse to delete a row that others refer to.
  static func refusing(_ classes: [ReplicaClass]) -> [ClassID: Set<String>] {
    Dictionary(classes.map { ($0.id, $0.exchange.rules.refusingColumns) }) { first, _ in first }
  }

  /// The key or a plain value of a new object; nil for other columns.
  func value(in row: RowReader.Row, at id: ColumnID) -> Value? {
    if id == exchange.key.id { return row.key.value }
    let place = plainPlaces[id.index]
    if place < 0 { return nil }
    return value(in: row, plain: place)
  }

  /// The plain value of a new object whose value is left out.
  func zero(of id: ColumnID) -> Value? {
    let place = plainPlaces[id.index]
    return place < 0 ? nil : absent[plainColumns[place].place]
  }

  /// The values without parts of a row that its object cannot hold unchanged.
  func faults(in row: RowReader.Row) -> [LeftOut.Part] {
    var parts: [LeftOut.Part] = []
    for property in checked {
      if let fault = row.fault(property) {
        parts.append(LeftOut.Part(column: property.id, fault: fault))
      }
    }
    return parts
  }

  /// Whether an object that is not here stays away: a zero would be taken for the id of another
  /// object, and would perhaps not be unique.
  func needs(_ parts: [LeftOut.Part]) -> Bool {
    parts.contains { part in
      let column = described[part.column]
      let isUnique = described.uniqueRules.contains { $0.contains(column.id) }
      return part.fault.kind == .leftOut && (column.type == .objectID || isUnique)
        && !column.isOptional
    }
  }

  /// A value of a row for the file, by its index in `plain`. A column that SQL set to null is zero
  /// here; `faults(in:)` returns the values that cannot be held.
  func value(in row: RowReader.Row, plain place: Int) -> Value {
    let column = plainColumns[place]
    let value = row.hasParts ? row.value(plain[place]) : row.value(column)
    return value ?? absent[column.place]
  }

  /// The value of a property without parts if the row has none.
  func absent(_ property: ExchangeClass.Property) -> Value {
    targets[property.place] == nil ? absent[property.place] : .null
  }

  /// The class that a property links to; nil for other properties, and for those with parts.
  func target(of property: ExchangeClass.Property) -> ClassID? { targets[property.place] }
}
