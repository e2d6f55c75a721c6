internal import CPostgres
internal import Dispatch
import TarnStore

/// Asks a server to end the statement of a closed connection, so that it does not, for example,
/// continue to wait for a lock although its client has ended.
///
/// libpq's call has no deadline, and the server may be as silent as the connection: a separate
/// thread makes the call.
enum ServerCancel {
  /// The maximum number of threads that wait for such servers.
  private static let most = 4
  /// How long the end of a program is delayed for it.
  private static let patience = DispatchTimeInterval.milliseconds(200)
  private static let running = Lock(ofProcess: 0)

  /// - Parameter waiting: runs a call that waits.
  static func send(_ connection: OpaquePointer, waiting: (() -> Void) -> Void) {
    let isAllowed = running.withLock { running in
      if running == most { return false }
      running += 1
      return true
    }
    guard isAllowed else { return }
    guard let request = unsafe PQgetCancel(connection) else { return ended() }
    let place = UInt(bitPattern: request)
    let sent = DispatchSemaphore(value: 0)
    let isStarted = BackgroundThread.start("tarn-cancel") {
      BackgroundThread.rest {
        let request = unsafe OpaquePointer(bitPattern: place)
        var message = [CChar](repeating: 0, count: 256)
        _ = unsafe PQcancel(request, &message, Int32(message.count))
        unsafe PQfreeCancel(request)
      }
      ended()
      sent.signal()
    }
    if isStarted {
      waiting { _ = sent.wait(timeout: .now() + patience) }
    } else {
      unsafe PQfreeCancel(request)
      ended()
    }
  }

  private static func ended() { running.withLock { $0 -= 1 } }
}
