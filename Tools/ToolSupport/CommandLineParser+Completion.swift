extension CommandLineParser {
  /// A completion script for bash, which calls the program for commands, options, and the names in
  /// a file. Where that prints nothing, bash completes file names.
  package func bashCompletion() -> String {
    """
    # Completion of \(program) for bash.
    _\(program)() {
      local IFS=$'\n' words cword word front index
      if declare -F _get_comp_words_by_ref >/dev/null; then
        _get_comp_words_by_ref -n =: words cword
      else
        words=("${COMP_WORDS[@]}") cword=$COMP_CWORD
      fi
      word=${words[cword]}
      COMPREPLY=($("$1" generate words -- "${words[@]:1:cword}" 2>/dev/null))
      [[ ${COMPREPLY[0]} == *[=:] ]] && compopt -o nospace
      # Bash replaces what follows the last of these.
      front=${word%"${word##*[=:]}"}
      for index in "${!COMPREPLY[@]}"; do
        printf -v "COMPREPLY[index]" %q "${COMPREPLY[index]#"$front"}"
      done
    }
    complete -o default -F _\(program) \(program)

    """
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
