import Foundation
import Tarn
import TarnStore
import ToolSupport

/// The largest amount of memory that this process has of its own while some work runs. Pages of
/// files are not counted.
final class MemoryPeak: Sendable {
  private let state = Lock((peak: 0, isDone: false))
  private let start: Int

  /// Runs `body` and looks every millisecond.
  ///
  /// - Returns: how many bytes more there were than before.
  static func grown(_ body: () throws -> Void) throws -> Double {
    malloc_trim(0)
    let peak = MemoryPeak()
    let thread = Thread { peak.watch() }
    thread.start()
    defer { peak.state.withLock { $0.isDone = true } }
    try body()
    return Double(max(0, peak.state.withLock { $0.peak } - peak.start))
  }

  private init() { start = Self.own }

  private func watch() {
    while !state.withLock({ $0.isDone }) {
      let now = Self.own
      state.withLock { $0.peak = max($0.peak, now) }
      usleep(1_000)
    }
  }

  private static var own: Int {
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    for line in status.split(separator: "\n") where line.hasPrefix("RssAnon:") {
      return (line.split(separator: " ").dropLast().last.flatMap { Int($0) } ?? 0) * 1024
    }
    return 0
  }
}
