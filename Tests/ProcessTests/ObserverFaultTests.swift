import Foundation
import Tarn
import Testing
import ToolSupport

@testable import TarnStore

extension ProcessTests {
  @Suite struct ObserverFaultTests {
    private func newest(_ store: Store) -> Int { store.environment.statistics.pageCount }

    @Test func `pins of killed readers go and the file stops growing`() throws {
      let file = try StressFile()
      let readers = try (0..<3).map { _ in try StressTool.worker("read", file.path) }
      for reader in readers {
        #expect(reader.line { $0.hasPrefix("reading") } != nil)
      }
      let observer = try StressTool.worker("observe", file.path)
      #expect(observer.line { $0.hasPrefix("seen") } != nil)
      let realm = try file.open()
      let store = try file.store()
      // A reader that has not moved for that long is checked, a second by default.
      store.suspectReaders(after: .milliseconds(20))
      var count = 0
      func commit(_ times: Int) throws {
        for _ in 0..<times {
          count += 1
          try realm.commitOne { realm.account(count % 100).note = "\(count)" }
        }
      }
      try commit(100)
      let pinned = store.environment.statistics.pageCount
      for process in readers + [observer] {
        process.signal(SIGKILL)
        #expect(process.wait() == .killed(SIGKILL))
      }
      // The limit only ends a hang.
      let limit = ContinuousClock.now + ChildProcess.patience
      while store.environment.readers().contains(where: { $0.processID != getpid() }),
        ContinuousClock.now < limit
      {
        try commit(10)
      }
      #expect(store.environment.readers().allSatisfy { $0.processID == getpid() })
      try commit(50)
      let settled = store.environment.statistics.pageCount
      try commit(300)
      let after = store.environment.statistics.pageCount
      #expect(after <= settled + 64, "\(pinned) pages while pinned, then \(settled), \(after)")
    }

    @Test func `a stopped observer holds up nobody and gets one merged difference`() throws {
      let file = try StressFile()
      let realm = try file.open()
      let stopped = try StressTool.worker("observe", file.path)
      let other = try StressTool.worker("observe", file.path)
      for observer in [stopped, other] {
        #expect(observer.line { $0.hasPrefix("seen") } != nil)
      }
      // Whoever waited for it would do so for good.
      stopped.stop()
      let first = realm.commits
      for _ in 0..<30 {
        try realm.commitOne {
          realm.account(3).balance += 5
          realm.account(4).balance -= 5
          realm.account(7).note += "x"
        }
      }
      #expect(other.reached(first + 30))
      #expect(stopped.lines() == [])
      stopped.signal(SIGCONT)
      #expect(stopped.line { _ in true } == "seen \(first + 30)")
    }

    @Test func `a stopped writer that waits is passed over`() throws {
      let file = try StressFile()
      let realm = try file.open()
      let waiter = try StressTool.worker("commit-once", file.path)
      realm.beginWrite()
      #expect(waiter.line { $0 == "ready" } != nil)
      try file.untilWaiting(1)
      waiter.stop()
      realm.cancelWrite()
      // Waits for good if it is not.
      try realm.commitOne()
      waiter.signal(SIGCONT)
      #expect(waiter.line { $0 == "ack 1" } != nil)
    }
  }
}
