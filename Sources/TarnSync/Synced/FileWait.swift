import Dispatch
import TarnStore

/// Waits until a condition is true for a file, which any process may change.
struct FileWait {
  let store: Store

  /// Acknowledgements do not wake other processes.
  private static let interval = Duration.milliseconds(50)

  /// - Throws: `StorageError` if the file cannot be read or followed, `CancellationError`.
  func until(_ condition: @Sendable () throws -> Bool) async throws {
    let (news, source) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    let registration = try store.follow(usesWatcher: true) { source.yield() }
    let timer = Task {
      while !Task.isCancelled {
        try await Task.sleep(for: Self.interval)
        source.yield()
      }
    }
    defer {
      timer.cancel()
      registration.end()
    }
    var next = news.makeAsyncIterator()
    while try !condition() {
      try Task.checkCancellation()
      await next.next()
    }
  }

  /// Like above; blocks the thread.
  ///
  /// - Throws: `StorageError`, and the errors of `condition`.
  func blockUntil(_ condition: () throws -> Bool) throws {
    let news = DispatchSemaphore(value: 0)
    let registration = try store.follow(usesWatcher: true) { news.signal() }
    defer { registration.end() }
    while try !condition() { _ = news.wait(timeout: .now() + .milliseconds(50)) }
  }
}

/// For signatures that cannot throw: ends the program with the error of a file that cannot be read.
func trapping<R>(_ body: () throws(StorageError) -> R) -> R {
  do {
    return try body()
  } catch {
    trap("Tarn cannot continue: \(error)")
  }
}
