import Foundation
import Tarn
import Testing
import ToolSupport

extension ProcessTests {
  /// Who holds the gate, waits for it or observes, and is stopped or dies. A process whose memory
  /// is swapped out is to others one that does not run for a while: it is tested by stopping one,
  /// which lasts longer. Nothing that others wait for lies in its own memory.
  @Suite struct GateFaultTests {
    private static let limit = ChildProcess.patience

    /// How often this thread has gone to sleep by itself: how long it was kept from a processor by
    /// others does not change that.
    private func sleepCount() throws -> Int {
      let status = try String(contentsOfFile: "/proc/thread-self/status", encoding: .utf8)
      let line = status.split(separator: "\n").first { $0.hasPrefix("voluntary_ctxt_switches:") }
      return try #require(line?.split(separator: "\t").last.flatMap { Int($0) })
    }

    /// Writes a thousand times, and none of these waits for somebody who does not come.
    private func expectNoWaits(_ realm: Realm) throws {
      let before = try sleepCount()
      for _ in 0..<1000 { try realm.write(timeout: Self.limit) {} }
      #expect(try sleepCount() - before < 500)
    }

    private func holder(_ file: StressFile) throws -> ChildProcess {
      let holder = try StressTool.worker("hold-gate", file.path)
      try #require(holder.line { $0 == "held" } != nil)
      return holder
    }

    private func expectAck(_ worker: ChildProcess, _ name: String) {
      #expect(worker.line { $0 == "ack 1" } != nil, "\(name)")
    }

