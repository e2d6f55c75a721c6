import CDaemon
import Foundation
import TarnStore
import ToolSupport

/// What the daemon says: to the journal with priorities and fields if that is where its standard
/// error leads, otherwise as lines on standard error. Never a value of a property. Any thread.
package final class DaemonLog: Sendable {
  /// As of syslog.
  package enum Level: Int, Sendable {
    case error = 3
    case warning = 4
    case notice = 5
    case info = 6
    case debug = 7
  }

  private let toJournal: Bool
  private let most: Level
  private let writing = Lock<Void>(())

  package init(upTo most: Level = .info) {
    self.most = most
    toJournal = Self.isJournal()
  }

  /// Whether standard error is the stream that systemd has connected to the journal.
  private static func isJournal() -> Bool {
    guard let stream = ProcessInfo.processInfo.environment["JOURNAL_STREAM"] else { return false }
    var status = stat()
    return fstat(STDERR_FILENO, &status) == 0 && stream == "\(status.st_dev):\(status.st_ino)"
  }

  /// Names the file, too: lines of several files of a watch would be all alike.
  func write(_ level: Level, _ message: String, of status: SinkStatus) {
    write(
      level, message.contains(status.path) ? message : "\(status.path): \(message)",
      [("TARN_WATCH", status.watch), ("TARN_SINK", status.sink), ("TARN_FILE", status.path)])
  }

  package func write(_ level: Level, _ message: String, _ fields: [(String, String)] = []) {
    guard level.rawValue <= most.rawValue else { return }
    if toJournal { return send(level, message, fields) }
    // A sink is named by its watch; a session of 'sync' has only its file.
    let names = fields.filter { $0.0 != "TARN_FILE" }
    let place = (names.isEmpty ? fields : names).map { printable($0.1) }.joined(separator: "/")
    let head = place.isEmpty ? "tarn-daemon" : "tarn-daemon: \(place)"
    let line = "\(head): \(printable(message))\n"
    writing.withLock { _ in
      // If this fails, there is nowhere to report it.
      try? FileHandle.standardError.write(contentsOf: Data(line.utf8))
    }
  }

  private func send(_ level: Level, _ message: String, _ fields: [(String, String)]) {
    let all =
      [
        ("MESSAGE", message), ("PRIORITY", "\(level.rawValue)"),
        ("SYSLOG_IDENTIFIER", "tarn-daemon"),
      ]
      + fields
    let texts = all.map { strdup("\($0.0)=\($0.1)") }
    defer { for text in texts { free(text) } }
    let parts = texts.map { iovec(iov_base: $0, iov_len: $0.map { strlen($0) } ?? 0) }
    _ = sd_journal_sendv(parts, Int32(parts.count))
  }
}
