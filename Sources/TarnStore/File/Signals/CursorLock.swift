internal import CTarn
internal import Glibc

/// Shows that this process holds a cursor: an exclusive lock on a byte of the signal file, with its
/// own descriptor. The lock ends with the process, even if that is killed, and a forked child does
/// not keep it.
///
/// The byte is determined by the cursor's number and the hold's epoch. So a process that takes a
/// cursor from a living one locks another byte, and the former holder's lock no longer has an
/// effect.
package final class CursorLock: Sendable {
  private static let firstByte: Int64 = 1 << 41
  private let descriptor: Lock<Int32?>
  private let forkCount = tarn_fork_count()

  static func byte(_ number: UInt32, _ epoch: UInt32) -> Int64 {
    firstByte + Int64(number) << 20 | Int64(epoch & 0xf_ffff)
  }

  /// Errors: `.busy` if another process holds it.
  init(_ signal: SignalFile, number: UInt32, epoch: UInt32) throws(StorageError) {
    // This name opens the same file, even one without a name or that has lost it.
    let file = try OwnedDescriptor(
      opening: "/proc/self/fd/\(signal.descriptor)", flags: O_RDWR, operation: "open cursor")
    guard FileFacts.of(descriptor: file.raw)?.identity == signal.identity else {
      throw StorageError(
        .failed, operation: "open cursor", path: signal.path,
        detail: LostDescriptor.detail(signal.descriptor))
    }
    var result = tarn_close_in_child(file.raw)
    if result == 0 {
      result = tarn_lock_exclusive(file.raw, Self.byte(number, epoch), 1)
      if result != 0 { tarn_forget_in_child(file.raw) }
    }
    guard result == 0 else {
      let isHeld = result == EAGAIN || result == EACCES
      throw isHeld
        ? StorageError(
          .busy, operation: "open cursor", path: signal.path, detail: "another process has it")
        : StorageError(errno: result, operation: "open cursor", path: signal.path)
    }
    descriptor = Lock(file.release())
  }

  deinit { release() }

  /// Releases the cursor for others.
  package func release() {
    let open = descriptor.withLock { $0.take() }
    // In a forked child it is closed already.
    if let open, tarn_fork_count() == forkCount { tarn_unlock_and_close(open) }
  }

  /// Whether a process, including this one, holds the cursor with that epoch.
  static func isHeld(_ signal: SignalFile, number: UInt32, epoch: UInt32) -> Bool {
    tarn_is_locked_elsewhere(signal.descriptor, byte(number, epoch), 1) > 0
  }
}
