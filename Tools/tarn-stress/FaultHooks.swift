import StressFaults
import TarnStore

/// Arms the fault points, and adds those where LMDB syncs, and after it has written a header.
enum FaultHooks {
  /// Not in the main file: its globals belong to the main actor, and commits also run elsewhere.
  static func install() {
    FaultPoint.armFromEnvironment()
    stress_before_sync { FaultPoint.hit("storage.syncing") }
    stress_after_header_write { FaultPoint.hit("storage.headerWritten") }
  }
}
