import TarnStore
import TarnText
import ToolSupport

/// `tarn dump`: writes the classes and objects of one version as text; see `DumpText`. Holds one
/// object in memory.
struct DumpCommand {
  private let path: String

  init(_ arguments: ParsedArguments) { path = arguments.required("FILE") }

  func run(_ output: OutputPipe) throws -> ExitCode {
    let snapshot = try StoreAccess.openExisting(path).newestSnapshot()
    let reader = try SnapshotReader(snapshot)
    let rows = Rows(KeyedRows(reader))
    let schema = snapshot.schema.schema
    let classes = schema.classes.filter { !$0.isVacant }
    try output.write(
      DumpText.header(classes, schema, version: snapshot.head.schemaVersion).bytes)
    for described in classes where !described.isEmbedded {
      try write(described, reader, rows, output)
    }
    return .success
  }

  private func write(
    _ described: ClassSchema, _ reader: SnapshotReader, _ rows: Rows, _ output: OutputPipe
  ) throws {
    let record = try reader.record(of: described.id)
    try output.write(DumpText.section(described, record).bytes)
    let columns = described.shownColumns
    var count = 0
    var failure: (any Error)?
    try reader.forEachCluster(in: described.id) { found throws(StorageError) in
      do {
        try write(found.image, described.id, columns, rows, output)
      } catch {
        failure = error
      }
      count += found.image.rowCount
      return failure == nil
    }
    if let failure { throw failure }
    guard count == record.rowCount else {
      throw ToolError(
        "the file is damaged: class \(described.name) says it has \(record.rowCount) objects, but "
          + "there are \(count)")
    }
  }

  private func write(
    _ image: ClusterImage, _ id: ClassID, _ columns: [ColumnSchema], _ rows: Rows,
    _ output: OutputPipe
  ) throws {
    var json = JSONText()
    for slot in 0..<image.rowCount {
      let key = image.key(at: slot)
      json.beginArray()
      json.integer(key.rawValue)
      json.beginObject()
      for column in columns {
        json.key(column.name)
        if !column.mayHaveParts(rows.schema), let value = try image.value(column, slot) {
          ValueText.write(value, to: &json)
        } else {
          let content = try rows.content(of: column, at: key, in: id)
          json.value(try ContentJSON.json(content, column, rows))
        }
      }
      json.endObject()
      json.endArray()
      json.endLine()
      try output.write(json.bytes)
      json.removeAll()
    }
  }
}
