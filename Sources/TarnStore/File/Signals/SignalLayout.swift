/// The layout of a signal file. It is shared memory of running processes, not data: while no
/// process has the file open, its bytes are meaningless, and it may be deleted.
///
///     0      u64 magic; u32 format; u32 length of the file
///     16     u64 device and u64 inode of the data file, the same of the lock file
///     48     8 bytes that `wake` writes; never read
///     64     u64 version: the newest announced one
///     128    gate: u64 owner; u64 time of the last change; u64 last ticket; u32 waiting
///     4096   512 processes of 16 bytes: u32 process id, u32 0, u64 start time
///     12288  256 waiters of 16 bytes: u64 ticket word, u32 wake count, u32 0
///
/// Locks of descriptors on single bytes (independent of the bytes' contents):
///
///     0      held while the file is being created, checked or repaired, and a slot is taken
///     4096 + i   process i is alive
enum SignalLayout {
  static let magic = CompanionKind.signalMagic
  static let format: UInt32 = 1
  static let byteCount = CompanionKind.signalByteCount

  static let formatAt = 8
  static let identityAt = 16
  static let wakeAt = 48
  static let versionAt = 64

  static let ownerAt = 128
  static let changedAt = 136
  static let lastTicketAt = 144
  static let waitingAt = 152

  static let processesAt = 4096
  static let processCount = 512
  static let processByteCount = 16

  static let waitersAt = 12288
  static let waiterCount = 256
  static let waiterByteCount = 16

  static let initLockByte: Int64 = 0
  static let processLockByte: Int64 = 4096
}
