internal import CTarn
internal import Glibc

/// Which file it is, whatever its name: what makes two paths the same store, and one path two.
package struct FileIdentity: Hashable, Sendable {
  package let device: UInt64
  package let inode: UInt64
  package init(device: UInt64, inode: UInt64) {
    self.device = device
    self.inode = inode
  }
}

/// What `stat` says about a file, as far as we use it.
package struct FileFacts: Sendable {
  package let identity: FileIdentity
  package let byteCount: Int64
  /// Permission bits only.
  package let mode: UInt32
  package let owner: UInt32
  package let group: UInt32
  package let isRegularFile: Bool
  /// Names that lead to the file; 0 once it was deleted.
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

  /// The file that the path leads to now, or nil if there is none that we may see.
  package static func at(_ path: String) -> FileFacts? {
    var facts = stat()
    return unsafe stat(path, &facts) == 0 ? FileFacts(facts) : nil
  }

  package static func of(descriptor: Int32) -> FileFacts? {
    var facts = stat()
    return unsafe fstat(descriptor, &facts) == 0 ? FileFacts(facts) : nil
  }
}

/// A descriptor that is closed when it goes out of scope; never a standard one. The mode of a file
/// that it creates is the user's to choose (umask).
package struct OwnedDescriptor: ~Copyable {
  package let raw: Int32

  /// Opens with close-on-exec. Errors: as the system call's, mapped.
  package init(
    opening path: String, flags: Int32, mode: UInt32 = 0o666, operation: String
  ) throws(StorageError) {
    raw = tarn_above_standard(unsafe open(path, flags | O_CLOEXEC, mode))
    if raw < 0 { throw StorageError(errno: errno, operation: operation, path: path) }
  }

  /// Takes over a descriptor that is open.
  init(adopting descriptor: Int32) { raw = tarn_above_standard(descriptor) }

  /// The descriptor, which the caller closes.
  consuming func release() -> Int32 {
    let descriptor = raw
    discard self
    return descriptor
  }

  deinit { close(raw) }
}

/// Paths, as the system sees them.
enum FilePaths {
  /// The path without links and dots: two names of one file give one lock file beside it.
  static func resolved(_ path: String) -> String? {
    guard let resolved = unsafe realpath(path, nil) else { return nil }
    defer { unsafe free(resolved) }
    return unsafe String(cString: resolved)
  }

  static func folder(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  /// What the folder contains, in no order; nothing if it cannot be read.
  static func names(in folder: String) -> [String] {
    guard let entries = unsafe opendir(folder) else { return [] }
    defer { unsafe closedir(entries) }
    var names: [String] = []
    while let entry = unsafe readdir(entries) {
      unsafe withUnsafePointer(to: &entry.pointee.d_name) { start in
        unsafe start.withMemoryRebound(to: CChar.self, capacity: 256) {
          names.append(unsafe String(cString: $0))
        }
      }
    }
    return names
  }

  /// Makes a created or renamed name in the folder survive a power loss.
  static func syncFolder(of path: String) throws(StorageError) {
    let folder = try OwnedDescriptor(
      opening: folder(of: path), flags: O_RDONLY | O_DIRECTORY, operation: "create")
    // Some file systems refuse this for folders; those promise nothing that we could ask for.
    _ = fsync(folder.raw)
  }
}
