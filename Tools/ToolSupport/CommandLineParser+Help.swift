extension CommandLineParser {
  private static let standardOptions = [
    OptionSpec.flag("help", short: "h", "show this text"),
    OptionSpec.flag("version", "show the version"),
  ]

  /// The help of the whole program: its summary and its commands.
  package func help() -> String {
    if commands.count == 1, commands[0].name == program { return help(for: commands[0]) }
    if isAtPrompt { return helpAtPrompt() }
    var text = "\(summary)\n\nUsage: \(program) COMMAND [ARGUMENTS]\n\nCommands:\n"
    text += columns(commands.map { ($0.name, $0.summary) })
    text += "\nOptions:\n" + columns(Self.standardOptions.map { ($0.usage, $0.help) })
    text += "\nExit status:\n" + columns(ExitCode.table.map { ("\($0.code)", $0.meaning) })
    text += "\n'\(program) COMMAND --help' shows the help of a command.\n"
    return text
  }

  private func helpAtPrompt() -> String {
    let own = [("help", "Shows this text, or the help of a command."), ("quit, exit", "Ends.")]
    return "\(summary)\n\nCommands:\n" + columns(commands.map { ($0.name, $0.summary) } + own)
      + "\n'help COMMAND' shows the help of a command.\n"
  }

  /// The help of one command: its usage and the meaning of each part.
  package func help(for command: CommandSpec) -> String {
    let isAlone = command.name == program || isAtPrompt
    var usage = "Usage: \(isAlone ? command.name : "\(program) \(command.name)")"
    if !command.options.isEmpty { usage += " [OPTIONS]" }
    let positionals = command.positionals.filter { !isAtPrompt || $0.name != "FILE" }
    for argument in positionals { usage += " \(argument.usage)" }
    var text = "\(command.summary)\n\n\(usage)\n"
    if !positionals.isEmpty {
      text += "\nArguments:\n" + columns(positionals.map { ($0.name, $0.help) })
    }
    let options = command.options + Self.standardOptions
    text += "\nOptions:\n" + columns(options.map { ($0.usage, $0.help) })
    if !command.discussion.isEmpty { text += "\n\(command.discussion)\n" }
    return text
  }

  /// Two columns within 80 characters, the second one wrapped under itself.
  private func columns(_ rows: [(String, String)]) -> String {
    let left = min(30, rows.map { $0.0.count }.max() ?? 0)
    var text = ""
    for (name, help) in rows {
      let lines = wrap(help, width: 80 - left - 4)
      var front = name
      if name.count > left {
        text += "  \(name)\n"
        front = ""
      }
      for line in lines {
        text += "  " + front + String(repeating: " ", count: left - front.count) + "  \(line)\n"
        front = ""
      }
    }
    return text
  }

  /// Breaks a text between words into lines of at most `width` letters; a longer word gets its own
  /// line.
  private func wrap(_ text: String, width: Int) -> [String] {
    var lines: [String] = []
    var line = ""
    for word in text.splitASCII(" ") {
      if !line.isEmpty, line.count + 1 + word.count > width {
        lines.append(line)
        line = ""
      }
      line += line.isEmpty ? String(word) : " \(word)"
    }
    lines.append(line)
    return lines
  }
}
