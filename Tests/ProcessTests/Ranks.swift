import Foundation
import Synchronization
import Testing
import ToolSupport

/// Threads that are busy all the time, with a nice value: the higher, the lower the rank.
final class BusyThreads: Sendable {
  private let isOver = Atomic(false)
  private let ended = DispatchSemaphore(value: 0)
  private let count: Int

  init(_ count: Int, rank: Int32) {
    self.count = count
    for _ in 0..<count {
      Thread.detachNewThread { [self] in
        // Of the running thread alone, on Linux.
        setpriority(.init(PRIO_PROCESS.rawValue), 0, rank)
        while !isOver.load(ordering: .relaxed) {}
        ended.signal()
      }
    }
  }

  func stop() {
    isOver.store(true, ordering: .relaxed)
    for _ in 0..<count { ended.wait() }
  }
}

extension ChildProcess {
  /// Gives all threads that it has now a nice value.
  func setRank(_ rank: Int32) throws {
    for thread in try FileManager.default.contentsOfDirectory(atPath: "/proc/\(processID)/task") {
      try #require(setpriority(.init(PRIO_PROCESS.rawValue), id_t(thread)!, rank) == 0)
    }
  }
}
