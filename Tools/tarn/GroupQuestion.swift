import TarnStore
import TarnText
import ToolSupport

/// The groups and aggregates that `--group` and `--aggregates` ask for.
struct GroupQuestion {
  /// The property that groups the objects; nil for one group of all objects.
  private let key: String?
  private let terms: [AggregateTerm]
  /// The name of each aggregate in the output, which is not that of the property.
  private let names: [String]

  /// Nil if neither is given.
  init?(_ arguments: ParsedArguments) throws {
    guard arguments.has("group") || arguments.has("aggregates") else { return nil }
    for option in ["sort", "columns"] where arguments.has(option) {
      throw UsageError(
        "--\(option) does not go with --group and --aggregates: groups are in the order of their "
          + "keys")
    }
    key = arguments.value("group")
    let names = StoreAccess.names("aggregates", arguments)
    guard !names.isEmpty || !arguments.has("aggregates") else {
      throw UsageError("--aggregates names no aggregate")
    }
    let aggregates = names.isEmpty ? ["count"] : names.map(String.init)
    terms = try aggregates.map(Self.term)
    for (place, name) in aggregates.enumerated() where aggregates[..<place].contains(name) {
      throw UsageError("--aggregates has \(name) twice")
    }
    self.names = Self.names(of: aggregates, besides: key)
  }

  private static func names(of aggregates: [String], besides key: String?) -> [String] {
    guard let key = key.map({ PathText.name($0) }), aggregates.contains(key) else {
      return aggregates
    }
    var other = key
    repeat { other = "_" + other } while aggregates.contains(other)
    return aggregates.map { $0 == key ? other : $0 }
  }

  private static func term(_ text: String) throws -> AggregateTerm {
    if text == "count" { return AggregateTerm(.count) }
    let parts = text.splitASCII(":", maxSplits: 1, omittingEmpty: false)
    let kinds: [Substring: AggregateTerm.Kind] = [
      "sum": .sum, "min": .min, "max": .max, "avg": .average,
    ]
    guard parts.count == 2, !parts[1].isEmpty, let kind = kinds[parts[0]] else {
      throw UsageError(
        "--aggregates takes count, sum:NAME, min:NAME, max:NAME and avg:NAME, not '\(text)'")
    }
    return AggregateTerm(kind, of: String(parts[1]))
  }

  /// The key path of the property.
  private var path: Path? { key.map { Path(text: $0) } }

  /// A group's key, if there is one, and its aggregates.
  func row(at position: Int, of table: GroupTable) -> [Value] {
    (key == nil ? [] : [table.key(at: position)]) + table.values(at: position)
  }

  /// The model for a live source of the groups.
  func model(_ query: CompiledQuery, _ schema: SchemaView) throws -> GroupsModel {
    try GroupsModel(ResultModel(.query(query)), by: path, terms, schema)
  }

  /// The view that shows the groups.
  func view(of schema: ClassSchema) -> ClassView {
    ClassView(groupsOf: schema, by: key, names)
  }

  /// Writes the groups at these positions, as a table by default.
  func write(
    _ query: CompiledQuery, _ reader: SnapshotReader, _ format: ObjectFormat?,
    in window: Range<Int>,
    _ output: OutputPipe, _ terminal: Terminal
  ) throws {
    let groups = try GroupQuery(query, by: path, terms, reader.schema.schema)
    let table = try groups.evaluate(Rows(reader))
    let rows = window.clamped(to: 0..<table.count).lazy.map { row(at: $0, of: table) }
    let headings = (key.map { [PathText.name($0)] } ?? []) + names
    switch format {
    case .csv?: try writeCSV(headings, rows, output)
    case .jsonLines?: try writeJSON(headings, rows, output)
    case nil: try writeTable(headings, rows, output, terminal)
    }
  }

  private func writeCSV(
    _ headings: [String], _ rows: some Sequence<[Value]>, _ output: OutputPipe
  ) throws {
    var csv = CSVWriter()
    csv.writeHeader(headings)
    for row in rows { csv.write(row.map { ValueText.text($0) }) }
    try output.write(csv.bytes)
  }

  private func writeJSON(
    _ headings: [String], _ rows: some Sequence<[Value]>, _ output: OutputPipe
  ) throws {
    var json = JSONText()
    for row in rows {
      json.beginObject()
      for (heading, value) in zip(headings, row) {
        json.key(heading)
        ValueText.write(value, to: &json)
      }
      json.endObject()
      json.endLine()
    }
    try output.write(json.bytes)
  }

  private func writeTable(
    _ headings: [String], _ rows: some Sequence<[Value]>, _ output: OutputPipe,
    _ terminal: Terminal
  ) throws {
    let columns = headings.enumerated().map { number, heading in
      TextTable.Column(printable(heading), number == 0 && key != nil ? .left : .right)
    }
    var table = TextTable(columns)
    for row in rows {
      table.add(row.map { $0 == .null ? "" : truncated(ValueText.shown($0), toWidth: 40) })
    }
    let width = terminal.isTerminal ? terminal.width : nil
    try output.write(table.takeText(width: width, terminal: terminal))
  }
}
