import TarnStore
import ToolSupport

/// `tarn alter`: changes the properties of a class in a migration, which is one commit.
struct AlterCommand {
  private let path: String
  private let className: String
  private let edits: ClassEdits
  /// The schema version that the file gets; nil for the one that it has.
  private let schemaVersion: UInt64?
  private let patience: WriterPatience

  init(_ arguments: ParsedArguments) throws {
    path = arguments.required("FILE")
    className = arguments.required("CLASS")
    edits = try ClassEdits(arguments)
    schemaVersion =
      arguments.has("schema-version")
      ? UInt64(try arguments.integer("schema-version", default: 0, in: 0...(.max))) : nil
    patience = try WriterPatience(arguments)
    guard (ClassEdits.options + ["schema-version"]).contains(where: arguments.has) else {
      let list = ClassEdits.options.map { "--\($0)" }.joined(separator: ", ")
      throw UsageError("'alter' needs one of \(list)")
    }
  }

  func run(_ output: OutputPipe) throws -> ExitCode {
    let store = try StoreAccess.openExisting(path, writing: patience)
    var lines: [String] = []
    let (_, version) = try StoreAccess.write(
      store, patience,
      beginning: { snapshot in
        let session: WriteSession
        (session, lines) = try begin(snapshot)
        return session
      }, { _ in })
    for line in lines { try output.write(line + "\n") }
    try output.write(
      "\(lines.isEmpty ? "nothing to change in" : "changed") \(printable(className)), "
        + "version \(version.rawValue)\n")
    return .success
  }

  private func begin(_ snapshot: Snapshot) throws -> (WriteSession, [String]) {
    let schema = snapshot.schema
    let last = snapshot.head.schemaVersion
    if let schemaVersion, schemaVersion < last {
      throw ToolError("\(path) has the schema version \(last), which is not lowered")
    }
    let described = try ClassView.named(className, in: schema, path).schema
    let alteration = try ClassAlteration(edits, of: described, in: schema.schema)
    let migration = try alteration.migration(snapshot, to: schemaVersion ?? last, path)
    var lines = alteration.lines(migration.plan.working)
    if let schemaVersion, schemaVersion > last {
      lines.append("~ schema version: \(last) → \(schemaVersion)")
    }
    if lines.isEmpty {
      return (WriteSession(try SnapshotReader(snapshot)) {}, lines)
    }
    return (try migration.finish(), lines)
  }
}
