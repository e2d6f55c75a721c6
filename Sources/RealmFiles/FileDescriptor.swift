import Glibc

/// An open file, closed when nothing refers to it any more.
final class FileDescriptor {
  let byteCount: Int
  private let number: Int32

  /// - Parameter path: its bytes, without a zero at the end.
  init(_ path: [UInt8]) throws(RealmFileError) {
    let name = (path + [0]).map { CChar(bitPattern: $0) }
    // A named pipe must not wait for its writer.
    number = unsafe open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard number >= 0 else {
      byteCount = 0
      throw Self.unreadable("cannot open the file", errno)
    }
    var facts = stat()
    guard unsafe fstat(number, &facts) == 0 else {
      byteCount = 0
      throw Self.unreadable("cannot open the file", errno)
    }
    byteCount = facts.st_size
    guard facts.st_mode & S_IFMT == S_IFREG else {
      throw RealmFileError(.notRealmFile, "it is not a file")
    }
  }

  deinit {
    if number >= 0 { close(number) }
  }

  /// Fills the memory with the bytes from an offset on.
  func read(at offset: Int, into memory: UnsafeMutableRawBufferPointer) throws(RealmFileError) {
    var done = 0
    while done < memory.count {
      let count = unsafe pread(
        number, memory.baseAddress! + done, memory.count - done, off_t(offset + done))
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw Self.unreadable("cannot read the file", errno) }
      guard count > 0 else {
        throw .damaged("the file became shorter while it was read", at: offset + done)
      }
      done += count
    }
  }

  private static func unreadable(_ words: String, _ code: Int32) -> RealmFileError {
    RealmFileError(.unreadable, "\(words): \(unsafe String(cString: strerror(code)))")
  }
}
