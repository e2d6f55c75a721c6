import Tarn
import TarnStore
import ToolSupport

/// The actions that an operator asks of a sink in a file.
enum AskedAction: Equatable, Sendable, CustomStringConvertible {
  /// Drop what the receiver lacks up to a version.
  case skip(through: UInt64)
  /// Send all objects again.
  case resend

  var description: String {
    switch self {
    case .skip(let version): "skip=\(version)"
    case .resend: "resend"
    }
  }

  init?(_ text: String) {
    if text == "resend" {
      self = .resend
    } else if let version = text.rest(afterBytesOf: "skip=").flatMap({ UInt64($0) }) {
      self = .skip(through: version)
    } else {
      return nil
    }
  }
}

/// The action that a sink was asked for and has not done: kept with its position, so that a daemon
/// that ends before does it when it runs again. A later action replaces an earlier one. Any thread.
final class AskedActions: Sendable {
  private let positions: PositionFile?
  private let asked: Lock<AskedAction?>

  /// - Parameter positions: nil to forget what is asked for with the process.
  init(_ positions: PositionFile?) {
    self.positions = positions
    asked = Lock(positions?.content.asked)
  }

  var areDurable: Bool { positions != nil }

  /// The next action.
  var next: AskedAction? { asked.withLock { $0 } }

  /// - Throws: `ToolError` if it cannot be kept; then it is not done.
  func ask(_ action: AskedAction) throws {
    try asked.withLock { asked in
      try positions?.update { $0.asked = action }
      asked = action
    }
  }

  func isDone(_ action: AskedAction) throws {
    try asked.withLock { asked in
      guard asked == action else { return }
      try positions?.update { $0.asked = nil }
      asked = nil
    }
  }
}
