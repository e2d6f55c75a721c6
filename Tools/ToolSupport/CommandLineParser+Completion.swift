extension CommandLineParser {
  /// A completion script for bash: commands, options, and names of files.
  package func bashCompletion() -> String {
    var text = """
      # Completion of \(program) for bash.
      _\(program)() {
        local word=${COMP_WORDS[COMP_CWORD]}
        COMPREPLY=()
        if [[ $COMP_CWORD -eq 1 ]]; then
          COMPREPLY=($(compgen -W "\(commands.map(\.name).joined(separator: " "))" -- "$word"))
          return
        fi
        if [[ $word != -* ]]; then
          COMPREPLY=($(compgen -f -- "$word"))
          return
        fi
        case ${COMP_WORDS[1]} in

      """
    for command in commands {
      let options = command.options.map { "--\($0.name)" } + ["--help"]
      text += "    \(command.name)) COMPREPLY=($(compgen -W \"\(options.joined(separator: " "))\" "
      text += "-- \"$word\")) ;;\n"
    }
    return text + "  esac\n}\ncomplete -o filenames -F _\(program) \(program)\n"
  }

  /// A completion script for zsh.
  package func zshCompletion() -> String {
    func quoted(_ text: String) -> String {
      "'" + text.replacingASCII("'", with: "'\\''") + "'"
    }
    func inner(_ text: String) -> String {
      text.replacingASCII { "[]:".unicodeScalars.contains($0) ? "\\\($0)" : nil }
    }
    var text =
      "#compdef \(program)\n# Completion of \(program) for zsh.\nlocal -a commands\ncommands=(\n"
    for command in commands { text += "  \(quoted("\(command.name):\(inner(command.summary))"))\n" }
    text += ")\nif (( CURRENT == 2 )); then\n  _describe command commands\n  return\nfi\n"
    text += "case $words[2] in\n"
    for command in commands {
      text += "  \(command.name)) _arguments"
      for option in command.options {
        let value = option.valueName.map { ":\(inner($0)):_files" } ?? ""
        let star = option.repeats ? "*" : ""
        text += " \\\n    \(quoted("\(star)--\(option.name)[\(inner(option.help))]\(value)"))"
      }
      text += " \\\n    '*:file:_files' ;;\n"
    }
    return text + "esac\n"
  }

  /// A completion script for fish.
  package func fishCompletion() -> String {
    func quoted(_ text: String) -> String {
      "'" + text.replacingASCII { "\\'".unicodeScalars.contains($0) ? "\\\($0)" : nil } + "'"
    }
    var text = "# Completion of \(program) for fish.\n"
    for command in commands {
      text += "complete -c \(program) -n __fish_use_subcommand -a \(command.name) "
      text += "-d \(quoted(command.summary))\n"
    }
    for command in commands {
      for option in command.options {
        text += "complete -c \(program) -n '__fish_seen_subcommand_from \(command.name)' "
        text += "-l \(option.name)"
        if let short = option.short { text += " -s \(short)" }
        if option.valueName != nil { text += " -r" }
        text += " -d \(quoted(option.help))\n"
      }
    }
    return text
  }
}
