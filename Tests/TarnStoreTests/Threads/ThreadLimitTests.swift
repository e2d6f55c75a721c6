import Foundation
import TestSupport
import Testing

@testable import TarnStore

/// A process that can have no more threads.
@Suite struct ThreadLimitTests {
  /// Of the threads that are made from here on.
  private static func setStack(_ byteCount: Int) {
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    precondition(pthread_attr_setstacksize(&attributes, byteCount) == 0)
    // Of the GNU C library, whose extensions Swift does not see.
    typealias SetDefault = @convention(c) (UnsafePointer<pthread_attr_t>) -> Int32
    let symbol = dlsym(nil, "pthread_setattr_default_np")
    precondition(unsafeBitCast(symbol, to: SetDefault.self)(&attributes) == 0)
  }

  /// Runs the body where no thread can be made, since none has room for its stack.
  private static func withoutThreads<R>(_ body: () throws -> R) rethrows -> R {
    setStack(1 << 50)
    defer { setStack(8 << 20) }
    return try body()
  }

  private static func limit(_ body: () throws -> Void) -> StorageError? {
    do {
      try withoutThreads(body)
      return nil
    } catch {
      return error as? StorageError
    }
  }

  @Test func `without a thread observing is an error, and works once there is one`() async {
    let folder = TemporaryFolder()
    let said = KeptErrors(in: folder.path)
    let result = await #expect(processExitsWith: .success) {
      [said = said as KeptErrors, path = folder.file("x.realm") as String] in
      said.keep()
      let (store, _) = try Store.open(.file(path), Store.Options())
      let error = Self.limit { _ = try store.follow(usesWatcher: true) {} }
      precondition(error?.code == .limitExceeded, "\(error as Any)")
      for part in ["another thread", "ulimit -u", "kernel.threads-max", "pids limit"] {
        precondition(error?.detail.contains(part) == true, "\(error as Any)")
      }
      let seen = DispatchSemaphore(value: 0)
      let registration = try store.follow(usesWatcher: true) { seen.signal() }
      store.signal.raise(to: store.signal.version + 1)
      store.signal.wake()
      seen.wait()
      registration.end()
    }
    if result == nil { Issue.record("\(said.text)") }
    withExtendedLifetime(folder) {}
  }

  @Test func `without a thread the caller makes commits and live work itself, in order`() async {
    let folder = TemporaryFolder()
    let said = KeptErrors(in: folder.path)
    let result = await #expect(processExitsWith: .success) { [said = said as KeptErrors] in
      said.keep()
      let thread = CommitThread()
      let order = Lock<[Int]>([])
      Self.withoutThreads {
        thread.run {
          order.withLock { $0.append(1) }
          thread.run { order.withLock { $0.append(2) } }
        }
        thread.run { order.withLock { $0.append(3) } }
        LiveWorkers.shared.run { order.withLock { $0.append(4) } }
      }
      precondition(order.withLock { $0 } == [1, 2, 3, 4])
      let ended = DispatchSemaphore(value: 0)
      thread.run { ended.signal() }
      LiveWorkers.shared.run { ended.signal() }
      ended.wait()
      ended.wait()
    }
    if result == nil { Issue.record("\(said.text)") }
    withExtendedLifetime(folder) {}
  }

  @Test func `without a thread no one stands in line for the gate, and the error says so`() async {
    let folder = TemporaryFolder()
    let said = KeptErrors(in: folder.path)
    let result = await #expect(processExitsWith: .success) {
      [said = said as KeptErrors, path = folder.file("x.realm") as String] in
      said.keep()
      let (store, _) = try Store.open(.file(path), Store.Options())
      let called = DispatchSemaphore(value: 0)
      do {
        let held = try store.acquireGate()
        let error = Self.limit { _ = try store.claimGate(2) {} }
        precondition(error?.code == .limitExceeded, "\(error as Any)")
        guard try store.claimGate(3, orCall: { called.signal() }) == nil else {
          fatalError("two have the gate")
        }
        withExtendedLifetime(held) {}
      }
      called.wait()
    }
    if result == nil { Issue.record("\(said.text)") }
    withExtendedLifetime(folder) {}
  }
}
