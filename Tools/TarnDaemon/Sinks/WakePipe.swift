import CDaemon
import Foundation

/// A wish that a thread that waits in `poll` can see. It stays once it was made. Any thread.
final class WakePipe: Sendable {
  let descriptor: Int32
  private let writeEnd: Int32

  /// Nil if the process has no descriptor left.
  init?() {
    var ends: [Int32] = [-1, -1]
    guard tarn_pipe(&ends, true) == 0 else { return nil }
    descriptor = ends[0]
    writeEnd = ends[1]
  }

  deinit {
    close(descriptor)
    close(writeEnd)
  }

  func wake() {
    var byte: UInt8 = 1
    _ = write(writeEnd, &byte, 1)
  }
}
