import TarnStore

/// A class in the form that is exchanged with a server: the table of its rows, and its properties
/// by name.
struct ExchangeClass {
  /// The server's number for it.
  let id: Int
  let table: String
  /// The form in statements: rows in child tables have no synchronization state.
  var rows: String { "ONLY \(table)" }
  let key: Property
  let others: [Property]
  /// The condition for the rows that the replica must have; nil for all.
  var filter: SQLCondition?
  /// Whether its objects are only sent to the server: they are not read there.
  var isAsymmetric = false
  var rules = TableRules()

  struct Property {
    /// Its index among the other properties; not for the key.
    var place = 0
    let id: ColumnID
    /// Its name on the server, which may differ from that in the file.
    let name: String
    /// The type of the value; for a link, of the target's primary key.
    let type: ColumnType
    /// For a property with parts: a collection, an embedded object or a mixed value.
    let contents: ContentCoder?
    /// The values that the program's type can hold, for a property without parts; nil for all.
    var domain: ValueDomain?
    var wire: WireType { contents == nil ? WireType(type) : .jsonb }
    /// Its name in statements.
    var column: String { SQLText.name(name) }
  }

  /// The names of the file's properties that the server does not have yet.
  let missing: [String]
  /// Those of them that exist on the server under a former name, as `Class.old=new`.
  let renamed: [String]
  /// Properties that do not fit their columns on the server, each with the reason.
  let mismatched: [String]

  /// - Parameters:
  ///   - entry: the class on the server. Its properties that are unknown here are ignored.
  ///   - schema: the schema of the class, for the targets of its links.
  ///   - formerNames: the former names of a property in the file.
  ///   - exchanged: the names of the properties that the file has exchanged.
  init(
    _ entry: ServerCatalog.Entry, _ described: ClassSchema, _ schema: StoreSchema = StoreSchema(),
    formerNames: @escaping (ColumnSchema) -> [String] = { _ in [] }, exchanged: Set<String> = []
  ) throws(ServerError) {
    let operation = "exchange \(entry.name)"
    if entry.isWithoutTable {
      throw ServerError(operation, "the server no longer has its table")
    }
    let fit = PropertyFit(entry, described, schema, formerNames, exchanged)
    guard let key = described.primaryKey.map({ described[$0] }),
      fit.column(of: key)?.name == entry.key
    else {
      throw ServerError(
        operation,
        "its primary key is \(entry.key.isEmpty ? "missing" : entry.key) on the server, "
          + "and another property here")
    }
    if let misfit = fit.misfit(key) { throw ServerError(operation, misfit) }
    id = entry.id
    table = entry.table
    self.key = Property(
      id: key.id, name: entry.key, type: key.type, contents: nil, domain: key.domain)
    let wanted = described.columns.filter { !$0.isRemoved && $0.id != key.id }
    let lacking = wanted.filter { fit.column(of: $0) == nil }
    missing = lacking.map { $0.name }
    renamed = lacking.compactMap { column in
      fit.formerName(of: column).map { "\(entry.name).\($0)=\(column.name)" }
    }
    mismatched = wanted.compactMap(fit.misfit)
    var others: [Property] = []
    for column in wanted where fit.misfit(column) == nil {
      guard let name = fit.column(of: column)?.name else { continue }
      others.append(
        Property(
          place: others.count, id: column.id, name: name,
          type: ItemCoder.type(of: column, schema), contents: ContentCoder(column, schema),
          domain: column.domain))
    }
    self.others = others
  }
}
