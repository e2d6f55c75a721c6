import Foundation
import ToolSupport

/// `tarn generate`: man pages and completions, from the same table as the help.
struct GenerateCommand {
  private let what: String
  private let command: String?
  /// The words of a line that is being typed.
  private let words: [String]
  private let parser: CommandLineParser

  init(_ arguments: ParsedArguments, _ parser: CommandLineParser) throws {
    what = arguments.required("WHAT")
    words = arguments.positionals("COMMAND")
    command = words.first
    self.parser = parser
    guard ["commands", "man", "bash", "zsh", "fish", "words"].contains(what) else {
      throw UsageError("'\(what)' is not one of commands, man, bash, zsh, fish, words")
    }
    if what == "words" { return }
    guard words.count < 2 else { throw UsageError("'generate \(what)' takes one COMMAND") }
    if let command, !parser.commands.contains(where: { $0.name == command }) {
      throw UsageError("there is no command '\(command)'")
    }
  }

  func run(_ output: OutputPipe) throws -> ExitCode {
    switch what {
    case "commands": try output.write(parser.commands.map { $0.name + "\n" }.joined())
    case "man": try output.write(parser.manPage(of: command))
    case "bash": try output.write(parser.bashCompletion())
    case "words":
      for word in candidates() { try output.write(word + "\n") }
    case "zsh": try output.write(parser.zshCompletion())
    default: try output.write(parser.fishCompletion())
    }
    return .success
  }

  /// The words that may replace the last one.
  private func candidates() -> [String] {
    let plain = words.map(Self.plain)
    let typed = plain.last ?? ""
    guard words.count > 1 else {
      return parser.commands.map(\.name).filter { $0.beginsWithBytes(of: typed) }
    }
    guard let spec = parser.commands.first(where: { $0.name == plain[0] }) else { return [] }
    return WordCompletion(spec, plain[1..<plain.count - 1]).candidates(typed)
  }

  /// A word as the command gets it: without quotes, and with the home folder.
  private static func plain(_ word: String) -> String {
    guard let parts = try? ShellLine.split(word), parts.count == 1 else { return word }
    guard word.beginsWithBytes(of: "~/"), let rest = parts[0].rest(afterBytesOf: "~") else {
      return parts[0]
    }
    return NSHomeDirectory() + rest
  }
}
