internal import CTarn
internal import Glibc

/// Wakes the watcher's thread from its wait.
package final class Waker: Sendable {
  package let descriptor: Int32

  /// Traps if the process has no descriptors left.
  package init() {
    descriptor = tarn_event()
    require(
      descriptor >= 0,
      "The process has no file descriptor left for the watcher: raise its limit (ulimit -n), or "
        + "close files.")
  }

  deinit { close(descriptor) }

  package func wake() {
    var one: UInt64 = 1
    _ = unsafe write(descriptor, &one, 8)
  }

  package func drain() {
    var count: UInt64 = 0
    _ = unsafe read(descriptor, &count, 8)
  }
}
