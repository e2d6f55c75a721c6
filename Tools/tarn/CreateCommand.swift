import TarnStore
import TarnText
import ToolSupport

/// `tarn create`: makes a file with the classes of a schema.
struct CreateCommand {
  private let path: String
  private let schemaPath: String

  init(_ arguments: ParsedArguments) throws {
    path = arguments.required("FILE")
    guard let schema = arguments.value("schema") else {
      throw UsageError("'create' needs --schema")
    }
    schemaPath = schema
  }

  func run(_ output: OutputPipe) throws -> ExitCode {
    guard (StoreAccess.fileSize(path) ?? 0) == 0 else {
      throw ToolError("\(path): there is a file already")
    }
    var options = Store.Options()
    options.classes = try definitions()
    try Interruption.beginCommit()
    let store = try StoreRegistry.open(path, options)
    let classes = try store.newestSnapshot().schema.schema.classes
    try output.write("\(path): \(counted(classes.count, "class", plural: "es"))\n")
    return .success
  }

  private func definitions() throws -> [ClassDefinition] {
    let lines = try LineReader.open(schemaPath)
    var bytes: [UInt8] = []
    while let piece = try lines.piece() { bytes += piece }
    do {
      let classes = try SchemaJSON.classes(JSONScanner.exactValue(in: bytes))
      let plan = SchemaPlan(stored: StoreSchema(), wanted: classes)
      if let problem = plan.differences.first ?? plan.schema.inconsistency {
        throw ToolError(problem)
      }
      return classes
    } catch {
      throw ToolError("\(schemaPath): \(error)")
    }
  }
}
