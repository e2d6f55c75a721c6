internal import CTarn
internal import Glibc

/// The locks of this process on bytes of a signal file, one for each cursor that it holds.
///
/// They belong to one file description, which is open while there are any, so that a process that
/// holds many cursors of a file needs one descriptor for them. It is not the description of the
/// signal file, which must see the locks of its own process, too. Any thread.
final class CursorBytes: Sendable {
  private struct Opened {
    let descriptor: Int32
    let file: FileIdentity
    var locked: Set<Int64> = []

    /// False if the program closed the descriptor and may have reused its number.
    var isOurs: Bool { !FileFacts.isLost(descriptor, of: file) }
  }

  private let opened = Lock<Opened?>(nil)
  private let forkCount = tarn_fork_count()

  /// Errors: `.busy` if another process holds it, or this one does.
  func lock(_ byte: Int64, of signal: SignalFile) throws(StorageError) {
    try opened.withLock { opened throws(StorageError) in
      var file = try Self.usable(opened, signal)
      let isOwn = file.locked.contains(byte)
      let result = isOwn ? EAGAIN : tarn_lock_exclusive(file.descriptor, byte, 1)
      if result == 0 { file.locked.insert(byte) }
      opened = file
      guard result != 0 else { return }
      if file.locked.isEmpty {
        tarn_unlock_and_close(file.descriptor)
        opened = nil
      }
      let isHeld = result == EAGAIN || result == EACCES
      throw isHeld
        ? StorageError(
          .busy, operation: "open cursor", path: signal.path, detail: "another process has it")
        : StorageError(errno: result, operation: "open cursor", path: signal.path)
    }
  }

  private static func usable(
    _ opened: Opened?, _ signal: SignalFile
  ) throws(StorageError) -> Opened {
    if let opened {
      if opened.isOurs { return opened }
      tarn_forget_in_child(opened.descriptor)
    }
    // This name opens the same file, even one without a name or that has lost it.
    let file: OwnedDescriptor
    do throws(StorageError) {
      file = try OwnedDescriptor(
        opening: "/proc/self/fd/\(signal.descriptor)", flags: O_RDWR, operation: "open cursor")
    } catch {
      var error = error
      error.path = signal.path
      throw error
    }
    guard FileFacts.of(descriptor: file.raw)?.identity == signal.identity else {
      throw StorageError(
        .failed, operation: "open cursor", path: signal.path,
        detail: LostDescriptor.detail(signal.descriptor))
    }
    let result = tarn_close_in_child(file.raw)
    guard result == 0 else {
      throw StorageError(errno: result, operation: "open cursor", path: signal.path)
    }
    return Opened(descriptor: file.release(), file: signal.identity)
  }

  func unlock(_ byte: Int64) {
    // In a forked child the descriptor is closed already.
    if tarn_fork_count() != forkCount { return }
    opened.withLock { opened in
      guard var file = opened, file.locked.remove(byte) != nil else { return }
      opened = nil
      guard file.isOurs else { return tarn_forget_in_child(file.descriptor) }
      if file.locked.isEmpty { return tarn_unlock_and_close(file.descriptor) }
      tarn_unlock(file.descriptor, byte, 1)
      opened = file
    }
  }
}
