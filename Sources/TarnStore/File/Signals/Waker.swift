internal import CTarn
internal import Glibc

/// Wakes the watcher's thread from its wait.
package final class Waker: Sendable {
  package let descriptor: Int32

  /// Errors: `.limitExceeded` if the process has no descriptors left.
  package init() throws(StorageError) {
    descriptor = tarn_event()
    if descriptor < 0 { throw StorageError(errno: errno, operation: "observe", path: "") }
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  package func wake() {
    var one: UInt64 = 1
    _ = unsafe write(descriptor, &one, 8)
  }

  package func drain() {
    var count: UInt64 = 0
    _ = unsafe read(descriptor, &count, 8)
  }
}
