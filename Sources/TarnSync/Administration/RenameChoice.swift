/// Decides which properties of the server a migration renames.
struct RenameChoice {
  typealias Pair = (entry: ServerCatalog.Entry, from: String, to: String)

  private let renames: PropertyRenames
  private let wanted: [ServerClass]
  private let catalog: ServerCatalog
  private let operation: String

  init(
    _ renames: PropertyRenames, _ wanted: [ServerClass], _ catalog: ServerCatalog,
    _ operation: String
  ) {
    (self.renames, self.wanted) = (renames, wanted)
    (self.catalog, self.operation) = (catalog, operation)
  }

  /// - Throws: `ServerError` if a requested rename is impossible, and for a rename that the store
  ///   notes without a terminal to ask on: adding the property empty would lose its values.
  func run() throws(ServerError) -> [Pair] {
    var pairs: [Pair] = []
    let entries = try catalog.entries()
    for rename in renames.given { pairs += try given(rename, entries) }
    for one in wanted {
      guard let entry = entries.first(where: { $0.name == one.name }), !entry.key.isEmpty else {
        continue
      }
      pairs += try noted(one, entry, pairs)
    }
    return pairs
  }

  private func names(of one: ServerClass) -> Set<String> {
    Set(([one.key] + one.columns).map(\.name))
  }

  private func given(
    _ rename: PropertyRenames.Rename, _ entries: [ServerCatalog.Entry]
  ) throws(ServerError) -> [Pair] {
    let name = rename.className.map { "\($0).\(rename.from)" } ?? rename.from
    let places = wanted.filter {
      (rename.className ?? $0.name) == $0.name && names(of: $0).contains(rename.to)
    }
    guard let one = places.first, places.count == 1 else {
      throw ServerError(
        operation,
        places.isEmpty
          ? "cannot rename \(name): the store has no property \(rename.to) there"
          : "cannot rename \(name): several classes have a property \(rename.to)",
        hint: places.isEmpty ? "" : "Give the class, too: CLASS.\(rename.from)=\(rename.to)")
    }
    guard let entry = entries.first(where: { $0.name == one.name }) else {
      throw ServerError(operation, "the server does not have a class \(one.name)")
    }
    try catalog.requireWhole(entry)
    // It was renamed before.
    if entry.formerNames[rename.from] == rename.to { return [] }
    guard !names(of: one).contains(rename.from) else {
      throw ServerError(
        operation, "cannot rename \(name): the store still has a property \(rename.from)")
    }
    let known = try catalog.properties(of: entry)
    let present = try ServerRename(catalog, operation).columns(of: entry)
    guard known.contains(rename.from), let column = present[rename.from] ?? present[rename.to]
    else {
      throw ServerError(operation, "cannot rename \(name): the server has no such property")
    }
    if known.contains(rename.to) {
      throw ServerError(
        operation, "cannot rename \(name): the server has \(one.name).\(rename.to), too",
        hint: "Copy the values for \(rename.to) by SQL, drop the column \(rename.from), "
          + "and run 'tarn server migrate'.")
    }
    let own = ([one.key] + one.columns).first { $0.name == rename.to }
    guard own?.fits(column) == true else {
      throw ServerError(
        operation,
        "cannot rename \(name): it is \(column.type), and \(rename.to) is \(own?.type ?? "")")
    }
    return [(entry, rename.from, rename.to)]
  }

  /// The renames that the store's migrations recorded, or that an administrator confirms.
  private func noted(
    _ one: ServerClass, _ entry: ServerCatalog.Entry, _ pairs: [Pair]
  ) throws(ServerError) -> [Pair] {
    let names = names(of: one)
    var result: [Pair] = []
    func isTaken(_ name: String) -> Bool {
      (pairs + result).contains { $0.entry.id == entry.id && ($0.from == name || $0.to == name) }
    }
    for column in [one.key] + one.columns
    where entry.column(named: column.name) == nil && !isTaken(column.name) {
      let known = renames.known(column.name, of: entry, besides: names)
      if let known, renames.asks == nil {
        throw ServerError(
          operation, "this store has renamed \(one.name).\(known) to \(column.name)",
          hint: "Run 'tarn server migrate' with --rename \(one.name).\(known)=\(column.name).")
      }
      guard let asks = renames.asks else { continue }
      let others = entry.columns.filter { !names.contains($0.name) && column.fits($0) }
      for former in known.map({ [$0] }) ?? others.map(\.name) where !isTaken(former) {
        let size = try size(of: entry)
        if asks(
          "Is \(one.name).\(column.name) the property \(former) of the server, renamed?"
            + " Its table\(size) is locked while its name is changed.")
        {
          result.append((entry, former, column.name))
          break
        }
      }
    }
    return result
  }

  private func size(of entry: ServerCatalog.Entry) throws(ServerError) -> String {
    let rows = try catalog.connection.query(
      "SELECT reltuples::bigint FROM pg_class WHERE oid = $1::regclass", [entry.table],
      for: operation)
    guard let count = rows.first?[0].flatMap({ Int($0) }), count >= 0 else { return "" }
    return " of about \(count) rows"
  }
}
