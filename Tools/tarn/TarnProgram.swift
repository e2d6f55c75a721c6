import Foundation
import TarnStore
import ToolSupport

/// The shell for stores: parses the command line, runs one command, and turns its outcome into a
/// message and an exit status.
///
/// Errors in the command line exit with 2, all others with 1. A reader that closed the pipe, and a
/// signal that ends a watch, are not errors. A command that is killed because a file is damaged
/// exits with 1 as well: see `LastWords`.
enum TarnProgram {
  static let parser = CommandLineParser(
    program: "tarn", version: "\(ToolVersion.text) (LMDB \(Environment.engineVersion))",
    summary: "Inspects, queries, watches and changes Tarn stores, and imports and exports data.",
    commands: CommandTable.commands)

  static func run() -> Int32 {
    // The daemon handles it once it runs.
    if ProgramArguments.all.dropFirst().first == DaemonCommand.name { SignalTrap.block(SIGHUP) }
    StandardDescriptors.fill()
    SignalTrap.setUp()
    if let words = LastWords(ProgramArguments.all) { return words.tell().rawValue }
    let arguments = parser.parseOrExit()
    LastWords.keep(for: arguments)
    let output = OutputPipe()
    do {
      return try run(arguments, output).rawValue
    } catch {
      return status(of: error, arguments.command, output).rawValue
    }
  }

  /// Commands that change files. A signal ends them only before they commit.
  static let writing: Set = [
    "alter", "create", "cursor", "delete", "import", "load", "reindex", "repair", "retention",
    "revert",
    "set", "undo",
  ]

  /// Runs a command, and writes all of its output.
  static func run(_ arguments: ParsedArguments, _ output: OutputPipe) throws -> ExitCode {
    let command = try command(arguments)
    let isAtPrompt = Interruption.isWatched
    guard writing.contains(arguments.command), !isAtPrompt else {
      let code = try command(output)
      try output.flush()
      return code
    }
    let trap = Interruption.watchSignals(output.cancel)
    defer {
      Interruption.unwatch()
      withExtendedLifetime(trap) {}
    }
    let code = try command(output)
    try output.flush()
    // Its result is printed.
    if let number = Interruption.unwatch() { SignalTrap.end(by: number) }
    return code
  }

  /// The function that runs a command. Its arguments have been checked.
  static func command(
    _ arguments: ParsedArguments
  ) throws -> (OutputPipe) throws -> ExitCode {
    switch arguments.command {
    case "inspect": return try InspectCommand(arguments).run
    case "import":
      if let realm = try RealmFileArguments(importing: arguments) {
        throw become(RealmFileArguments.program, realm.words)
      }
      return try ImportCommand(arguments).run
    case "export": return try ExportCommand(arguments).run
    case "watch": return try WatchCommand(arguments).run
    case "query": return try QueryCommand(arguments).run
    case "count": return try CountCommand(arguments).run
    case "reindex": return try ReindexCommand(arguments).run
    case "log": return try LogCommand(arguments).run
    case "cursor": return try CursorCommand(arguments).run
    case "retention": return try RetentionCommand(arguments).run
    case DaemonCommand.name:
      throw become(DaemonCommand.program, ProgramArguments.all.dropFirst(2))
    case let name where SyncCommands.names.contains(name):
      throw become(SyncCommands.program, ProgramArguments.all.dropFirst())
    case "schema": return try SchemaCommand(arguments).run
    case "create": return try CreateCommand(arguments).run
    case "undo", "revert": return try UndoCommand(arguments).run
    case "alter": return try AlterCommand(arguments).run
    case "diff": return try DiffCommand(arguments).run
    case "dump": return DumpCommand(arguments).run
    case "load": return try LoadCommand(arguments).run
    case "copy": return try CopyCommand(arguments).run
    case "compact": return try CompactCommand(arguments).run
    case "accept": return try AcceptCommand(arguments).run
    case "flush": return try FlushCommand(arguments).run
    case "backup": return try BackupCommand(arguments).run
    case "repair": return try RepairCommand(arguments).run
    case "restore": return try RestoreCommand(arguments).run
    case "shell":
      let shell = try ShellCommand(arguments)
      return { _ in try shell.run() }
    case "generate": return try GenerateCommand(arguments, parser).run
    case "set": return try SetCommand(arguments).run
    default: return try DeleteCommand(arguments).run
    }
  }

  /// Becomes another program, which is next to this one or in its folder for programs.
  ///
  /// - Parameter words: its arguments.
  /// - Returns: why it cannot.
  private static func become(_ program: String, _ words: some Sequence<String>) -> ToolError {
    var arguments = ([program] + words).map { $0.withPath { strdup($0) } } + [nil]
    for place in places { execv("\(place)/\(program)", &arguments) }
    return ToolError(
      "cannot start \(program) in \(places.joined(separator: " or ")): "
        + String(cString: strerror(errno)))
  }

  /// Where other programs are: next to this one, or in its folder for programs.
  static var places: [String] {
    let folder = URL(fileURLWithPath: OwnProgram.path).deletingLastPathComponent()
    return [folder.path, folder.deletingLastPathComponent().path + "/lib/tarn"]
  }

  private static func status(
    of error: any Error, _ command: String, _ output: OutputPipe
  ) -> ExitCode {
    switch error {
    case let failure as OutputPipe.Failure:
      guard let reason = failure.message else { return .success }
      complain(reason)
      return .failure
    case let error as UsageError:
      write(parser.refusal(error, of: command))
      return .usage
    case is RealmFileSchema.Failure: return .failure
    default:
      // The output so far is worth showing; a second error is not.
      try? output.flush()
      complain("\(error)")
      return .failure
    }
  }

  /// Prints a line on standard error.
  static func complain(_ message: String) {
    write("tarn: \(printableLines(message))\n")
  }

  /// Prints text on standard error.
  static func write(_ text: String) {
    // If this fails, there is nowhere to report it.
    try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
  }
}
