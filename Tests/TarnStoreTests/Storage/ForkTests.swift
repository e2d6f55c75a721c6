import CTarn
import Foundation
import TestSupport
import Testing

@testable import TarnStore

/// In processes of their own, because a fork of the test process would take its threads' locks
/// along.
@Suite struct ForkTests {
  @Test func `a forked child is refused and harms nothing of its parent's`() async {
    let kept = TemporaryFolder()
    let said = KeptErrors(in: kept.path)
    let result = await #expect(processExitsWith: .success) { [said = said as KeptErrors] in
      said.keep()
      let folder = TemporaryFolder()
      let environment = try Environment.open(path: folder.file("x.realm"))
      try environment.put([[1]: [1]])
      let signal = try SignalFile(for: environment)
      let transaction = try environment.beginRead()
      var cursor = try Cursor(transaction)
      let pins = environment.readers()
      let token = try signal.gate.acquire()

      let code = Forked.run {
        if Forked.code({ () throws(StorageError) in try environment.beginRead() }) != .forked {
          return 1
        }
        if Forked.code({ () throws(StorageError) in try environment.put([[1]: [2]]) }) != .forked {
          return 2
        }
        if Forked.code({ () throws(StorageError) in try signal.gate.acquire().release() })
          != .forked
        {
          return 3
        }
        if Forked.code({ () throws(StorageError) in try transaction.get([1]) }) != .forked {
          return 8
        }
        if Forked.code({ () throws(StorageError) in try cursor.next() }) != .forked { return 9 }
        transaction.end()
        environment.close()
        if FileFacts.of(descriptor: signal.descriptor)?.identity
          == FileFacts.at(signal.path)?.identity
        {
          return 4
        }
        // What it opens itself is its own.
        guard let mine = try? Environment.open(path: folder.file("x.realm")) else { return 5 }
        if mine === environment || (try? mine.get([1])) != [1] { return 6 }
        if (try? mine.put([[2]: [2]])) == nil { return 7 }
        mine.close()
        return 0
      }
      precondition(code == 0, "the child ended with \(code)")
      precondition(environment.readers() == pins, "the child ended its parent's transaction")
      precondition(signal.gate.holder != nil)
      token.release()
      let stillThere = try transaction.get([1])
      precondition(stillThere == [1])
      try environment.put([[1]: [3]])
      transaction.end()
      environment.close()
      withExtendedLifetime(folder) {}
    }
    if result == nil { Issue.record("\(said.text)") }
    withExtendedLifetime(kept) {}
  }

  @Test func `a killed holder's forked child does not keep its gate`() async {
    let kept = TemporaryFolder()
    let said = KeptErrors(in: kept.path)
    let result = await #expect(processExitsWith: .success) { [said = said as KeptErrors] in
      said.keep()
      let folder = SignalFolder()
      let mine = try folder.open()
      var theirs: SignalFile? = try folder.open()
      let position = theirs!.slot
      var ends: [Int32] = [0, 0]
      precondition(pipe(&ends) == 0)
      let child = Forked.start {
        close(ends[1])
        var byte: UInt8 = 0
        return read(ends[0], &byte, 1) == 0 ? 0 : 1
      }
      // The child's copy of the description is closed before fork returns there, which may be
      // after it returns here.
      if theirs != nil { theirs = nil }
      let limit = GateWord.now() + 300_000_000_000
      while mine.isAlive(position) && GateWord.now() < limit { sched_yield() }
      let isAlive = mine.isAlive(position)
      close(ends[1])
      var status: Int32 = 0
      waitpid(child, &status, 0)
      precondition(!isAlive, "the child kept the slot of a process that is gone")
      withExtendedLifetime(folder) {}
    }
    if result == nil { Issue.record("\(said.text)") }
    withExtendedLifetime(kept) {}
  }

  @Test func `a child that the C library knows nothing of is refused, and opens nothing`() async {
    let kept = TemporaryFolder()
    let said = KeptErrors(in: kept.path)
    let result = await #expect(processExitsWith: .success) { [said = said as KeptErrors] in
      said.keep()
      let folder = TemporaryFolder()
      let environment = try Environment.open(path: folder.file("x.realm"))
      try environment.put([[1]: [1]])
      try environment.beginRead().end()
      let pins = environment.readers()
      let code = Forked.run(.unprepared) {
        if Forked.code({ () throws(StorageError) in try environment.beginRead() }) != .forked {
          return 1
        }
        if Forked.code({ () throws(StorageError) in try environment.put([[1]: [2]]) }) != .forked {
          return 2
        }
        let other = folder.file("y.realm")
        if Forked.code({ () throws(StorageError) in try Environment.open(path: other) })
          != .forked
        {
          return 3
        }
        // Its own child is made by the C library again.
        return Forked.run {
          guard let mine = try? Environment.open(path: other) else { return 4 }
          return (try? mine.put([[2]: [2]])) == nil ? 5 : 0
        }
      }
      precondition(code == 0, "the child ended with \(code)")
      precondition(environment.readers() == pins)
      let value = try environment.get([1])
      precondition(value == [1])
      environment.close()
      withExtendedLifetime(folder) {}
    }
    if result == nil { Issue.record("\(said.text)") }
    withExtendedLifetime(kept) {}
  }

  @Test func `threads of a child wait for a lock that was used before the fork`() async {
    await #expect(processExitsWith: .success) {
      let count = Lock(0)
      count.withLock { $0 += 1 }
      let code = Forked.run {
        let done = DispatchSemaphore(value: 0)
        for _ in 1...3 {
          _ = BackgroundThread.start("tarn-test") {
            for _ in 0..<100_000 { count.withLock { $0 += 1 } }
            done.signal()
          }
        }
        for _ in 0..<100_000 { count.withLock { $0 += 1 } }
        for _ in 1...3 where done.wait(timeout: .now() + .seconds(300)) != .success { return 1 }
        return count.withLock { $0 == 400_001 ? 0 : 2 }
      }
      precondition(code == 0, "the child ended with \(code)")
    }
  }

  @Test func `a fork waits until the threads of the library rest`() async {
    await #expect(processExitsWith: .success) {
      let isBusy = DispatchSemaphore(value: 0)
      let worked = Lock(0)
      _ = BackgroundThread.start("tarn-test") {
        for _ in 1...100 {
          isBusy.signal()
          for _ in 0..<1000 { worked.withLock { $0 += 1 } }
          BackgroundThread.rest { sched_yield() }
        }
      }
      for _ in 1...20 {
        isBusy.wait()
        let code = Forked.run { worked.withLock { Int32($0 % 1000 == 0 ? 0 : 1) } }
        precondition(code == 0, "the child was forked while a thread worked")
      }
      // And they go on after it, in the child those that it starts.
      let limit = GateWord.now() + 300_000_000_000
      while worked.withLock({ $0 < 100_000 }) && GateWord.now() < limit { sched_yield() }
      precondition(worked.withLock { $0 } == 100_000)
      let code = Forked.run {
        let done = DispatchSemaphore(value: 0)
        _ = BackgroundThread.start("tarn-test") { done.signal() }
        return done.wait(timeout: .now() + .seconds(300)) == .success ? 0 : 1
      }
      precondition(code == 0, "a child has no threads of its own")
    }
  }

  @Test func `a fork waits for a busy thread for a second at most`() async {
    await #expect(processExitsWith: .success) {
      let isBusy = DispatchSemaphore(value: 0)
      let isOver = DispatchSemaphore(value: 0)
      _ = BackgroundThread.start("tarn-test") {
        isBusy.signal()
        isOver.wait()
      }
      isBusy.wait()
      let start = ContinuousClock.now
      let code = Forked.run { 0 }
      precondition(code == 0 && ContinuousClock.now - start >= .seconds(1))
      isOver.signal()
    }
  }

  @Test func `a write within a write is a programmer's error`() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let folder = TemporaryFolder()
      let environment = try Environment.open(path: folder.file("x.realm"))
      // Nobody tidies up after a trap.
      try FileManager.default.removeItem(atPath: folder.path)
      try environment.write { _ throws(StorageError) in try environment.put([[1]: [1]]) }
    }
    let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
    #expect(text.contains("the thread began a write inside a write"), "\(text)")
  }
}

extension Forked {
  static func code<R>(_ body: () throws(StorageError) -> R) -> StorageError.Code? {
    do throws(StorageError) {
      _ = try body()
      return nil
    } catch {
      return error.code
    }
  }
}
