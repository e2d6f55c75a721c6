import Foundation
import TarnStore

/// A temporary file without a name, which only this process sees.
package enum UnnamedFile {
  /// Creates one in the folder for temporary files. The caller closes it.
  package static func make() throws(ToolError) -> Int32 {
    // The bytes of a path need not be UTF-8.
    let folder = getenv("TMPDIR").map { String(path: $0) } ?? "/tmp"
    var template = (folder + "/tarn-XXXXXX").withPath { path in
      Array(UnsafeBufferPointer(start: path, count: strlen(path) + 1))
    }
    let descriptor = mkstemp(&template)
    guard descriptor >= 0 else { throw ToolError("cannot make a file in", folder, errno: errno) }
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    unlink(template)
    return descriptor
  }
}

/// A first-in, first-out queue of bytes in an unnamed file. Confined to one thread at a time.
final class ByteQueueFile {
  private let descriptor: Int32
  private var readAt: off_t = 0
  private var writtenTo: off_t = 0

  var isEmpty: Bool { readAt == writtenTo }

  init() throws(ToolError) { descriptor = try UnnamedFile.make() }

  deinit { close(descriptor) }

  /// Adds all bytes, or none if it throws.
  func append(_ bytes: ArraySlice<UInt8>) throws(ToolError) {
    var end = writtenTo
    var rest = bytes
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { pwrite(descriptor, $0.baseAddress!, $0.count, end) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw ToolError("cannot write to", "a file", errno: errno) }
      end += off_t(count)
      rest = rest.dropFirst(count)
    }
    writtenTo = end
  }

  /// Removes the next bytes, at most that many.
  func take(_ limit: Int) throws(ToolError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: min(limit, Int(writtenTo - readAt)))
    var count = -1
    repeat {
      count = bytes.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, readAt) }
    } while count < 0 && errno == EINTR
    guard count > 0 || bytes.isEmpty else {
      throw ToolError("cannot read", "a file again", errno: errno)
    }
    bytes.removeLast(bytes.count - count)
    readAt += off_t(count)
    if isEmpty {
      // Frees the disk space.
      ftruncate(descriptor, 0)
      (readAt, writtenTo) = (0, 0)
    }
    return bytes
  }
}
