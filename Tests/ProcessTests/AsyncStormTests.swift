import Foundation
import Tarn
import TestSupport
import Testing
import ToolSupport

extension ProcessTests {
  /// Asynchronous writes of this process against the writers of another one.
  @MainActor @Suite(.timeLimit(.minutes(30))) struct AsyncStormTests {
    private func open(_ file: StressFile) async throws -> Realm {
      try await Realm(configuration: file.configuration)
    }

    nonisolated private func tellToStop(_ file: StressFile) {
      _ = FileManager.default.createFile(atPath: file.path + ".stop", contents: nil)
    }

    /// One write that keeps the promises of the workers' writes.
    private func write(_ realm: Realm) async throws {
      try await realm.asyncWrite { change(realm) }
    }

    nonisolated private func change(_ realm: Realm) {
      let mine =
        realm.object(ofType: StressWriter.self, forPrimaryKey: StressFile.number)
        ?? realm.create(StressWriter.self, value: ["id": StressFile.number])
      mine.sequence += 1
      realm.total.commits += 1
    }

    private func sequence(_ realm: Realm) -> Int {
      realm.object(ofType: StressWriter.self, forPrimaryKey: StressFile.number)?.sequence ?? 0
    }

    /// Of ten writes each; 1,000 with `TARN_SEEDS=all`.
    private static let rounds = Seeds.rounds(1000, few: 200)

    @Test func `cancelled at many moments while another process writes`() async throws {
      let file = try StressFile()
      let other = try StressTool.worker("write", file.path, "1")
      let first = try #require(other.line { $0.hasPrefix("start") })
      #expect(first == "start 0")
      let realm = try await open(file)
      var random = SeededRandom(seed: 5)
      var (written, cancelled) = (0, 0)
      for _ in 0..<Self.rounds {
        let tasks = (0..<10).map { _ in Task { @MainActor in try await write(realm) } }
        for task in tasks {
          for _ in 0..<random.below(4) { await Task.yield() }
          if random.chance(50) { task.cancel() }
        }
        for task in tasks {
          do {
            try await task.value
            written += 1
          } catch is CancellationError {
            cancelled += 1
          }
        }
        // What it says must not fill the pipe.
        _ = other.lines()
      }
      #expect(written + cancelled == 10 * Self.rounds)
      #expect(written > 0)
      #expect(cancelled > 0)
      #expect(!realm.isPerformingAsynchronousWriteOperations)
      tellToStop(file)
      let (lines, end) = other.finish()
      #expect(end == .exited(0), "\(lines.suffix(3))")
      realm.refresh()
      #expect(sequence(realm) == written)
      #expect(realm.problem == nil)
    }

    @Test func `cancelled at many moments while another process holds the gate`() async throws {
      let file = try StressFile()
      let holder = try StressTool.worker("hold-gate", file.path)
      #expect(holder.line { $0 == "held" } != nil)
      let realm = try await open(file)
      var random = SeededRandom(seed: 6)
      var cancelled = 0
      for _ in 0..<Self.rounds {
        let tasks = (0..<10).map { _ in Task { @MainActor in try await write(realm) } }
        for task in tasks {
          for _ in 0..<random.below(4) { await Task.yield() }
          task.cancel()
        }
        for task in tasks {
          do {
            try await task.value
          } catch is CancellationError {
            cancelled += 1
          }
        }
      }
      #expect(cancelled == 10 * Self.rounds)
      #expect(!realm.isPerformingAsynchronousWriteOperations)
      let last = Task { @MainActor in try await write(realm) }
      try await yieldUntil { realm.isPerformingAsynchronousWriteOperations }
      holder.signal(SIGUSR1)
      try await last.value
      #expect(sequence(realm) == 1)
      #expect(realm.problem == nil)
    }

    @Test func `a task gives up in time and names the process that writes`() async throws {
      let file = try StressFile()
      let holder = try StressTool.worker("hold-gate", file.path)
      #expect(holder.line { $0 == "held" } != nil)
      holder.stop()
      let realm = try await open(file)
      let ahead = Task { @MainActor in
        try await realm.asyncWrite(timeout: .seconds(600)) { realm.total.nextAccount += 0 }
      }
      try await yieldUntil { realm.isPerformingAsynchronousWriteOperations }
      let error = await #expect(throws: Realm.Error.self) {
        try await realm.asyncWrite(timeout: .milliseconds(50)) { Issue.record("too late") }
      }
      #expect(error?.code == .busy)
      let said = error?.message ?? ""
      #expect(said.contains("process \(holder.processID) (tarn-stress) has been writing for "))
      #expect(said.contains(" seconds and is stopped. Nothing was written."))
      // Many give up and are cancelled at once, and each ends in one way.
      var random = SeededRandom(seed: 7)
      let tasks = (0..<200).map { number in
        Task { @MainActor in
          try await realm.asyncWrite(timeout: .milliseconds(number / 10)) {
            _ = Issue.record("too late")
          }
        }
      }
      for task in tasks {
        await Task.yield()
        if random.chance(50) { task.cancel() }
      }
      var (late, cancelled) = (0, 0)
      for task in tasks {
        do {
          try await task.value
        } catch is CancellationError {
          cancelled += 1
        } catch let error as Realm.Error where error.code == .busy {
          late += 1
        }
      }
      #expect(late > 0)
      #expect(late + cancelled == 200)
      holder.signal(SIGCONT)
      holder.signal(SIGUSR1)
      try await ahead.value
      #expect(!realm.isPerformingAsynchronousWriteOperations)
      #expect(realm.problem == nil)
    }

