import TarnStore
import ToolSupport

/// `tarn export`: the objects of one version, as the query orders them, a line each. Only their
/// keys are held in memory.
struct ExportCommand {
  private let path: String
  private let className: String
  private let isCSV: Bool
  private let condition: Predicate
  private let order: [OrderTerm]

  init(_ arguments: ParsedArguments) throws {
    path = arguments.required("FILE")
    className = arguments.required("CLASS")
    isCSV = try arguments.choice("format", of: ["jsonl", "csv"], default: "jsonl") == "csv"
    condition = try StoreAccess.condition(arguments)
    order = try StoreAccess.order(arguments)
  }

  func run(_ output: OutputPipe) throws -> ExitCode {
    let store = try StoreAccess.openExisting(path)
    let reader = try SnapshotReader(store.newestSnapshot())
    let view = try ClassView.named(className, in: reader.schema, path)
    let query = try CompiledQuery(condition, order, on: view.id, reader.schema)
    let root = try query.evaluate(StoreRows(reader))
    if isCSV {
      try writeCSV(root, view, reader, output)
    } else {
      try writeJSON(root, view, reader, output)
    }
    return .success
  }

  private func writeCSV(
    _ root: OrderedRoot, _ view: ClassView, _ reader: SnapshotReader, _ output: OutputPipe
  ) throws {
    var csv = CSVWriter()
    csv.write(view.columns.map(\.name))
    try forEach(root) { key in
      guard let fields = try view.fields(of: key, reader) else { return }
      csv.write(fields.map(\.text))
      try output.write(csv.bytes)
      csv.removeAll()
    }
    try output.write(csv.bytes)
  }

  private func writeJSON(
    _ root: OrderedRoot, _ view: ClassView, _ reader: SnapshotReader, _ output: OutputPipe
  ) throws {
    var json = JSONText()
    try forEach(root) { key in
      guard let fields = try view.fields(of: key, reader) else { return }
      view.write(fields, to: &json)
      json.endLine()
      try output.write(json.bytes)
      json.removeAll()
    }
  }

  private func forEach(_ root: OrderedRoot, _ body: (ObjectKey) throws -> Void) throws {
    var failure: (any Error)?
    root.forEachKey(in: 0..<root.count) { key in
      do {
        try body(key)
        return true
      } catch {
        failure = error
        return false
      }
    }
    if let failure { throw failure }
  }
}
