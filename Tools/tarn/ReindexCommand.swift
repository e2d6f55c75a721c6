import TarnStore
import ToolSupport

/// `tarn reindex`: rebuilds indexes from the objects in a commit that does not change the version.
struct ReindexCommand {
  private let path: String
  /// The class, or class and column, as given.
  private let wanted: String?
  private let patience: WriterPatience

  init(_ arguments: ParsedArguments) throws {
    path = arguments.required("FILE")
    wanted = arguments.positional("CLASS[.COLUMN]")
    patience = try WriterPatience(arguments)
  }

  /// The shell command for a file.
  static func line(for path: String) -> String {
    let isPlain = path.utf8.allSatisfy { byte in
      "/._-+,:@%=".utf8.contains(byte) || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
        || UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20
    }
    let word = isPlain ? path : "'" + path.replacingASCII("'", with: #"'\''"#) + "'"
    return "tarn reindex \(printable(path.beginsWithBytes(of: "-") ? "./" + word : word))"
  }

  func run(_ output: OutputPipe) throws -> ExitCode {
    let store = try StoreAccess.openExisting(path, writing: patience)
    let token = try patience.acquireGate(of: store)
    let indexes = try indexes(SnapshotReader(store.newestSnapshot()))
    try Interruption.beginCommit()
    let result = try store.reindex(indexes)
    token.release()
    for sentence in result.doubles { TarnProgram.complain(sentence) }
    guard result.doubles.isEmpty else {
      TarnProgram.complain(
        "nothing was written: delete or change \(counted(result.doubles.count, "object")) first")
      return .failure
    }
    try output.write(
      "rebuilt \(indexes.count) index\(indexes.count == 1 ? "" : "es") with "
        + "\(result.entries) entries\n")
    return .success
  }

  private func indexes(_ reader: SnapshotReader) throws -> [IndexName] {
    let classes = reader.schema.schema.classes
    guard let wanted else { return classes.flatMap { reader.indexNames(of: $0.id) } }
    if let described = classes.first(where: { $0.name == wanted }) {
      return reader.indexNames(of: described.id)
    }
    guard let owner = classes.first(where: { wanted.beginsWithBytes(of: $0.name + ".") }) else {
      // Throws an error that lists the classes.
      return reader.indexNames(of: try ClassView.named(wanted, in: reader.schema, path).id)
    }
    let name = String(wanted.rest(afterBytesOf: owner.name + ".") ?? "")
    guard let column = owner.named(name) else {
      throw ToolError("class \(owner.name) has no property '\(name)'")
    }
    let found = reader.indexNames(of: owner.id).filter { index in
      switch index {
      case .column(_, let indexed): indexed == column.id
      case .rule(_, let number): owner.uniqueRules[number].contains(column.id)
      }
    }
    guard !found.isEmpty else {
      throw ToolError("property '\(name)' of class \(owner.name) has no index")
    }
    return found
  }
}
