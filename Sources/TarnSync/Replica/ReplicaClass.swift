import TarnStore

/// A class of the file with the class of the server that it is exchanged with.
struct ReplicaClass {
  let described: ClassSchema
  var exchange: ExchangeClass
  /// For each property the class that it links to, and its value where the server has none.
  private let targets: [ClassID?]
  private let absent: [Value]
  /// The properties whose values are stored as they come, and the others: links, and those with
  /// parts.
  let plain: [ExchangeClass.Property]
  let linksAndParts: [ExchangeClass.Property]
  /// Whether there are some with parts.
  let hasContents: Bool

  var id: ClassID { described.id }

  /// - Parameters:
  ///   - schema: the file's.
  ///   - names: all classes that are exchanged.
  /// - Throws: `ServerError` for a class that a replica cannot have.
  init(
    _ entry: ServerCatalog.Entry, _ described: ClassSchema, _ schema: StoreSchema,
    among names: [String]
  ) throws(ServerError) {
    self.described = described
    exchange = try ExchangeClass(entry, described, schema)
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
  }

  /// A value of a row for the file. A column that SQL set to null, or to a value outside the
  /// property's type, is zero here.
  func value(in row: RowReader.Row, of property: ExchangeClass.Property) -> Value {
    row.value(property) ?? absent[property.place]
  }

  /// The class that a property links to; nil for other properties, and for those with parts.
  func target(of property: ExchangeClass.Property) -> ClassID? { targets[property.place] }
}
