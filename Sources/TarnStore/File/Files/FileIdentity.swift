internal import CTarn
internal import Glibc

/// Identifies a file whatever its path: two paths may be one store, and one path two.
package struct FileIdentity: Hashable, Sendable {
  package let device: UInt64
  package let inode: UInt64
  package init(device: UInt64, inode: UInt64) {
    self.device = device
    self.inode = inode
  }
}

/// The results of `stat` that are used.
package struct FileFacts: Sendable {
  package let identity: FileIdentity
  package let byteCount: Int64
  /// Permission bits only.
  package let mode: UInt32
  package let owner: UInt32
  package let group: UInt32
  package let isRegularFile: Bool
  /// The number of hard links; 0 after the file was deleted.
  package let linkCount: UInt64

  private init(_ facts: stat) {
    identity = FileIdentity(device: UInt64(facts.st_dev), inode: UInt64(facts.st_ino))
    byteCount = Int64(facts.st_size)
    mode = facts.st_mode & 0o777
    owner = facts.st_uid
    group = facts.st_gid
    isRegularFile = facts.st_mode & S_IFMT == S_IFREG
    linkCount = UInt64(facts.st_nlink)
  }

  /// The file at the path now; nil if this process can see none there.
  package static func at(_ path: String) -> FileFacts? {
    var facts = stat()
    return unsafe path.withPath { unsafe stat($0, &facts) } == 0 ? FileFacts(facts) : nil
  }

  /// The file at the path.
  ///
  /// Errors: those of `stat`. A call that fails is not taken for a file that is missing.
  static func known(at path: String, _ operation: String) throws(StorageError) -> FileFacts {
    if let facts = at(path) { return facts }
    throw StorageError(errno: errno, operation: operation, path: path, call: "stat")
  }

  /// The file at the path; nil if there is certainly none that this process can reach.
  ///
  /// Errors: those of a system that cannot tell.
  static func named(_ path: String, _ operation: String) throws(StorageError) -> FileFacts? {
    if let facts = at(path) { return facts }
    let number = errno
    switch number {
    case ENOENT, ENOTDIR, EACCES, ELOOP, ENAMETOOLONG: return nil
    default: throw StorageError(errno: number, operation: operation, path: path, call: "stat")
    }
  }

  /// Whether the path leads to that file.
  ///
  /// Errors: those of a system that cannot tell.
  static func leads(
    _ path: String, to file: FileIdentity, _ operation: String
  ) throws(StorageError) -> Bool {
    try named(path, operation)?.identity == file
  }

  /// Deletes the file at the path.
  ///
  /// - Returns: why it cannot, as an error number; nil if it has.
  package static func remove(_ path: String) -> Int32? {
    unsafe path.withPath { unsafe unlink($0) } == 0 ? nil : errno
  }

  package static func of(descriptor: Int32) -> FileFacts? {
    var facts = stat()
    return unsafe fstat(descriptor, &facts) == 0 ? FileFacts(facts) : nil
  }

  /// The file that one of the library's descriptors refers to.
  ///
  /// Errors: those of `fstat`.
  static func known(
    of descriptor: Int32, _ path: String, _ operation: String
  ) throws(StorageError) -> FileFacts {
    if let facts = of(descriptor: descriptor) { return facts }
    throw StorageError(errno: errno, operation: operation, path: path, call: "fstat")
  }

  /// Whether the program closed a descriptor of the file. A disk that does not answer does not mean
  /// that it did.
  static func isLost(_ descriptor: Int32, of file: FileIdentity) -> Bool {
    guard let facts = of(descriptor: descriptor) else { return errno == EBADF }
    return facts.identity != file
  }
}

/// A descriptor that is closed when it goes out of scope; never a standard one. The user's umask
/// applies to a file that it creates.
package struct OwnedDescriptor: ~Copyable {
  package let raw: Int32

  /// Opens with close-on-exec, and never waits for the other end of a pipe. Errors: those of the
  /// system call.
  package init(
    opening path: String, flags: Int32, mode: UInt32 = 0o666, operation: String
  ) throws(StorageError) {
    let flags = flags | O_CLOEXEC
    raw = unsafe path.withPath { path in
      var made = unsafe open(path, flags | O_NONBLOCK, mode)
      // A file server has a lease on the file, which it ends while others wait.
      if made < 0 && errno == EWOULDBLOCK { made = unsafe open(path, flags, mode) }
      return tarn_above_standard(made)
    }
    if raw < 0 { throw StorageError(errno: errno, operation: operation, path: path) }
  }

  /// Adopts an open descriptor.
  init(adopting descriptor: Int32) { raw = tarn_above_standard(descriptor) }

  /// Passes the descriptor to the caller, who closes it.
  consuming func release() -> Int32 {
    let descriptor = raw
    discard self
    return descriptor
  }

  deinit { close(raw) }
}

/// Paths, as the system sees them.
package enum FilePaths {
  /// The path without links and dots, so that two names of one file have the same lock file.
  static func resolved(_ path: String) -> String? {
    guard let resolved = unsafe path.withPath({ unsafe realpath($0, nil) }) else { return nil }
    defer { unsafe free(resolved) }
    return unsafe String(path: resolved)
  }

  static func folder(of path: String) -> String {
    guard let slash = path.lastASCII("/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  /// The names in the folder, in no order; empty if it cannot be read.
  package static func names(in folder: String) -> [String] {
    guard let entries = unsafe folder.withPath({ unsafe opendir($0) }) else { return [] }
    defer { unsafe closedir(entries) }
    var names: [String] = []
    while let entry = unsafe readdir(entries) {
      unsafe withUnsafePointer(to: &entry.pointee.d_name) { start in
        unsafe start.withMemoryRebound(to: CChar.self, capacity: 256) {
          names.append(unsafe String(path: $0))
        }
      }
    }
    return names
  }

  /// Makes a created or renamed name in the folder durable.
  static func syncFolder(of path: String, operation: String) throws(StorageError) {
    let folder = try OwnedDescriptor(
      opening: folder(of: path), flags: O_RDONLY | O_DIRECTORY, operation: operation)
    // Some file systems refuse this for folders, and give no such guarantee.
    guard fsync(folder.raw) != 0, errno != EINVAL, errno != ENOTSUP, errno != EROFS else { return }
    throw StorageError(errno: errno, operation: operation, path: path)
  }
}
