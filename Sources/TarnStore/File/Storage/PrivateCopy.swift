internal import CTarn
internal import Glibc

/// The bytes of a store as of one commit, in a file that only this process has: for processes that
/// may read the data but cannot lock it, or have no room for the lock files.
///
/// Writers do not know about a reader that does not lock, and reuse the pages that it reads. So
/// nothing is read in place. The pages of the newest commit are reused after the next commit at the
/// earliest: if both header pages are the same before and after all bytes were copied, the copy has
/// that whole commit. Otherwise the file is copied again.
enum PrivateCopy {
  /// How long copying is retried while others commit faster than the file can be copied.
  private static let patience: UInt64 = 10_000_000_000

  /// - Parameter file: the data, open for reading.
  static func take(of file: Int32, path: String) throws(StorageError) -> OwnedDescriptor {
    let start = now()
    while true {
      guard let header = try StoreHeader.read(descriptor: file, path: path) else {
        throw StoreHeader.missing(path)
      }
      let heads = heads(of: file, header)
      let copy = try copy(file, upTo: Int64(clamping: header.byteCount), path)
      FaultPoint.hit("copy.taken")
      if self.heads(of: file, header) == heads, self.heads(of: copy.raw, header) == heads {
        return copy
      }
      if now() - start > patience {
        throw StorageError(
          .busy, operation: "open", path: path,
          detail: "\(path)-lock cannot be locked, so that the file is read from a private copy, "
            + "and other processes commit faster than it can be made")
      }
    }
  }

  /// In memory if no disk has room.
  private static func copy(
    _ file: Int32, upTo end: Int64, _ path: String
  ) throws(StorageError) -> OwnedDescriptor {
    let temporary = try NamelessFiles.temporary(for: path)
    do throws(StorageError) {
      try copyBytes(from: file, to: temporary.raw, upTo: end, path)
      return temporary
    } catch {
      guard error.code == .diskFull else { throw error }
    }
    let memory = try NamelessFiles.inMemory(for: path)
    try copyBytes(from: file, to: memory.raw, upTo: end, path)
    return memory
  }

  private static func heads(of file: Int32, _ header: StoreHeader) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: 2 * header.pageSize)
    let count = unsafe bytes.withUnsafeMutableBytes {
      unsafe pread(file, $0.baseAddress, $0.count, 0)
    }
    return Array(bytes.prefix(max(0, count)))
  }

  private static func copyBytes(
    from file: Int32, to copy: Int32, upTo end: Int64, _ path: String
  ) throws(StorageError) {
    var piece = [UInt8](repeating: 0, count: 1 << 20)
    var offset: off_t = 0
    while offset < end {
      let wanted = Int(min(Int64(piece.count), end - Int64(offset)))
      let (count, written) = unsafe piece.withUnsafeMutableBytes { bytes in
        let count = unsafe pread(file, bytes.baseAddress, wanted, offset)
        return unsafe (count, count > 0 ? pwrite(copy, bytes.baseAddress, count, offset) : 0)
      }
      if count == 0 { return }
      guard count > 0, written == count else {
        var error = StorageError(
          errno: written < 0 || count < 0 ? errno : SizeLimit.reason(forShortWriteTo: copy),
          operation: "open", path: path)
        error.detail = "cannot make a private copy: \(error.detail)"
        throw error
      }
      offset += off_t(count)
    }
  }

  private static func now() -> UInt64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
  }
}
