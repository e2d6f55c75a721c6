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
    guard isatty(STDIN_FILENO) == 1 else { return runPipe() }
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
      if ["quit", "exit"].contains(String(line.trimmingASCII())) { break }
      performTyped(line)
    }
    return .success
  }

  private func runPipe() -> ExitCode {
    while let line = readLine() {
      if line.trimmingASCII(lineEnds: true).isEmpty { continue }
      let code = perform(line, OutputPipe())
      if code != .success { return code }
    }
    return .success
  }

  /// Runs a line of a person. Ctrl-C ends the command, and if it does not end, the second one the
  /// program.
  private func performTyped(_ line: String) {
    // Cancelled for good by Ctrl-C, so each command has its own.
    let output = OutputPipe()
    let cancel = output.cancel
    let trap = SignalTrap([SIGINT]) { _ in cancel() }
    defer { withExtendedLifetime(trap) {} }
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
    } catch OutputPipe.Failure.closed, OutputPipe.Failure.cancelled {
      return .success
    } catch OutputPipe.Failure.failed(let error) {
      TarnProgram.complain(error.message)
      return .failure
    } catch {
      try? output.flush()
      TarnProgram.complain("\(error)")
      return .failure
    }
  }
}

/// The completions of the Tab key.
enum ShellCompletion {
  // because: set before the first line is read, on the main thread.
  nonisolated(unsafe) static var path = ""

  /// - Parameters:
  ///   - line: the line before the word.
  ///   - word: what is typed of the word; it may begin within an argument.
  static func candidates(before line: String, _ word: String) -> [String] {
    var words = (try? ShellLine.split(line)) ?? []
    let isWithin = line.unicodeScalars.last.map { !$0.properties.isWhitespace } ?? false
    let front = isWithin ? words.popLast() ?? "" : ""
    guard let name = words.first else {
      return (ShellLine.commands.map(\.name) + ["help", "quit"])
        .filter { $0.beginsWithBytes(of: front + word) }.sorted()
    }
    guard let command = ShellLine.commands.first(where: { $0.name == name }) else { return [] }
    return WordCompletion(command, words.dropFirst(), path: path).candidates(front + word)
      .compactMap { $0.rest(afterBytesOf: front).map { String($0) } }
  }
}
