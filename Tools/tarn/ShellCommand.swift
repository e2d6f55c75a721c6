import CEditLine
import Foundation
import TarnStore
import ToolSupport

/// `tarn shell`: reads commands for one file, from a person or from a pipe.
struct ShellCommand {
  private static let historyLines: Int32 = 1_000

  private let path: String

  init(_ arguments: ParsedArguments) throws { path = arguments.required("FILE") }

  func run(_ output: OutputPipe) throws -> ExitCode {
    _ = try StoreAccess.openExisting(path)
    guard isatty(STDIN_FILENO) == 1 else { return runPipe(output) }
    ShellCompletion.path = path
    tarn_line_prepare("tarn") { line, word in
      let candidates = ShellCompletion.candidates(
        before: line.map { String(cString: $0) } ?? "", word.map { String(cString: $0) } ?? "")
      return strdup(candidates.joined(separator: "\n"))
    }
    let history = Self.historyPath()
    if let history { _ = tarn_history_load(history) }
    while let typed = tarn_line_read("tarn> ") {
      let line = String(cString: typed)
      free(typed)
      if line.trimmingASCII(lineEnds: true).isEmpty { continue }
      tarn_line_remember(line)
      if ["quit", "exit"].contains(String(line.trimmingASCII())) { break }
      _ = perform(line, output)
    }
    if let history { _ = tarn_history_save(history, Self.historyLines) }
    return .success
  }

  private func runPipe(_ output: OutputPipe) -> ExitCode {
    while let line = readLine() {
      if line.trimmingASCII(lineEnds: true).isEmpty { continue }
      let code = perform(line, output)
      if code != .success { return code }
    }
    return .success
  }

  private static func historyPath() -> String? {
    let environment = ProcessInfo.processInfo.environment
    guard
      let state = environment["XDG_STATE_HOME"]
        ?? environment["HOME"].map({ $0 + "/.local/state" })
    else { return nil }
    let folder = state + "/tarn"
    try? FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    return folder + "/history"
  }

  /// Runs one line; what goes wrong is printed.
  private func perform(_ line: String, _ output: OutputPipe) -> ExitCode {
    do {
      let words = try ShellLine.words(of: line, path: path)
      switch TarnProgram.parser.parse(words) {
      case .run(let arguments):
        let code = try TarnProgram.run(arguments, output)
        try output.flush()
        return code
      case .show(let text):
        try output.write(text)
        try output.flush()
        return .success
      case .refuse(let text):
        TarnProgram.complain(String(text.trimmingASCII(lineEnds: true)))
        return .usage
      }
    } catch {
      try? output.flush()
      TarnProgram.complain("\(error)")
      return .failure
    }
  }
}

/// A line of the shell.
enum ShellLine {
  /// Commands whose filter needs no quotes.
  private static let filtering: Set<String> = ["query", "count", "watch"]
  /// Commands of the program that are for no file, or for a prompt.
  private static let others: Set<String> = ["shell", "generate", "create", "daemon"]

  /// The commands of the shell.
  static var commands: [CommandSpec] {
    CommandTable.commands.filter { !others.contains($0.name) }
  }

  /// The arguments of the program that a line stands for.
  static func words(of line: String, path: String) throws -> [String] {
    let words = try split(line)
    guard let name = words.first else { return [] }
    if name == "help" { return words }
    guard let command = commands.first(where: { $0.name == name }) else {
      throw UsageError("unknown command '\(name)'; 'help' lists them")
    }
    let place = command.positionals.firstIndex { $0.name == "FILE" } ?? 0
    guard filtering.contains(name), words.count > 2 else {
      return Array(words.prefix(place + 1)) + [path] + words.dropFirst(place + 1)
    }
    return [name, path, words[1]] + filter(after: words[1], line)
  }

  /// What follows the class: the filter as it was typed, and the options.
  private static func filter(after className: String, _ line: String) -> [String] {
    guard let range = line.utf8.firstRange(of: className.utf8), let all = try? split(line) else {
      return []
    }
    var rest = line[range.upperBound...]
    // A class name in quotes.
    rest = rest.rest(afterBytesOf: "\"") ?? rest.rest(afterBytesOf: "'") ?? rest
    let options = rest.utf8.firstRange(of: " -".utf8)
    let text = String(rest[..<(options?.lowerBound ?? rest.endIndex)].trimmingASCII())
    let optionWords = options.flatMap { try? split(String(rest[$0.lowerBound...])) } ?? []
    if text.isEmpty { return Array(all.dropFirst(2)) }
    // Quotes around the whole filter are those of a shell.
    let isQuoted =
      text.beginsWithBytes(of: "'") && text.endsWithBytes(of: "'") && text.utf8.count > 1
    let inner = String(Substring(text.utf8.dropFirst().dropLast()))
    return [isQuoted ? inner : text] + optionWords
  }

  /// Words in the way of a shell: quotes and backslashes.
  static func split(_ line: String) throws -> [String] {
    var words: [String] = []
    var word: String?
    var quote: Unicode.Scalar?
    var isEscaped = false
    for character in line.unicodeScalars {
      if isEscaped {
        word = (word ?? "") + String(character)
        isEscaped = false
      } else if character == "\\", quote != "'" {
        isEscaped = true
      } else if let open = quote {
        if character == open { quote = nil } else { word = (word ?? "") + String(character) }
      } else if character == "'" || character == "\"" {
        quote = character
        word = word ?? ""
      } else if character.properties.isWhitespace {
        if let word { words.append(word) }
        word = nil
      } else {
        word = (word ?? "") + String(character)
      }
    }
    guard quote == nil, !isEscaped else { throw UsageError("the line ends within quotes") }
    return words + (word.map { [$0] } ?? [])
  }
}

/// What Tab offers.
enum ShellCompletion {
  // because: set before the first line is read, on the main thread.
  nonisolated(unsafe) static var path = ""

  static func candidates(before line: String, _ word: String) -> [String] {
    let words = (try? ShellLine.split(line)) ?? []
    var all: [String]
    if words.isEmpty {
      all = ShellLine.commands.map(\.name) + ["help", "quit"]
    } else if word.beginsWithBytes(of: "-") {
      let command = ShellLine.commands.first { $0.name == words[0] }
      all = command.map { $0.options.map { "--\($0.name)" } } ?? []
    } else {
      let schema = try? StoreAccess.openExisting(path).newestSnapshot().schema.schema
      let classes = schema?.classes.filter { !$0.isVacant } ?? []
      let described = classes.first { words.dropFirst().contains($0.name) }
      all =
        described.map { $0.columns.filter { !$0.isRemoved }.map(\.name) } ?? classes.map(\.name)
    }
    all = all.filter { $0.beginsWithBytes(of: word) }
    return all.sorted()
  }
}
