internal import CTarn
internal import Glibc
package import TarnStore

/// An event that happens once, such as the end of a session, and that wakes a thread waiting for a
/// socket. Any thread.
package final class OnceSignal: Sendable {
  /// Readable from then on.
  let descriptor: Int32
  private let raised = Lock(ContinuousClock.Instant?.none)

  /// - Throws: `.limitExceeded` if the process has no descriptor left.
  package init() throws(StorageError) {
    descriptor = tarn_event()
    guard descriptor >= 0 else {
      throw StorageError(
        .limitExceeded, operation: "begin a session", path: "",
        detail: "the process has no file descriptor left")
    }
  }

  /// Waits until it happens, or for a time.
  package func wait(atMost time: Duration) {
    var waited = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    _ = unsafe poll(&waited, 1, SocketWait.milliseconds(time))
  }

  deinit { close(descriptor) }

  /// When it first happened; nil before that.
  package var time: ContinuousClock.Instant? { raised.withLock { $0 } }

  package func raise() {
    raised.withLock { $0 = $0 ?? .now }
    var one: UInt64 = 1
    _ = unsafe write(descriptor, &one, 8)
  }
}