    /// Four threads of another process write without pause; whoever comes goes behind them once.
    /// Here a thread of its own writes: on the main one the turns of other tests come first.
    @Test(arguments: [false, true])
    nonisolated func `nobody starves among many writers`(isDurable: Bool) throws {
      let file = try StressFile(isDurable: isDurable)
      let others = try StressTool.worker("write-threads", file.path, "1")
      #expect(others.line { $0 == "started" } != nil)
      let scheduler = ManualScheduler()
      let realm = try Realm(configuration: file.configuration, scheduler: scheduler)
      // How many writes of others went ahead of each.
      var ahead: [Int] = []
      for _ in 0..<200 {
        realm.refresh()
        let before = realm.commits
        var isOver = false
        realm.writeAsync {
          change(realm)
        } onComplete: {
          #expect($0 == nil)
          isOver = true
        }
        while !isOver {
          scheduler.wait(timeout: 10)
          scheduler.pump()
        }
        ahead.append(realm.commits - before - 1)
      }
      tellToStop(file)
      let said = try #require(others.finish().lines.last { $0.hasPrefix("counts ") })
      let counts = said.split(separator: " ").dropFirst().compactMap { Int($0) }
      // A thread that gets no processor in time is passed over, which happens to some.
      let quarter = ahead.sorted()[ahead.count / 4]
      print("\(counts) writes of the others; ahead of each: \(quarter), at most \(ahead.max()!)")
      #expect(counts.count == 4, "\(said)")
      #expect(counts.allSatisfy { $0 > 20 }, "\(said)")
      #expect(quarter <= 40, "\(ahead)")
      realm.refresh()
      #expect(realm.problem == nil)
    }

    /// The other way round: this process's tasks write without pause.
    @Test func `a process that writes in the ordinary way does not starve`() async throws {
      let file = try StressFile()
      let realm = try await open(file)
      let isOver = Flag()
      let tasks = (0..<20).map { _ in
        Task { @MainActor in
          var count = 0
          while !isOver.isSet {
            try await write(realm)
            count += 1
          }
          return count
        }
      }
      // Elsewhere: waiting here for what the worker says would keep the tasks from running.
      let hasWritten = try await Task.detached { [path = file.path] in
        let worker = try StressTool.worker("write", path, "1")
        let last = worker.line { $0 == "ack 50" }
        _ = FileManager.default.createFile(atPath: path + ".stop", contents: nil)
        let end = worker.finish().end
        return last != nil && end == .exited(0)
      }.value
      isOver.isSet = true
      var counts: [Int] = []
      for task in tasks { counts.append(try await task.value) }
      #expect(hasWritten)
      #expect(counts.allSatisfy { $0 > 0 })
      // Tasks of one Realm take turns; only the first had it for itself at the beginning.
      let later = counts.dropFirst()
      #expect(later.max()! - later.min()! <= 2, "\(counts)")
      realm.refresh()
      #expect(sequence(realm) == counts.reduce(0, +))
      #expect(realm.problem == nil)
    }
  }
}

@MainActor private final class Flag {
  var isSet = false
}
