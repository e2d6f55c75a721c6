import Foundation

/// The exit statuses of Tarn's tools.
package enum ExitCode: Int32, Sendable {
  /// Everything asked for was done. Also the end by SIGINT or SIGTERM of a command that runs
  /// until it is told to stop, and a reader that closed its end of the pipe: it had enough.
  case success = 0
  /// Something went wrong while working, or was found to be wrong.
  case failure = 1
  /// The command line was not understood; nothing was touched.
  case usage = 2
}

/// A command line that cannot be carried out, in words for the person who typed it.
package struct UsageError: Error, Equatable, Sendable, CustomStringConvertible {
  /// What is wrong, without the program's name and without a full stop.
  package let message: String

  package init(_ message: String) { self.message = message }

  package var description: String { message }
}

/// A failure in words for the person who runs a tool; printed as `program: message`.
package struct ToolError: Error, Equatable, Sendable, CustomStringConvertible {
  /// What is wrong and, where there is one, the way out.
  package let message: String

  package init(_ message: String) { self.message = message }

  /// A failed system call: what was tried, on what, and the system's own words.
  package init(_ action: String, _ subject: String, errno code: Int32) {
    message = "\(action) \(subject): \(String(cString: strerror(code)))"
  }

  package var description: String { message }
}
