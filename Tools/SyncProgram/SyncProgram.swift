import Foundation
import TarnStore
import TarnSync
import ToolSupport

/// `tarn sync` and `tarn server`: parses the command line and runs the command.
package enum SyncProgram {
  private static let parser = CommandLineParser(
    program: "tarn", version: "\(ToolVersion.text) (LMDB \(Environment.engineVersion))",
    summary: "Keeps Tarn stores and a PostgreSQL server the same.",
    commands: [SyncCommands.sync, SyncCommands.server])

  package static func run() -> Int32 {
    StandardDescriptors.fill()
    SignalTrap.setUp()
    let arguments = parser.parseOrExit()
    let output = OutputPipe()
    do {
      let code =
        switch arguments.command {
        case "server": try ServerCommand(arguments).run(output)
        default: try SyncCommand(arguments).run(output)
        }
      try output.flush()
      return code.rawValue
    } catch let error as UsageError {
      complain(parser.refusal(error, of: arguments.command))
      return ExitCode.usage.rawValue
    } catch let failure as OutputPipe.Failure {
      guard let reason = failure.message else { return ExitCode.success.rawValue }
      complain("tarn: \(printableLines(reason))\n")
      return ExitCode.failure.rawValue
    } catch {
      try? output.flush()
      complain("tarn: \(printableLines("\(error)"))\n")
      return ExitCode.failure.rawValue
    }
  }

  static func complain(_ text: String) {
    // If this fails, there is nowhere to report it.
    try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
  }
}
