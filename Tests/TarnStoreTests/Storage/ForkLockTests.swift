import CTarn
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import TarnStore

/// What a child finds if other threads of its parent were busy. In processes of their own, because
/// a fork of the test process would take its threads' locks along.
///
/// Not under the thread sanitizer: there, `swift_once` takes its lock at each use of a static
/// property, and not only at the first one, so that the sanitizer sees who initialized it. A child
/// whose fork meets a thread of the parent in `swift_once` waits for that lock for ever.
@Suite(.enabled(if: !locksEachUseOfStatics)) struct ForkLockTests {
  @Test func `a child opens stores, whatever threads open and close them beside the fork`() async {
    let kept = TemporaryFolder()
    let said = KeptErrors(in: kept.path)
    let result = await #expect(processExitsWith: .success) { [said = said as KeptErrors] in
      said.keep()
      let folder = TemporaryFolder()
      let paths = (0..<3).map { folder.file("\($0).realm") }
      // Metadata of types is made under locks of Swift's runtime: here, before any fork.
      for path in paths { Self.openAndClose(path) }
      let isOver = Atomic(false)
      let openings = Atomic(0)
      let ended = DispatchSemaphore(value: 0)
      for path in paths {
        Thread {
          while !isOver.load(ordering: .relaxed) {
            Self.openAndClose(path)
            openings.add(1, ordering: .relaxed)
          }
          ended.signal()
        }.start()
      }
      for round in 0..<200 {
        let child = Forked.start {
          Self.openAndClose(paths[round % paths.count])
          return 0
        }
        precondition(Self.end(of: child) == 0, "child \(round) did not open the store")
      }
      precondition(openings.load(ordering: .relaxed) > 0)
      isOver.store(true, ordering: .relaxed)
      for _ in paths { ended.wait() }
      withExtendedLifetime(folder) {}
    }
    if result == nil { Issue.record("\(said.text)") }
    withExtendedLifetime(kept) {}
  }

  private static func openAndClose(_ path: String) {
    do {
      let store = try StoreRegistry.open(path, Store.Options())
      let snapshot = try store.newestSnapshot()
      withExtendedLifetime(snapshot) {}
    } catch {
      fatalError("\(error)")
    }
  }

  /// The child's status; one that hangs is killed.
  private static func end(of child: pid_t) -> Int32 {
    let limit = GateWord.now() + 120_000_000_000
    var status: Int32 = 0
    while waitpid(child, &status, WNOHANG) == 0 {
      if GateWord.now() > limit { kill(child, SIGKILL) }
      sched_yield()
    }
    return status
  }

  @Test func `a child opens stores although an opening took longer than the fork waits`() async {
    let kept = TemporaryFolder()
    let said = KeptErrors(in: kept.path)
    let result = await #expect(processExitsWith: .success) { [said = said as KeptErrors] in
      said.keep()
      let folder = TemporaryFolder()
      let known = try Environment.open(path: folder.file("known.realm"))
      let isOpening = DispatchSemaphore(value: 0)
      let mayGoOn = DispatchSemaphore(value: 0)
      let isOpen = DispatchSemaphore(value: 0)
      Thread {
        let opened = try? Environment.open(
          .memory("slow"), options: EnvironmentOptions(),
          content: { _ in
            isOpening.signal()
            mayGoOn.wait()
          })
        precondition(opened != nil)
        opened?.close()
        isOpen.signal()
      }.start()
      isOpening.wait()
      let code = Forked.run {
        guard let mine = try? Environment.open(path: folder.file("mine.realm")) else { return 1 }
        if (try? mine.put([[1]: [1]])) == nil { return 2 }
        mine.close()
        known.close()
        return 0
      }
      precondition(code == 0, "the child ended with \(code)")
      mayGoOn.signal()
      isOpen.wait()
      known.close()
      withExtendedLifetime(folder) {}
    }
    if result == nil { Issue.record("\(said.text)") }
    withExtendedLifetime(kept) {}
  }

  @Test func `a child finds what a lock of the process guards as it should be`() async {
    await #expect(processExitsWith: .success) {
      let isOver = Atomic(false)
      let ended = DispatchSemaphore(value: 0)
      OfProcess.pair.withLock { $0.first += 1 }
      OfProcess.pair.withLock { $0.second += 1 }
      Thread {
        while !isOver.load(ordering: .relaxed) {
          OfProcess.pair.withLock { pair in
            pair.first += 1
            for _ in 0..<10 { sched_yield() }
            pair.second += 1
          }
          for _ in 0..<20 { sched_yield() }
        }
        ended.signal()
      }.start()
      for _ in 0..<100 {
        let code = Forked.run {
          OfProcess.pair.withLock { $0.first == $0.second ? 0 : 1 }
        }
        precondition(code == 0, "a thread was in the middle of a change")
        // And its own children do.
        precondition(Forked.run { Forked.run { OfProcess.pair.withLock { _ in 0 } } } == 0)
      }
      isOver.store(true, ordering: .relaxed)
      ended.wait()
    }
  }

  @Test func `a lock that another thread held at the fork is free in the child`() async {
    await #expect(processExitsWith: .success) {
      let number = Lock(0)
      let isHeld = DispatchSemaphore(value: 0)
      let mayGo = DispatchSemaphore(value: 0)
      let isWaiting = DispatchSemaphore(value: 0)
      let ended = DispatchSemaphore(value: 0)
      Thread {
        number.withLock { number in
          isHeld.signal()
          mayGo.wait()
          number += 1
        }
        ended.signal()
      }.start()
      isHeld.wait()
      Thread {
        isWaiting.signal()
        number.withLock { $0 += 1 }
        ended.signal()
      }.start()
      isWaiting.wait()
      let code = Forked.run {
        let done = DispatchSemaphore(value: 0)
        for _ in 1...2 {
          _ = BackgroundThread.start("tarn-test") {
            for _ in 0..<10_000 { number.withLock { $0 += 1 } }
            done.signal()
          }
        }
        for _ in 1...2 where done.wait(timeout: .now() + .seconds(300)) != .success { return 1 }
        return number.withLock { $0 } == 20_000 ? 0 : 2
      }
      precondition(code == 0, "the child ended with \(code)")
      mayGo.signal()
      ended.wait()
      ended.wait()
      precondition(number.withLock { $0 } == 2)
    }
  }

  @Test func `a fork waits for what must not be cut by one`() async {
    await #expect(processExitsWith: .success) {
      let isInside = Atomic(false)
      let isOver = Atomic(false)
      let ended = DispatchSemaphore(value: 0)
      Thread {
        while !isOver.load(ordering: .relaxed) {
          BackgroundThread.holdingForks {
            isInside.store(true, ordering: .relaxed)
            // A part of it does not wait for the fork that waits for all of it.
            for _ in 0..<10 { BackgroundThread.holdingForks { _ = sched_yield() } }
            isInside.store(false, ordering: .relaxed)
          }
        }
        ended.signal()
      }.start()
      let start = ContinuousClock.now
      for _ in 0..<100 {
        let code = Forked.run { isInside.load(ordering: .relaxed) ? 1 : 0 }
        precondition(code == 0)
        // It does not wait for itself either.
        precondition(BackgroundThread.holdingForks { Forked.run { 0 } } == 0)
      }
      precondition(ContinuousClock.now - start < .seconds(100), "each fork waited in vain")
      isOver.store(true, ordering: .relaxed)
      ended.wait()
    }
  }
}

private enum OfProcess {
  static let pair = Lock(ofProcess: (first: 0, second: 0))
}

#if THREAD_SANITIZER
  private let locksEachUseOfStatics = true
#else
  private let locksEachUseOfStatics = false
#endif
