import TarnStore

/// A class of the file with the class of the server that it is exchanged with.
struct ReplicaClass {
  let described: ClassSchema
  let exchange: ExchangeClass

  var id: ClassID { described.id }

  /// - Throws: `ServerError` for a class that a replica cannot have.
  init(_ entry: ServerCatalog.Entry, _ described: ClassSchema) throws(ServerError) {
    self.described = described
    exchange = try ExchangeClass(entry, described)
    let structured = exchange.others.filter { property in
      let column = described[property.id]
      return column.collection != .none || [.any, .link].contains(column.type)
    }
    guard structured.isEmpty else {
      let names = structured.map(\.name).joined(separator: ", ")
      throw ServerError(
        "exchange \(entry.name)", "replicas do not exchange links and collections yet: \(names)")
    }
  }

  /// The value of a property as the file has it. A column that SQL set to null or to what the
  /// property's type does not have is zero here.
  func value(_ wire: WireValue?, of property: ExchangeClass.Property) -> Value {
    if let value = wire?.value(property.type) { return value }
    return described[property.id].isOptional ? .null : property.type.zero
  }
}
