import Foundation
import TarnStore

/// The exit statuses of Tarn's tools.
package enum ExitCode: Int32, Sendable {
  /// The command succeeded. Also if SIGINT or SIGTERM ends a command that runs until it is stopped,
  /// and if the reader closes its end of the pipe.
  case success = 0
  /// The command failed, or found a problem.
  case failure = 1
  /// The command line was refused; nothing was changed.
  case usage = 2

  /// The meaning of each code, for the manual and the help.
  package static let table: [(code: Int32, meaning: String)] = [
    (
      0,
      "The command succeeded. Also if a signal ends a command that runs until it is stopped, and "
        + "if the reader of the output closes its end."
    ),
    (
      1,
      "The command failed or found a problem: 'inspect --check' and 'reindex' damage, 'import' bad "
        + "lines, 'diff' a difference, 'watch' the loss of its file."
    ),
    (2, "The command line was refused; nothing was changed."),
  ]
}

/// An error in the command line, worded for the person who typed it.
package struct UsageError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The error, without the program's name and without a full stop.
  package let message: String

  package init(_ message: String) { self.message = message }

  package var description: String { message }
}

/// A failure, worded for the person who runs a tool; printed as `program: message`.
package struct ToolError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The error and, if there is one, its remedy.
  package let message: String

  package init(_ message: String) { self.message = message }

  /// A failed system call: the action, its subject, and the system's error text, or the limit that
  /// is reached.
  package init(_ action: String, _ subject: String, errno code: Int32) {
    let isLimit = code == EMFILE || code == ENFILE
    let text =
      isLimit
      ? StorageError(errno: code, operation: "", path: "").detail : String(cString: strerror(code))
    message = "\(action) \(subject): \(text)"
  }

  /// A path at which no file can be seen: it does not exist, or a folder on the way hides it.
  package init(notFound path: String) {
    var facts = stat()
    let code = path.withPath { stat($0, &facts) } == 0 ? ENOENT : errno
    if code == ENOENT {
      self.init("\(path): there is no such file")
    } else {
      self.init("cannot open", path, errno: code)
    }
  }

  package var description: String { message }
}
