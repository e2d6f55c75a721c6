import TarnStore
import TarnText
import ToolSupport

/// `tarn export`: writes the objects of one version in the query's order, one per line. Only their
/// keys are held in memory.
struct ExportCommand {
  private let query: ObjectQuery
  private let format: ObjectFormat

  init(_ arguments: ParsedArguments) throws {
    query = try ObjectQuery(arguments)
    let word = try arguments.choice("format", of: ["jsonl", "csv"], default: "jsonl")
    format = word == "csv" ? .csv : .jsonLines
  }

  func run(_ output: OutputPipe) throws -> ExitCode {
    try query.run { view, query, reader in
      try ObjectWriter(view, reader, output).write(query.evaluate(Rows(reader)), format)
    }
    return .success
  }
}

/// The formats that other programs read.
enum ObjectFormat { case jsonLines, csv }

/// Writes objects so that an import reads them back.
struct ObjectWriter {
  private let view: ClassView
  private let reader: SnapshotReader
  private let output: OutputPipe

  init(_ view: ClassView, _ reader: SnapshotReader, _ output: OutputPipe) {
    self.view = view
    self.reader = reader
    self.output = output
  }

  func write(_ root: OrderedRoot, _ format: ObjectFormat, in window: Range<Int> = 0..<Int.max)
    throws
  {
    switch format {
    case .jsonLines: try writeJSON(root, window)
    case .csv: try writeCSV(root, window)
    }
  }

  private func writeCSV(_ root: OrderedRoot, _ window: Range<Int>) throws {
    guard !view.columns.isEmpty else {
      throw ToolError(
        "class \(view.schema.name) has no properties, which CSV cannot express; JSON Lines can")
    }
    var csv = CSVWriter()
    csv.writeHeader(view.columns.map(\.name))
    try root.forEach(in: window) { key in
      guard let fields = try view.fields(of: key, Rows(reader)) else { return }
      csv.write(fields.map(\.text))
      try output.write(csv.bytes)
      csv.removeAll()
    }
    try output.write(csv.bytes)
  }

  private func writeJSON(_ root: OrderedRoot, _ window: Range<Int>) throws {
    var json = JSONText()
    try root.forEach(in: window) { key in
      guard let fields = try view.fields(of: key, Rows(reader)) else { return }
      view.write(fields, to: &json)
      json.endLine()
      try output.write(json.bytes)
      json.removeAll()
    }
  }
}
