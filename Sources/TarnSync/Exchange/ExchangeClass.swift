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

  /// - Parameters:
  ///   - entry: the class on the server. Its properties that are unknown here stay as they are.
  ///   - schema: the class's, for the targets of its links.
  init(
    _ entry: ServerCatalog.Entry, _ described: ClassSchema, _ schema: StoreSchema = StoreSchema()
  ) throws(ServerError) {
    guard let key = described.primaryKey.map({ described[$0] }), key.name == entry.key else {
      throw ServerError(
        "exchange \(entry.name)",
        "its primary key is \(entry.key) on the server, and another one here")
    }
    id = entry.id
    table = entry.table
    self.key = Property(id: key.id, name: key.name, type: key.type, contents: nil)
    let known = Set(entry.columns.map { StoredText($0.name) })
    let wanted = described.columns.filter { !$0.isRemoved && $0.id != key.id }
    missing = wanted.map(\.name).filter { !known.contains(StoredText($0)) }
    others = wanted.filter { known.contains(StoredText($0.name)) }
      .enumerated().map { place, column in
        Property(
          place: place, id: column.id, name: column.name, type: ItemCoder.type(of: column, schema),
          contents: ContentCoder(column, schema))
      }
  }
}
