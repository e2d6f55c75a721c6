import CEditLine
import Foundation
import TarnStore
import ToolSupport

/// `tarn shell`: reads commands for one file, from a person or from a pipe.
struct ShellCommand {
  private static let historyLines: Int32 = 1_000
  private let path: String

  init(_ arguments: ParsedArguments) throws { path = arguments.required("FILE") }

  func run() throws -> ExitCode {
    _ = try StoreAccess.openExisting(path)
    guard isatty(STDIN_FILENO) == 1 else { return try runPipe() }
    // For as long as the prompt: Ctrl-C at the end of a command must not end the program.
    let trap = SignalTrap([SIGINT], repeats: true) { _ in Interruption.request() }
    defer { withExtendedLifetime(trap) {} }
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
      // A command may end the program.
      if let history { _ = tarn_history_save(history, Self.historyLines) }
      if ShellLine.isEnd(line) { break }
      performTyped(line)
    }
    return .success
  }

  private func runPipe() throws -> ExitCode {
    let lines = try LineReader.open("-")
    while let bytes = try lines.next() {
      guard let line = Self.text(bytes) else {
        throw ToolError("standard input: line \(lines.lineNumber) has a NUL")
      }
      if line.trimmingASCII(lineEnds: true).isEmpty { continue }
      if ShellLine.isEnd(line) { break }
      let code = perform(line, OutputPipe())
      if code != .success { return code }
    }
    return .success
  }

  /// A line whose bytes need not be UTF-8, as an argument: in a path they may be any. Nil if it has
  /// a NUL.
  private static func text(_ bytes: UnsafeRawBufferPointer) -> String? {
    if bytes.contains(0) { return nil }
    return (bytes.map { CChar(bitPattern: $0) } + [0]).withUnsafeBufferPointer { bytes in
      bytes.baseAddress.map { String(path: $0) }
    }
  }

  /// Runs a line that a person typed, which Ctrl-C interrupts.
  private func performTyped(_ line: String) {
    // Cancelled for good by Ctrl-C, so each command has its own.
    let output = OutputPipe()
    Interruption.watch(output.cancel)
    defer { Interruption.unwatch() }
    _ = perform(line, output)
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

  /// Runs one line; errors are printed.
  private func perform(_ line: String, _ output: OutputPipe) -> ExitCode {
    let command = (try? ShellLine.split(line))?.first
    do {
      return try run(ShellLine.words(of: line, path: path), output)
    } catch let failure as OutputPipe.Failure {
      guard let reason = failure.message else { return .success }
      TarnProgram.complain(reason)
      return .failure
    } catch let error as UsageError {
      TarnProgram.write(ShellLine.parser.refusal(error, of: command))
      return .usage
    } catch let error as ToolError where error == Interruption.error {
      if TarnProgram.writing.contains(command ?? "") {
        TarnProgram.complain("interrupted: nothing was written")
      }
      return .success
    } catch {
      try? output.flush()
      TarnProgram.complain("\(error)")
      return .failure
    }
  }

  private func run(_ words: [String], _ output: OutputPipe) throws -> ExitCode {
    switch ShellLine.parser.parse(words) {
    case .run(let arguments):
      guard Interruption.isWatched, SeparateCommand.names.contains(arguments.command) else {
        return try TarnProgram.run(arguments, output)
      }
      // Here usage errors are those of the prompt.
      _ = try TarnProgram.command(arguments)
      let command = try SeparateCommand(words)
      Interruption.watch(command.end)
      command.wait()
      return .success
    case .show(let text):
      try output.write(text)
      try output.flush()
      return .success
    case .refuse(let text):
      TarnProgram.write(text)
      return .usage
    }
  }
}

/// The completions of the Tab key.
enum ShellCompletion {
  // because: set before the first line is read, on the main thread.
  nonisolated(unsafe) static var path = ""

  /// - Parameters:
  ///   - line: the line before the word.
  ///   - word: the typed part of the word; it may begin within an argument.
  static func candidates(before line: String, _ word: String) -> [String] {
    var words = (try? ShellLine.split(line)) ?? []
    let isWithin = line.unicodeScalars.last.map { !$0.properties.isWhitespace } ?? false
    let front = isWithin ? words.popLast() ?? "" : ""
    let commands = ShellLine.parser.commands
    guard let name = words.first else {
      return (commands.map(\.name) + ["help", "quit", "exit"])
        .filter { $0.beginsWithBytes(of: front + word) }.sorted()
    }
    guard let command = commands.first(where: { $0.name == name }) else { return [] }
    return WordCompletion(command, words.dropFirst(), path: path).candidates(front + word)
      .compactMap { $0.rest(afterBytesOf: front).map { String($0) } }
  }
}
