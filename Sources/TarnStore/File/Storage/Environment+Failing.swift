internal import Glibc

/// Syncs, and failures of the disk.
///
/// If pages cannot be written or synced, Linux reports that once and then takes them for written,
/// so repeating the sync would succeed without having written them. Therefore the store is closed
/// for writing. With `full` and `consistent` the file is whole nevertheless: a header page is
/// written only after the pages that it leads to were synced, so what may be missing on the disk
/// are free pages and the two header pages. `resumeWriting` writes the latter again, as they are.
///
/// With `relaxed`, any page may be missing, and only reading the file from the disk again would
/// show which.
extension Environment {
  /// Whether a failure has closed the store for writing.
  package var isClosedForWriting: Bool { latchedCode.load(ordering: .acquiring) != 0 }

  func latch(_ code: StorageError.Code) {
    latchedCode.store(code.rawValue, ordering: .releasing)
  }

  func checkNotClosed(_ operation: String) throws(StorageError) {
    guard isClosedForWriting else { return }
    throw error(
      .failed, operation,
      "an earlier failure of the disk closed the file for writing in this process. \(wayOfFailed)")
  }

  private var wayOfFailed: String {
    durability == .relaxed
      ? "Its commits are not synced, so any page may be missing on the disk: end all programs that "
        + "have it open, and let 'tarn repair' make a new file of it"
      : "Call resumeWriting(), or end every use of it in this process, and open it again"
  }

  /// Waits until all commits, also those of other processes, are on the disk. While others commit
  /// with `relaxed`, the file is whole only if nothing was committed since.
  ///
  /// Errors: `.inputOutput`, which closes the store for writing; `.failed` if it is closed.
  package func sync(_ operation: String = "flush") throws(StorageError) {
    guard kind == .shared else { return }
    if isForked { throw error(.forked, operation, "the process was forked") }
    try checkNotClosed(operation)
    try checkOwnDescriptor(operation)
    let result = syncData()
    if result == 0 { return }
    latch(.inputOutput)
    throw StorageError(errno: result, operation: operation, path: path)
  }

  private func checkOwnDescriptor(_ operation: String) throws(StorageError) {
    guard FileFacts.of(descriptor: descriptor)?.identity == dataIdentity else {
      throw error(.failed, operation, LostDescriptor.detail(descriptor) + "; restart the program")
    }
  }

  /// - Returns: a system error number, or 0.
  private func syncData() -> Int32 {
    while fdatasync(descriptor) != 0 {
      if errno != EINTR { return errno }
    }
    return 0
  }

  /// Lets the store be written again after a failure, if its disk works. Transactions go on.
  ///
  /// Errors: `.failed` if that cannot be had; those of writing.
  func resumeWriting() throws(StorageError) {
    guard isClosedForWriting else { return }
    let operation = "resume writing"
    guard durability != .relaxed else { return try checkNotClosed(operation) }
    try checkOwnDescriptor(operation)
    // Where LMDB refuses everything, this opens another engine.
    try beginRead().end()
    try writeEvenIfClosed { _ throws(StorageError) in
      try rewriteHeaders(operation)
    }
    latchedCode.store(0, ordering: .releasing)
  }

  /// Writes the header pages as they are, and syncs them. No other process writes meanwhile.
  private func rewriteHeaders(_ operation: String) throws(StorageError) {
    var result: Int32 = 0
    // The first sync reports failures from before as well, after which the pages count as written.
    for _ in 0..<2 {
      for page in 0..<2 {
        try rewriteHeader(at: page * pageSize, operation)
      }
      result = syncData()
      if result == 0 { return }
    }
    throw StorageError(errno: result, operation: operation, path: path)
  }

  /// Writes exactly the bytes that LMDB writes at a commit.
  private func rewriteHeader(at page: Int, _ operation: String) throws(StorageError) {
    var bytes = [UInt8](repeating: 0, count: StoreHeader.changingBytes.count)
    let offset = off_t(page + StoreHeader.changingBytes.lowerBound)
    let (read, written) = unsafe bytes.withUnsafeMutableBytes { bytes in
      let read = unsafe pread(descriptor, bytes.baseAddress, bytes.count, offset)
      guard read == bytes.count else { return (read, 0) }
      return unsafe (read, pwrite(descriptor, bytes.baseAddress, bytes.count, offset))
    }
    guard read == bytes.count, written == bytes.count else {
      throw StorageError(
        errno: read < 0 || written < 0 ? errno : EIO, operation: operation, path: path)
    }
  }

  /// After a header page could not be written, LMDB has written back what was there. That must be
  /// on the disk before another process uses the pages of the failed commit, because its header
  /// page may be there. This process still has the write lock.
  func settleHeaders() {
    // Nothing can be done about an error, which the next sync reports to everybody.
    _ = syncData()
  }
}
