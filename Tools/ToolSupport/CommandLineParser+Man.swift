extension CommandLineParser {
  /// The manual page of the program, or of one command, as roff.
  package func manPage(of name: String? = nil) -> String {
    let command = commands.first { $0.name == name }
    let isOwn = command == nil || name == program
    let title = isOwn ? program : "\(program)-\(name ?? "")"
    let words = version.splitASCII(" ").first ?? ""
    var text = ".TH \(Self.roff(title.uppercased())) 1 \"\" \"\(program) \(words)\"\n.SH NAME\n"
    let summary = command?.summary ?? self.summary
    text += "\(Self.roff(title)) \\- \(Self.roff(Self.withoutStop(summary)))\n"
    return text + (command.map(manBody) ?? manBody())
  }

  private static func withoutStop(_ text: String) -> String {
    text.endsWithBytes(of: ".") ? String(text.dropLast()) : text
  }

  private func manBody() -> String {
    var text = ".SH SYNOPSIS\n.B \(program)\n.I COMMAND\n[ARGUMENTS]\n.SH COMMANDS\n"
    for command in commands {
      text += ".TP\n.B \(Self.roff(command.name))\n\(Self.roff(command.summary))\n"
      text += "See \\fB\(program)\\-\(Self.roff(command.name))\\fR(1).\n"
    }
    text += ".SH EXIT STATUS\n"
    for (code, meaning) in ExitCode.table {
      text += ".TP\n.B \(code)\n\(Self.roff(meaning))\n"
    }
    return text
  }

  private func manBody(_ command: CommandSpec) -> String {
    let name = command.name == program ? program : "\(program) \(Self.roff(command.name))"
    var text = ".SH SYNOPSIS\n.B \(name)\n"
    if !command.options.isEmpty { text += "[OPTIONS]\n" }
    for argument in command.positionals { text += ".I \(Self.roff(argument.usage))\n" }
    if !command.discussion.isEmpty {
      text += ".SH DESCRIPTION\n\(Self.paragraphs(command.discussion))"
    }
    let groups = [
      ("ARGUMENTS", command.positionals.map { ($0.name, $0.help) }),
      ("OPTIONS", command.options.map { ($0.manUsage, $0.help) }),
    ]
    for (heading, rows) in groups where !rows.isEmpty {
      text += ".SH \(heading)\n"
      for (name, help) in rows { text += ".TP\n.B \(Self.roff(name))\n\(Self.roff(help))\n" }
    }
    return text + ".SH SEE ALSO\n.BR \(program) (1)\n"
  }

  /// Paragraphs; indented lines are not changed.
  private static func paragraphs(_ text: String) -> String {
    var result = ""
    var isCode = false
    for line in text.splitASCII("\n", omittingEmpty: false) {
      if line.beginsWithBytes(of: "    ") != isCode, !line.isEmpty {
        isCode.toggle()
        result += isCode ? ".PP\n.nf\n" : ".fi\n"
      }
      result += line.isEmpty ? ".PP\n" : "\(roff(String(line)))\n"
    }
    return result + (isCode ? ".fi\n" : "")
  }

  /// The text with escapes, so that roff prints it as it is.
  package static func roff(_ text: String) -> String {
    var escaped = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\\": escaped += "\\e"
      case "-": escaped += "\\-"
      case "…": escaped += "..."
      case "→": escaped += "\\(->"
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    // A line that begins with one of these is a request.
    return escaped.beginsWithBytes(of: ".") || escaped.beginsWithBytes(of: "'")
      ? "\\&" + escaped : escaped
  }
}

extension OptionSpec {
  /// The option in a manual: `-n, --name VALUE`.
  var manUsage: String {
    (short.map { "-\($0), " } ?? "") + "--\(name)" + (valueName.map { " \($0)" } ?? "")
  }
}
