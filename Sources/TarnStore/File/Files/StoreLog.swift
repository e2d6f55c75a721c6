internal import Glibc

/// The engine's log: events of files (opened, changed, refused), and workarounds, such as a watch
/// that fell back to polling. Nothing depends on its being read.
///
/// Threading: any thread. The hook is called outside all locks of the engine.
package final class StoreLog: Sendable {
  package enum Level: Int, Comparable, Sendable {
    case debug, detail, info, warning, error
    package static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
  }

  package static let shared = StoreLog()

  /// In a struct because a function that is the lock's own content is wrapped once more by each
  /// access, since the lock is generic: after some thousand messages calling it would overflow a
  /// stack.
  private struct Hook {
    var receive: @Sendable (Level, String) -> Void
  }

  private let hook = Lock(
    ofProcess: Hook { level, message in
      if level >= .warning { writeToStandardError(message) }
    })

  package static func writeToStandardError(_ message: String) {
    let line = Array("Tarn: \(message)\n".utf8)
    _ = unsafe line.withUnsafeBytes { unsafe Glibc.write(2, $0.baseAddress, $0.count) }
  }

  /// Replaces the receiver of messages. Initially warnings and errors go to standard error.
  package func setHook(_ new: @escaping @Sendable (Level, String) -> Void) {
    hook.withLock { $0.receive = new }
  }

  package func write(_ level: Level, _ message: String) {
    let receive = hook.withLock { $0.receive }
    receive(level, message)
  }
}
