import ToolSupport

/// `tarn generate`: man pages and completions, from the same table as the help.
struct GenerateCommand {
  private let what: String
  private let command: String?
  private let parser: CommandLineParser

  init(_ arguments: ParsedArguments, _ parser: CommandLineParser) throws {
    what = arguments.required("WHAT")
    command = arguments.positional("COMMAND")
    self.parser = parser
    guard ["commands", "man", "bash", "zsh", "fish"].contains(what) else {
      throw UsageError("'\(what)' is not one of commands, man, bash, zsh, fish")
    }
    if let command, !parser.commands.contains(where: { $0.name == command }) {
      throw UsageError("there is no command '\(command)'")
    }
  }

  func run(_ output: OutputPipe) throws -> ExitCode {
    switch what {
    case "commands": try output.write(parser.commands.map { $0.name + "\n" }.joined())
    case "man": try output.write(parser.manPage(of: command))
    case "bash": try output.write(parser.bashCompletion())
    case "zsh": try output.write(parser.zshCompletion())
    default: try output.write(parser.fishCompletion())
    }
    return .success
  }
}
