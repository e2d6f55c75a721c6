internal import CTarn

/// Shows that this process holds a cursor: an exclusive lock on a byte of the signal file. The lock
/// ends with the process, even if that is killed, and a forked child does not keep it.
///
/// The byte is determined by the cursor's number and the hold's epoch. So a process that takes a
/// cursor from a living one locks another byte, and the former owner's lock no longer has an
/// effect.
package final class CursorLock: Sendable {
  private static let firstByte: Int64 = 1 << 41
  private let byte: Int64
  /// Nil once it is released.
  private let bytes: Lock<CursorBytes?>

  static func byte(_ number: UInt32, _ epoch: UInt32) -> Int64 {
    firstByte + Int64(number) << 20 | Int64(epoch & 0xf_ffff)
  }

  /// Errors: `.busy` if another process holds it.
  init(_ signal: SignalFile, number: UInt32, epoch: UInt32) throws(StorageError) {
    byte = Self.byte(number, epoch)
    try signal.cursorBytes.lock(byte, of: signal)
    bytes = Lock(signal.cursorBytes)
  }

  deinit { release() }

  /// Releases the cursor for others.
  package func release() { bytes.withLock { $0.take() }?.unlock(byte) }

  /// Whether a process, including this one, holds the cursor with that epoch.
  static func isHeld(_ signal: SignalFile, number: UInt32, epoch: UInt32) -> Bool {
    tarn_is_locked_elsewhere(signal.descriptor, byte(number, epoch), 1) > 0
  }
}
