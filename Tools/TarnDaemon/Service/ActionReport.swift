import ToolSupport

/// The text that an action prints when it is done, and the exit status.
struct ActionReport {
  let text: String
  let code: ExitCode

  init(_ text: String, _ code: ExitCode = .success) {
    self.text = text
    self.code = code
  }

  init(lines: [String], _ code: ExitCode) { self.init(lines.map { $0 + "\n" }.joined(), code) }
}
