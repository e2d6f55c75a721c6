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
    StandardDescriptors.fill()
    SignalTrap.ignoreBrokenPipes()
    if let words = LastWords(ProgramArguments.all) { return words.tell().rawValue }
    let arguments = parser.parseOrExit()
    LastWords.keep(for: arguments)
    let output = OutputPipe()
    do {
      let code = try run(arguments, output)
      try output.flush()
      return code.rawValue
    } catch {
      return status(of: error, arguments.command, output).rawValue
    }
  }

  static func run(_ arguments: ParsedArguments, _ output: OutputPipe) throws -> ExitCode {
    switch arguments.command {
    case "inspect": return try InspectCommand(arguments).run(output)
    case "import": return try ImportCommand(arguments).run(output)
    case "export": return try ExportCommand(arguments).run(output)
    case "watch": return try WatchCommand(arguments).run(output)
    case "query": return try QueryCommand(arguments).run(output)
    case "count": return try CountCommand(arguments).run(output)
    case "reindex": return try ReindexCommand(arguments).run(output)
    case "log": return try LogCommand(arguments).run(output)
    case "cursor": return try CursorCommand(arguments).run(output)
    case "retention": return try RetentionCommand(arguments).run(output)
    case DaemonCommand.name:
      throw become(DaemonCommand.program, ProgramArguments.all.dropFirst(2))
    case let name where SyncCommands.names.contains(name):
      throw become(SyncCommands.program, ProgramArguments.all.dropFirst())
    case "schema": return try SchemaCommand(arguments).run(output)
    case "create": return try CreateCommand(arguments).run(output)
    case "undo", "revert": return try UndoCommand(arguments).run(output)
    case "alter": return try AlterCommand(arguments).run(output)
    case "diff": return try DiffCommand(arguments).run(output)
    case "dump": return try DumpCommand(arguments).run(output)
    case "load": return try LoadCommand(arguments).run(output)
    case "shell": return try ShellCommand(arguments).run()
    case "generate": return try GenerateCommand(arguments, parser).run(output)
    case "set": return try SetCommand(arguments).run(output)
    default: return try DeleteCommand(arguments).run(output)
    }
  }

  /// Becomes another program, which is next to this one or in its folder for programs.
  ///
  /// - Parameter words: its arguments.
  /// - Returns: why it cannot.
  private static func become(_ program: String, _ words: some Sequence<String>) -> ToolError {
    let folder = URL(fileURLWithPath: OwnProgram.path).deletingLastPathComponent()
    let places = [folder.path, folder.deletingLastPathComponent().path + "/lib/tarn"]
    var arguments = ([program] + words).map { $0.withPath { strdup($0) } } + [nil]
    for place in places { execv("\(place)/\(program)", &arguments) }
    return ToolError(
      "cannot start \(program) in \(places.joined(separator: " or ")): "
        + String(cString: strerror(errno)))
  }

  private static func status(
    of error: any Error, _ command: String, _ output: OutputPipe
  ) -> ExitCode {
    switch error {
    case OutputPipe.Failure.closed, OutputPipe.Failure.cancelled: return .success
    case OutputPipe.Failure.failed(let error):
      complain(error.message)
      return .failure
    case let error as UsageError:
      write(parser.refusal(error, of: command))
      return .usage
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
