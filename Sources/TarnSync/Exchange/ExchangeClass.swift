import TarnStore

/// A class as it is exchanged with a server: where its rows are, and its properties by name.
struct ExchangeClass {
  /// The server's number of it.
  let id: Int
  let table: String
  let key: Property
  let others: [Property]
  /// The condition of the rows that the replica is to have; nil for all.
  var filter: String?
  /// Whether its objects only go to the server: they are not read there.
  var isAsymmetric = false
  var rules = TableRules()

  struct Property {
    /// Its place among the others; not for the key.
    var place = 0
    let id: ColumnID
    let name: String
    /// The type of the value; for a link, of the target's primary key.
    let type: ColumnType
    /// For a property with parts: a collection, an embedded object or a mixed value.
    let contents: ContentCoder?
    var wire: WireType { contents == nil ? WireType(type) : .jsonb }
    /// For statements.
    var column: String { SQLText.name(name) }
  }

  /// The names of the file's properties that the server does not have yet.
  let missing: [String]
  /// Those whose columns have another type, with the types as a person reads them.
  let mismatched: [String]

  /// - Parameters:
  ///   - entry: the class on the server. Its properties that are unknown here stay as they are.
  ///   - schema: the class's, for the targets of its links.
  init(
    _ entry: ServerCatalog.Entry, _ described: ClassSchema, _ schema: StoreSchema = StoreSchema()
  ) throws(ServerError) {
    let operation = "exchange \(entry.name)"
    if entry.isWithoutTable {
      throw ServerError(operation, "the server has no table of it any more")
    }
    guard let key = described.primaryKey.map({ described[$0] }), key.name == entry.key else {
      throw ServerError(
        operation,
        "its primary key is \(entry.key.isEmpty ? "missing" : entry.key) on the server, "
          + "and another one here")
    }
    let known = Dictionary(entry.columns.map { ($0.name, $0) }) { $1 }
    func misfit(_ column: ColumnSchema) -> String? {
      guard let other = known[column.name] else { return nil }
      let own = ServerColumn(column, in: schema)
      if own.fits(other) { return nil }
      return "\(entry.name).\(column.name) is \(other.type) on the server and \(own.type) here"
    }
    if let misfit = misfit(key) { throw ServerError(operation, misfit) }
    id = entry.id
    table = entry.table
    self.key = Property(id: key.id, name: key.name, type: key.type, contents: nil)
    let wanted = described.columns.filter { !$0.isRemoved && $0.id != key.id }
    missing = wanted.map(\.name).filter { known[$0] == nil }
    mismatched = wanted.compactMap(misfit)
    others = wanted.filter { known[$0.name] != nil && misfit($0) == nil }
      .enumerated().map { place, column in
        Property(
          place: place, id: column.id, name: column.name, type: ItemCoder.type(of: column, schema),
          contents: ContentCoder(column, schema))
      }
  }
}
