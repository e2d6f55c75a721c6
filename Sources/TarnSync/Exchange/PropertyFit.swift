import TarnStore

/// The column of the server with which a property of the file is exchanged.
struct PropertyFit {
  private let entry: ServerCatalog.Entry
  private let schema: StoreSchema
  private let formerNames: (ColumnSchema) -> [String]
  private let exchanged: Set<String>
  /// The names of the file's properties.
  private let names: Set<String>

  init(
    _ entry: ServerCatalog.Entry, _ described: ClassSchema, _ schema: StoreSchema,
    _ formerNames: @escaping (ColumnSchema) -> [String], _ exchanged: Set<String>
  ) {
    (self.entry, self.schema) = (entry, schema)
    (self.formerNames, self.exchanged) = (formerNames, exchanged)
    names = Set(described.columns.filter { !$0.isRemoved }.map(\.name))
  }

  /// The column, which may have been renamed since the program was written; nil if the server has
  /// none.
  func column(of property: ColumnSchema) -> ServerColumn? { entry.column(named: property.name) }

  /// The name under which the server has the property's values from before a migration.
  func formerName(of property: ColumnSchema) -> String? {
    formerNames(property).first { name in
      !names.contains(name) && entry.columns.contains { $0.name == name }
    }
  }

  /// Why the property does not fit its column; nil if it fits, or if the server lacks the column.
  func misfit(_ property: ColumnSchema) -> String? {
    guard let other = column(of: property) else { return nil }
    let name = "\(entry.name).\(property.name)"
    if other.name != property.name, names.contains(other.name) {
      return "\(name) is the former name of \(other.name) on the server"
    }
    // The column was added without the former one's values, which would be fetched over ours.
    if !exchanged.contains(property.name), let former = formerName(of: property) {
      return "\(name) was \(former) in this store, and the server has both; copy the values for "
        + "\(property.name) by SQL, drop the column \(former), and run 'tarn server migrate'"
    }
    let own = ServerColumn(property, in: schema)
    if own.fits(other) { return nil }
    return "\(name) is \(other.type) on the server and \(own.type) here; give the "
      + "property with the new type another name"
  }
}
