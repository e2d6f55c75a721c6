import ToolSupport

/// A line of the shell.
enum ShellLine {
  /// Commands whose filter needs no quotes.
  private static let filtering: Set<String> = ["query", "count", "watch"]
  /// Commands of the program that are for no file or a new one, that are a prompt, or that another
  /// program runs.
  private static let others =
    SyncCommands.names.union([
      "shell", "generate", "create", "load", "restore", "repair", DaemonCommand.name,
    ])
  private static let ends = ["quit", "exit"]

  /// A word, and how it is written.
  private struct Word {
    var text = ""
    /// Its place in the line.
    var range: Range<String.Index>
    /// How many quotes it has: two for one quoted text.
    var quotes = 0
  }

  /// The commands of the shell.
  static let parser = CommandLineParser(
    program: TarnProgram.parser.program, version: TarnProgram.parser.version,
    summary: "Each line is a command without the name of the file.",
    commands: CommandTable.commands.filter { !others.contains($0.name) }, isAtPrompt: true)

  /// Whether a line ends the shell.
  static func isEnd(_ line: String) -> Bool {
    ends.contains(String(line.trimmingASCII(lineEnds: true)))
  }

  /// The arguments of the program for a line.
  static func words(of line: String, path: String) throws -> [String] {
    let words = try read(line)
    guard let name = words.first?.text else { return [] }
    if name == "help" {
      if words.count > 1 { _ = try command(words[1].text) }
      return words.map(\.text)
    }
    let command = try command(name)
    if filtering.contains(name), words.count > 2, !isOption(words[1], of: command, line) {
      return try filtered(words, command, line, path)
    }
    let place = try place(ofFile: command, words, line)
    return words[..<place].map(\.text) + [path] + words[place...].map(\.text)
  }

  private static func command(_ name: String) throws -> CommandSpec {
    if let command = parser.commands.first(where: { $0.name == name }) { return command }
    if others.contains(name) {
      throw UsageError(
        "'\(name)' is not a command for this prompt: run '\(parser.program) \(name)' outside of it")
    }
    if ends.contains(name) { throw UsageError("'\(name)' takes no arguments") }
    throw UsageError("unknown command '\(name)'")
  }

  /// Where the file's name belongs: behind the arguments that the command has before it.
  private static func place(
    ofFile command: CommandSpec, _ words: [Word], _ line: String
  ) throws -> Int {
    var before = command.positionals.prefix { $0.name != "FILE" }
    var place = 1
    var isHelp = false
    while !before.isEmpty, place < words.count {
      if isOption(words[place], of: command, line) {
        isHelp = isHelp || ["--help", "-h"].contains(words[place].text)
        place += takesNext(words[place], of: command) ? 2 : 1
      } else {
        before.removeFirst()
        place += 1
      }
    }
    if let missing = before.first, !isHelp {
      throw UsageError("\(command.name) needs \(missing.name): \(missing.help)")
    }
    return min(place, words.count)
  }

  /// A command with a class and a filter, which is everything between the class and the first
  /// option, as it is typed.
  private static func filtered(
    _ words: [Word], _ command: CommandSpec, _ line: String, _ path: String
  ) throws -> [String] {
    let rest = words[2...]
    let end = rest.firstIndex { isOption($0, of: command, line) } ?? rest.endIndex
    let (filter, options) = (rest[..<end], rest[end...])
    if let stray = stray(in: options, of: command, line) {
      throw UsageError(
        "unexpected argument '\(stray.text)' behind the options: write the filter before them, and "
          + "a value that has spaces in quotes")
    }
    var arguments = [command.name] + options.map(\.text) + ["--", path, words[1].text]
    if let first = filter.first, let last = filter.last {
      let typed = String(line[first.range.lowerBound..<last.range.upperBound])
      // Quotes around the whole filter are those of a shell.
      arguments.append(filter.count == 1 && isQuoted(first, line) ? first.text : typed)
    }
    return arguments
  }

  /// The first word that is neither an option nor the value of one.
  private static func stray(
    in options: ArraySlice<Word>, of command: CommandSpec, _ line: String
  ) -> Word? {
    var rest = options
    while let word = rest.popFirst() {
      if word.text == "--" || !isOption(word, of: command, line) { return word }
      if takesNext(word, of: command) { _ = rest.popFirst() }
    }
    return nil
  }

  /// Whether a word is one quoted text.
  private static func isQuoted(_ word: Word, _ line: String) -> Bool {
    let bytes = line[word.range].utf8
    guard word.quotes == 2, let first = bytes.first, bytes.count > 1 else { return false }
    return [UInt8(ascii: "'"), UInt8(ascii: "\"")].contains(first) && bytes.last == first
  }

  /// Whether a word is an option: two dashes and a letter, or a dash and the letter of an option of
  /// the command. `-5` is a number.
  private static func isOption(_ word: Word, of command: CommandSpec, _ line: String) -> Bool {
    let scalars = Array(line[word.range].unicodeScalars.prefix(3))
    guard scalars.count > 1, scalars[0] == "-" else { return false }
    if scalars[1] == "-" { return scalars.count == 2 || scalars[2].properties.isAlphabetic }
    return command.options.contains { $0.short == Character(scalars[1]) }
  }

  /// Whether the word behind an option is its value.
  private static func takesNext(_ word: Word, of command: CommandSpec) -> Bool {
    if let name = word.text.rest(afterBytesOf: "--") {
      return command.options.contains { $0.name == name && $0.valueName != nil }
    }
    // The rest behind a letter that takes a value is its value.
    var letters = word.text.rest(afterBytesOf: "-") ?? ""
    while let letter = letters.popFirst() {
      guard let option = command.options.first(where: { $0.short == letter }) else { return false }
      if option.valueName != nil { return letters.isEmpty }
    }
    return false
  }

  // MARK: - Words

  /// Words in the way of a shell: quotes and backslashes.
  static func split(_ line: String) throws -> [String] { try read(line).map(\.text) }

  private static func read(_ line: String) throws -> [Word] {
    var words: [Word] = []
    var word: Word?
    var quote: Unicode.Scalar?
    var isEscaped = false
    for place in line.unicodeScalars.indices {
      let scalar = line.unicodeScalars[place]
      let isSpace = quote == nil && !isEscaped && scalar.properties.isWhitespace
      if isSpace {
        if let word { words.append(word) }
        word = nil
        continue
      }
      // Taken, so that the text is not copied for each character.
      var read = word.take() ?? Word(range: place..<place)
      read.range = read.range.lowerBound..<line.unicodeScalars.index(after: place)
      if isEscaped {
        read.text.unicodeScalars.append(scalar)
        isEscaped = false
      } else if scalar == "\\", quote != "'" {
        isEscaped = true
      } else if scalar == quote || quote == nil && (scalar == "'" || scalar == "\"") {
        quote = quote == nil ? scalar : nil
        read.quotes += 1
      } else {
        read.text.unicodeScalars.append(scalar)
      }
      word = read
    }
    guard quote == nil, !isEscaped else { throw UsageError("the line ends within quotes") }
    return words + (word.map { [$0] } ?? [])
  }
}
