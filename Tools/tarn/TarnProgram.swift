import Foundation
import TarnStore
import ToolSupport

/// The shell for stores: reads the command line, runs one command, and turns whatever ends it into
/// a message and an exit status.
///
/// What can be judged by the command line alone ends with 2, everything else that goes wrong with
/// 1. A reader that closed the pipe, and a signal that ends a watch, are no failures. What the
/// system would end a command for, because a file is damaged, ends with 1 as well: see `LastWords`.
enum TarnProgram {
  static let parser = CommandLineParser(
    program: "tarn", version: "\(ToolVersion.text) (LMDB \(Environment.engineVersion))",
    summary: "Inspects, queries, watches and changes Tarn stores, and imports and exports data.",
    commands: CommandTable.commands)

  static func run() -> Int32 {
    StandardDescriptors.fill()
    SignalTrap.ignoreBrokenPipes()
    if let words = LastWords(CommandLine.arguments) { return words.tell().rawValue }
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

  private static func run(
    _ arguments: ParsedArguments, _ output: OutputPipe
  ) throws -> ExitCode {
    switch arguments.command {
    case "inspect": return try InspectCommand(arguments).run(output)
    case "import": return try ImportCommand(arguments).run(output)
    case "export": return try ExportCommand(arguments).run(output)
    case "watch": return try WatchCommand(arguments).run(output)
    case "query": return try QueryCommand(arguments).run(output)
    case "count": return try CountCommand(arguments).run(output)
    case "reindex": return try ReindexCommand(arguments).run(output)
    case "set": return try SetCommand(arguments).run(output)
    default: return try DeleteCommand(arguments).run(output)
    }
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
      // What was printed before is worth showing; that it fails too is not.
      try? output.flush()
      complain("\(error)")
      return .failure
    }
  }

  /// A line on standard error.
  static func complain(_ message: String) {
    write("tarn: \(printableLines(message))\n")
  }

  private static func write(_ text: String) {
    // Nobody is left to be told if this fails.
    try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
  }
}
