import StressFaults
import TarnStore

/// Fault points where LMDB waits for the disk, and after it has written a header.
enum FaultHooks {
  /// Not in the main file: what is there belongs to the main actor, and commits run elsewhere too.
  static func install() {
    stress_before_sync { FaultPoint.hit("storage.syncing") }
    stress_after_header_write { FaultPoint.hit("storage.headerWritten") }
  }
}
