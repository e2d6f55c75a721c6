import Foundation
import ToolSupport

/// The migrations of a stress run: processes that open the file with the next version of its
/// classes. Some die on the way; then another process does it.
final class StressMigrations {
  private let path: String
  private var process: ChildProcess?
  private(set) var count = 0
  /// How many of them have ended. Processes that were started before the last one ended may get the
  /// error that their classes do not fit.
  private(set) var done: UInt64 = 0

  init(_ path: String) { self.path = path }

  var isRunning: Bool { process != nil }

  /// Begins one, unless the one before has not ended.
  func begin(fault: Int?) throws {
    guard process == nil else { return }
    _ = try StressEra.advance(path)
    count += 1
    try start(fault)
  }

  private func start(_ fault: Int?) throws {
    var environment: [String: String] = [:]
    if let fault { environment["TARN_FAULT"] = String(fault) }
    process = try ChildProcess(
      "/proc/self/exe", ["worker", "migrate", path], environment: environment)
  }

  /// Looks whether it has ended; the next one begins without a fault if it died.
  func turn() throws {
    guard let ended = process, let end = ended.poll() else { return }
    let lines = ended.lines()
    process = nil
    switch end {
    case .exited(0) where lines.isEmpty: done = StressEra.number(path)
    // The disk is full.
    case .exited(0), .killed(SIGKILL): try start(nil)
    default: throw ToolError("a migration ended as \(end): \(lines)")
    }
  }
}
