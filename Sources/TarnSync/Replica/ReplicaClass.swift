import TarnStore

/// A class of the file with the class of the server that it is exchanged with.
struct ReplicaClass {
  let described: ClassSchema
  var exchange: ExchangeClass

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
  }

  /// Converts a value for the file. A column that SQL set to null, or to a value outside the
  /// property's type, is zero here.
  func value(_ wire: WireValue?, of property: ExchangeClass.Property) -> Value {
    if let value = wire?.value(property.type) { return value }
    return described[property.id].isOptional ? .null : property.type.zero
  }

  /// Whether the class has properties with parts.
  var hasContents: Bool { exchange.others.contains { $0.contents != nil } }

  /// The class that a property links to; nil for other properties, and for those with parts.
  func target(of property: ExchangeClass.Property) -> ClassID? {
    property.contents == nil ? described[property.id].target : nil
  }
}
