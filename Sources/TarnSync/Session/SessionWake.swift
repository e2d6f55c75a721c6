internal import CTarn
internal import Glibc
import TarnStore

/// Lets one thread sleep until an event: a request of another thread, or bytes at a socket.
final class SessionWake: Sendable {
  private let descriptor: Int32

  /// - Throws: `.limitExceeded` if the process has no descriptor left.
  init() throws(StorageError) {
    descriptor = tarn_event()
    guard descriptor >= 0 else {
      throw StorageError(
        .limitExceeded, operation: "begin a session", path: "",
        detail: "the process has no file descriptor left")
    }
  }

  deinit { close(descriptor) }

  /// Ends a sleep, or the next one if no thread sleeps. Any thread.
  func wake() {
    var one: UInt64 = 1
    _ = unsafe write(descriptor, &one, 8)
  }

  enum Cause: Equatable { case time, wish, socket }

  /// - Parameters:
  ///   - time: the maximum time.
  ///   - socket: an additional socket to wait for; -1 for none.
  func sleep(atMost time: Duration, orUntilReadable socket: Int32 = -1) -> Cause {
    var waited = [
      pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
      pollfd(fd: socket, events: Int16(POLLIN), revents: 0),
    ]
    BackgroundThread.rest { _ = unsafe poll(&waited, 2, SocketWait.milliseconds(time)) }
    if waited[0].revents != 0 {
      var count: UInt64 = 0
      _ = unsafe read(descriptor, &count, 8)
      return .wish
    }
    return waited[1].revents != 0 ? .socket : .time
  }
}
