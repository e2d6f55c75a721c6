import Foundation
import TarnStore

/// An output as it was opened.
struct OutputDescriptor {
  enum Kind {
    /// Lines are whole in it, also after a death, and on the disk once they are delivered.
    case file
    /// A pipe, a terminal, a device such as /dev/null, or this program's own output: nothing can be
    /// taken back.
    case stream
  }

  let path: String
  let descriptor: Int32
  let kind: Kind
  let identity: FileIdentity

  init(_ path: String) throws(DeliveryFailure) {
    self.path = path
    let own = ["/dev/stdout": STDOUT_FILENO, "/dev/stderr": STDERR_FILENO][path]
    // Those two may be sockets, which cannot be opened.
    descriptor = own.map { fcntl($0, F_DUPFD_CLOEXEC, 3) } ?? Self.open(path)
    guard descriptor >= 0 else {
      throw errno == ENXIO
        ? Self.failure(path, "nobody reads it") : Self.failure(path, errno: errno)
    }
    var facts = stat()
    fstat(descriptor, &facts)
    identity = FileIdentity(device: UInt64(facts.st_dev), inode: UInt64(facts.st_ino))
    switch facts.st_mode & S_IFMT {
    case S_IFREG where own == nil:
      kind = .file
      // Its name is durable, too, before a line in it counts as delivered.
      if facts.st_size == 0 { Self.syncFolder(of: path) }
    case S_IFBLK:
      close(descriptor)
      throw Self.failure(path, "it is a disk")
    default: kind = .stream
    }
  }

  private static func open(_ path: String) -> Int32 {
    var facts = stat()
    let known = stat(path, &facts) == 0 ? facts.st_mode & S_IFMT : S_IFREG
    // Opening a pipe without a reader would wait. Mending a file needs to read it.
    let flags =
      known == S_IFREG || known == S_IFDIR
      ? O_RDWR | O_CREAT | O_APPEND : O_WRONLY | O_NONBLOCK | O_NOCTTY
    return Foundation.open(path, flags | O_CLOEXEC, 0o640)
  }

  private static func syncFolder(of path: String) {
    let folder = open(
      URL(fileURLWithPath: path).deletingLastPathComponent().path, O_RDONLY | O_DIRECTORY)
    guard folder >= 0 else { return }
    fsync(folder)
    close(folder)
  }

  private static func open(_ path: String, _ flags: Int32) -> Int32 {
    Foundation.open(path, flags | O_CLOEXEC)
  }

  static func failure(_ path: String, _ reason: String) -> DeliveryFailure {
    DeliveryFailure(description: "cannot write \(path): \(reason)")
  }

  static func failure(_ path: String, errno code: Int32) -> DeliveryFailure {
    failure(path, String(cString: strerror(code)))
  }
}
