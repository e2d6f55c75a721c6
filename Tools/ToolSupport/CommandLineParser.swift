import Foundation
import TarnStore

/// Parses command lines by the usual conventions: long and short options, `--name=value`, joined
/// short flags, `--` before arguments that begin with a dash, options and arguments in any order,
/// `--help` and `--version` everywhere, `help COMMAND`.
package struct CommandLineParser: Sendable {
  /// The result of parsing a command line.
  package enum Outcome: Equatable, Sendable {
    case run(ParsedArguments)
    /// Help or the version: print it on standard output and exit with success.
    case show(String)
    /// Print it on standard error and exit with `ExitCode.usage`.
    case refuse(String)
  }

  package let program: String
  package let version: String
  package let summary: String
  /// The subcommands; a program without subcommands has exactly one, named like the program.
  package let commands: [CommandSpec]
  /// Whether the commands are lines of the program's own prompt, which has chosen FILE for them.
  package let isAtPrompt: Bool

  package init(
    program: String, version: String, summary: String, commands: [CommandSpec],
    isAtPrompt: Bool = false
  ) {
    precondition(!commands.isEmpty, "a program needs a command")
    self.isAtPrompt = isAtPrompt
    self.program = program
    self.version = version
    self.summary = summary
    self.commands = commands
  }

  private var single: CommandSpec? {
    commands.count == 1 && commands[0].name == program ? commands[0] : nil
  }

  /// Parses a command line; `arguments` does not include the program's name.
  package func parse(_ arguments: [String]) -> Outcome {
    do throws(UsageError) {
      return try understand(arguments)
    } catch {
      return .refuse(refusal(error, of: arguments.first))
    }
  }

  /// Parses this process's command line. Exits if there is nothing to run.
  package func parseOrExit(
    _ arguments: [String] = Array(ProgramArguments.all.dropFirst())
  ) -> ParsedArguments {
    switch parse(arguments) {
    case .run(let parsed): return parsed
    case .show(let text): exit(show(text).rawValue)
    case .refuse(let text):
      complain(text)
      exit(ExitCode.usage.rawValue)
    }
  }

  /// The message for standard error about a command line that was refused, also for errors that a
  /// command finds later, such as a number out of range.
  /// - Parameter command: the command, if it is known; the message then names its help.
  package func refusal(_ error: UsageError, of command: String? = nil) -> String {
    let known = commands.first { $0.name == command && $0.name != program }
    let name = known.map { "\(program) \($0.name)" } ?? program
    let message = printableLines(error.message)
    let help = isAtPrompt ? "help" + (known.map { " \($0.name)" } ?? "") : "\(name) --help"
    return "\(program): \(message)\nTry '\(help)' for more information.\n"
  }

  private func show(_ text: String) -> ExitCode {
    let output = OutputPipe()
    do throws(OutputPipe.Failure) {
      try output.write(text)
      try output.flush()
      return .success
    } catch {
      guard let reason = error.message else { return .success }
      complain("\(program): \(printableLines(reason))\n")
      return .failure
    }
  }

  private func complain(_ text: String) {
    // If this fails, there is nowhere to report it.
    try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
  }

  private func understand(_ arguments: [String]) throws(UsageError) -> Outcome {
    if let single { return try read(arguments[...], for: single) }
    guard let first = arguments.first else {
      throw UsageError("a command is missing: \(commands.map(\.name).joined(separator: ", "))")
    }
    switch first {
    case "--help", "-h": return .show(help())
    case "--version": return .show("\(program) \(version)\n")
    case "help":
      guard arguments.count > 1 else { return .show(help()) }
      return .show(help(for: try command(arguments[1])))
    default:
      if first.beginsWithBytes(of: "-") {
        throw UsageError("the command must come first, before '\(first)'")
      }
      return try read(arguments.dropFirst(), for: try command(first))
    }
  }

  private func command(_ name: String) throws(UsageError) -> CommandSpec {
    if let found = commands.first(where: { $0.name == name }) { return found }
    throw UsageError(
      "unknown command '\(name)'" + suggestion(for: name, among: commands.map(\.name)))
  }

  private func read(
    _ arguments: ArraySlice<String>, for command: CommandSpec
  ) throws(UsageError) -> Outcome {
    var rest = arguments
    var parsed = ParsedArguments(command: command.name)
    var positionalValues: [String] = []
    while let argument = rest.popFirst() {
      if argument == "--" {
        positionalValues += rest
        break
      }
      // A single dash is a name: standard input or output.
      guard argument.beginsWithBytes(of: "-"), argument != "-" else {
        positionalValues.append(argument)
        continue
      }
      if argument == "--help" || argument == "-h" { return .show(help(for: command)) }
      if argument == "--version" { return .show("\(program) \(version)\n") }
      // For packages, of a program that has no command to generate pages.
      if argument == "--man", single != nil { return .show(manPage(of: command.name)) }
      if argument.beginsWithBytes(of: "--") {
        try readLong(argument, command, &rest, &parsed)
      } else {
        try readShort(argument, command, &rest, &parsed)
      }
    }
    try assign(positionalValues, command, &parsed)
    return .run(parsed)
  }

  private func readLong(
    _ argument: String, _ command: CommandSpec, _ rest: inout ArraySlice<String>,
    _ parsed: inout ParsedArguments
  ) throws(UsageError) {
    let body = argument.rest(afterBytesOf: "--") ?? ""
    let parts = body.partsAroundASCII("=")
    let name = String(parts?.before ?? body)
    guard let option = command.options.first(where: { $0.name == name }) else {
      let names = command.options.map { "--\($0.name)" } + ["--help"]
      throw UsageError("unknown option '--\(name)'" + suggestion(for: "--\(name)", among: names))
    }
    if let parts {
      guard option.valueName != nil else { throw UsageError("--\(name) takes no value") }
      try record(String(parts.behind), option, &parsed)
    } else {
      try record(try value(of: option, &rest), option, &parsed)
    }
  }

  private func readShort(
    _ argument: String, _ command: CommandSpec, _ rest: inout ArraySlice<String>,
    _ parsed: inout ParsedArguments
  ) throws(UsageError) {
    var letters = argument.rest(afterBytesOf: "-") ?? ""
    while let letter = letters.popFirst() {
      guard let option = command.options.first(where: { $0.short == letter }) else {
        throw UsageError("unknown option '-\(letter)'")
      }
      if option.valueName != nil, !letters.isEmpty {
        try record(String(letters), option, &parsed)
        return
      }
      try record(try value(of: option, &rest), option, &parsed)
    }
  }

  /// The argument after an option that takes a value, whatever it looks like: `--limit -1` works.
  private func value(
    of option: OptionSpec, _ rest: inout ArraySlice<String>
  ) throws(UsageError) -> String {
    guard let valueName = option.valueName else { return "" }
    guard let value = rest.popFirst() else {
      throw UsageError("--\(option.name) needs a \(valueName) after it")
    }
    return value
  }

  private func record(
    _ value: String, _ option: OptionSpec, _ parsed: inout ParsedArguments
  ) throws(UsageError) {
    guard option.repeats || parsed.given[option.name] == nil else {
      throw UsageError("--\(option.name) is given twice")
    }
    let isPath = ["FILE", "PATH", "FOLDER"].contains(option.valueName)
    let value = isPath ? value : try text(of: value, for: "--\(option.name)")
    parsed.given[option.name, default: []].append(value)
  }

  /// An argument that is no path, as it was written.
  private func text(of argument: String, for name: String) throws(UsageError) -> String {
    guard argument.escapesBytes else { return argument }
    guard let text = String(validating: argument.pathBytes, as: UTF8.self) else {
      throw UsageError("\(name): '\(printable(argument))' is not UTF-8")
    }
    return text
  }

  private func assign(
    _ positionalValues: [String], _ command: CommandSpec, _ parsed: inout ParsedArguments
  ) throws(UsageError) {
    var rest = positionalValues[...]
    for spec in command.positionals {
      if spec.repeats {
        parsed.positionalValues[spec.name] = Array(rest)
        rest = []
      } else if let next = rest.popFirst() {
        parsed.positionalValues[spec.name] = [next]
      }
      if !spec.isPath, let values = parsed.positionalValues[spec.name] {
        var texts: [String] = []
        for value in values { texts.append(try text(of: value, for: spec.name)) }
        parsed.positionalValues[spec.name] = texts
      }
      if !spec.isOptional, parsed.positionalValues[spec.name, default: []].isEmpty {
        throw UsageError("\(command.name) needs \(spec.name): \(spec.help)")
      }
    }
    if let extra = rest.first { throw UsageError("unexpected argument '\(extra)'") }
  }
}

/// `; did you mean 'x'?` if a word is close to a known one, otherwise an empty string.
func suggestion(for word: String, among known: [String]) -> String {
  nearestName(to: word, among: known).map { "; did you mean '\($0)'?" } ?? ""
}
