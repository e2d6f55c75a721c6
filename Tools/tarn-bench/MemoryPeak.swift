import BenchFloors
import Foundation
import TarnStore
import ToolSupport

/// The most memory that this process has allocated while some work runs. Pages of files are not
/// counted.
final class MemoryPeak: Sendable {
  private let state = Lock((peak: 0, isDone: false))
  private let start: Int

  /// Runs `body` and looks every millisecond.
  ///
  /// - Returns: how many bytes more there were than before.
  static func grown(_ body: () throws -> Void) throws -> Double {
    let peak = MemoryPeak()
    let thread = Thread { peak.watch() }
    thread.start()
    defer { peak.state.withLock { $0.isDone = true } }
    try body()
    return Double(max(0, peak.state.withLock { $0.peak } - peak.start))
  }

  private init() { start = Int(bf_heap_bytes()) }

  private func watch() {
    while !state.withLock({ $0.isDone }) {
      let now = Int(bf_heap_bytes())
      state.withLock { $0.peak = max($0.peak, now) }
      usleep(1_000)
    }
  }
}