    @Test func `a stopped holder is named, and when it goes on so do all`() throws {
      let file = try StressFile()
      let realm = try file.open()
      let holder = try holder(file)
      holder.stop()
      let error = #expect(throws: Realm.Error.self) {
        try realm.write(timeout: .milliseconds(120)) { Issue.record("never") }
      }
      #expect(error?.code == .busy)
      let said = error?.message ?? ""
      #expect(said.contains("process \(holder.processID) (tarn-stress) has been writing for "))
      #expect(said.contains(" seconds and is stopped. Nothing was written."))
      #expect(!said.contains("for 0.0 seconds"))
      let waiters = [
        try StressTool.worker("commit-once", file.path, "1"),
        try StressTool.worker("commit-async", file.path, "2"),
      ]
      try file.untilWaiting(waiters.count)
      holder.signal(SIGCONT)
      // It runs, and writes on.
      let later = #expect(throws: Realm.Error.self) {
        try realm.write(timeout: .milliseconds(20)) { Issue.record("never") }
      }
      #expect(later?.message.contains("process \(holder.processID) (tarn-stress)") == true)
      #expect(later?.message.contains("is stopped") == false)
      holder.signal(SIGUSR1)
      #expect(holder.line { $0 == "let go" } != nil)
      for waiter in waiters { expectAck(waiter, "a waiter") }
      try realm.write(timeout: Self.limit) {}
      #expect(realm.commits == waiters.count)
      #expect(realm.problem == nil)
    }

    @Test func `queued writes give up in time and name a stopped holder`() throws {
      let file = try StressFile()
      let scheduler = ManualScheduler()
      let realm = try Realm(configuration: file.configuration, scheduler: scheduler)
      let holder = try holder(file)
      holder.stop()
      var said: [String] = []
      func note(_ error: (any Error)?) {
        let error = error as? Realm.Error
        #expect(error?.code == .busy)
        said.append(error?.message ?? "")
      }
      realm.writeAsync(timeout: .milliseconds(120)) {
        Issue.record("never")
      } onComplete: {
        note($0)
      }
      realm.beginAsyncWrite(timeout: .milliseconds(150)) {
        Issue.record("never")
      } onFailure: {
        note($0)
      }
      var commits = 0
      realm.writeAsync(timeout: .seconds(600)) {
        realm.add(StressWriter(), update: .all)
      } onComplete: {
        if $0 == nil { commits += 1 }
      }
      let limit = ContinuousClock.now + Self.limit
      func turns(_ isOver: () -> Bool) {
        while !isOver(), ContinuousClock.now < limit {
          scheduler.wait(timeout: 1)
          scheduler.pump()
        }
      }
      turns { said.count == 2 }
      #expect(said.count == 2)
      for message in said {
        #expect(message.contains("process \(holder.processID) (tarn-stress) has been writing for "))
        #expect(message.contains(" seconds and is stopped. Nothing was written."))
      }
      holder.signal(SIGCONT)
      holder.signal(SIGUSR1)
      turns { commits == 1 }
      #expect(commits == 1)
      #expect(realm.object(ofType: StressWriter.self, forPrimaryKey: 0) != nil)
    }

    /// Priority inversion: threads of middle rank take all the time that a holder of low rank needs
    /// to be done, for which others of high rank wait.
    @Test func `a holder of low rank is done though busy threads go before it`() throws {
      let file = try StressFile()
      let realm = try file.open()
      let holder = try holder(file)
      try holder.setRank(19)
      let busy = BusyThreads(2 * ProcessInfo.processInfo.activeProcessorCount, rank: 10)
      defer { busy.stop() }
      let waiters = [
        try StressTool.worker("commit-once", file.path, "1"),
        try StressTool.worker("commit-async", file.path, "2"),
      ]
      try file.untilWaiting(waiters.count)
      holder.signal(SIGUSR1)
      for waiter in waiters {
        expectAck(waiter, "behind a holder of low rank")
      }
      try realm.write(timeout: Self.limit) {}
      #expect(realm.commits == waiters.count)
      #expect(realm.problem == nil)
    }

    @Test(arguments: ["commit-once", "commit-async"], [SIGSTOP, SIGKILL])
    func `a waiter that is stopped or dies delays nobody`(_ kind: String, _ signal: Int32) throws {
      let file = try StressFile()
      let realm = try file.open()
      realm.beginWrite()
      let first = try StressTool.worker(kind, file.path, "1")
      try file.untilWaiting(1)
      let others = [
        try StressTool.worker("commit-once", file.path, "2"),
        try StressTool.worker("commit-async", file.path, "3"),
      ]
      try file.untilWaiting(3)
      if signal == SIGSTOP {
        first.stop()
      } else {
        first.signal(signal)
        #expect(first.wait() == .killed(SIGKILL))
      }
      realm.cancelWrite()
      for other in others { expectAck(other, "behind one that got signal \(signal)") }
      // Nor is anybody delayed again and again: passing it over takes 10 ms each time.
      try expectNoWaits(realm)
      first.signal(SIGCONT)
      if signal == SIGSTOP { expectAck(first, "the one that was stopped") }
      #expect(realm.problem == nil)
    }

    @Test func `a process whose turns do not come delays nobody`() throws {
      let file = try StressFile()
      let realm = try file.open()
      realm.beginWrite()
      let busy = try StressTool.worker("stand-in-line", file.path, "1")
      try file.untilWaiting(1)
      let others = [
        try StressTool.worker("commit-once", file.path, "2"),
        try StressTool.worker("commit-async", file.path, "3"),
      ]
      realm.cancelWrite()
      for other in others { expectAck(other, "behind one that is busy") }
      try expectNoWaits(realm)
      busy.signal(SIGKILL)
    }

    @Test(arguments: [SIGSTOP, SIGKILL])
    func `an observer that is stopped or dies delays nobody`(_ signal: Int32) throws {
      let file = try StressFile()
      let realm = try file.open()
      let observers = try (0..<2).map { _ in try StressTool.worker("observe", file.path) }
      for observer in observers {
        #expect(observer.line { $0.hasPrefix("seen") } != nil)
      }
      if signal == SIGSTOP { observers[0].stop() } else { observers[0].signal(signal) }
      for number in 1...10 {
        let kind = number.isMultiple(of: 2) ? "commit-once" : "commit-async"
        expectAck(try StressTool.worker(kind, file.path, "\(number)"), kind)
      }
      #expect(observers[1].reached(10))
      try realm.write(timeout: Self.limit) {}
      #expect(realm.commits == 10)
      #expect(realm.problem == nil)
      if signal == SIGSTOP {
        observers[0].signal(SIGCONT)
        #expect(observers[0].reached(10))
      }
    }
  }
}
