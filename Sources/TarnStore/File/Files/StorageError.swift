internal import Glibc

/// An error below the public API, with the operation and the file. Bytes from a disk are never
/// trusted: violations are reported as `.corrupted`.
package struct StorageError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The kind of failure. A struct, not an enum, so that switches elsewhere need a default.
  package struct Code: RawRepresentable, Hashable, Sendable {
    package let rawValue: Int
    package init(rawValue: Int) { self.rawValue = rawValue }

    /// The file is not a store.
    package static let notAStore = Code(rawValue: 1)
    /// The file is a store whose bytes contradict each other.
    package static let corrupted = Code(rawValue: 2)
    /// The file needs a newer version of this library.
    package static let newerFormat = Code(rawValue: 3)
    package static let permissionDenied = Code(rawValue: 4)
    package static let notFound = Code(rawValue: 5)
    package static let diskFull = Code(rawValue: 6)
    /// The process lacks the address space that the file needs.
    package static let addressSpace = Code(rawValue: 7)
    package static let readersFull = Code(rawValue: 8)
    /// The file at the path is not the one that this process opened.
    package static let replaced = Code(rawValue: 9)
    /// The lock file of the data belongs to another data file, or the reverse.
    package static let identity = Code(rawValue: 10)
    /// The store was opened before this process was forked from its parent.
    package static let forked = Code(rawValue: 11)
    package static let inputOutput = Code(rawValue: 12)
    /// A commit failed in a way that leaves open whether it is on disk.
    package static let outcomeUnknown = Code(rawValue: 13)
    /// An earlier failure closed this store for writing; it must be opened again.
    package static let failed = Code(rawValue: 14)
    /// Another writer committed although this one held the write lock; nothing was written.
    package static let conflict = Code(rawValue: 15)
    package static let schemaMismatch = Code(rawValue: 16)
    package static let invalidInput = Code(rawValue: 17)
    package static let alreadyOpen = Code(rawValue: 18)
    package static let limitExceeded = Code(rawValue: 19)
    /// Another writer held the write lock for longer than the caller would wait.
    package static let busy = Code(rawValue: 20)
    /// Two objects have a combination of values that must be unique.
    package static let notUnique = Code(rawValue: 21)
    /// A program with a higher schema version has used the file.
    package static let olderProgram = Code(rawValue: 22)
    /// No subscription of a replica has objects of the class.
    package static let noSubscription = Code(rawValue: 23)
    /// There is a file where one was to be made; it is unchanged.
    package static let fileExists = Code(rawValue: 24)
    /// Another file took the place of the one that was being opened; opening begins again.
    static let overtaken = Code(rawValue: 25)
    /// The commit is in the file, but this process cannot read the version that it made.
    package static let committed = Code(rawValue: 26)
    /// The system or the mount ended while commits of the file were not on the disk.
    package static let uncertain = Code(rawValue: 27)
  }

  package var code: Code
  /// The operation, in a few words: "open", "commit", "read cluster".
  package var operation: String
  package var path: String
  /// A sentence for people: the error and, if there is one, its remedy.
  package var detail: String

  package init(_ code: Code, operation: String, path: String, detail: String) {
    self.code = code
    self.operation = operation
    self.path = path
    self.detail = detail
  }

  package var description: String {
    path.isEmpty ? "\(operation): \(detail)" : "\(operation) \(path): \(detail)"
  }
}

/// Limits set by the system's administrator, for messages about exhausted resources.
enum SystemLimit {
  /// - Parameter name: the path below /proc/sys, such as "fs/inotify/max_user_watches".
  /// - Returns: digits, or "unknown" if the system does not show it.
  static func value(of name: String) -> String {
    let digits = text(of: name).prefix { (0x30...0x39).contains($0) }
    return digits.isEmpty ? "unknown" : String(decoding: digits, as: UTF8.self)
  }

  /// The first 64 bytes; empty if the system does not show it.
  static func text(of name: String) -> [UInt8] {
    guard
      let file = try? OwnedDescriptor(
        opening: "/proc/sys/" + name, flags: O_RDONLY, operation: "read")
    else { return [] }
    var text = [UInt8](repeating: 0, count: 64)
    let count = unsafe text.withUnsafeMutableBytes {
      unsafe read(file.raw, $0.baseAddress, $0.count)
    }
    return Array(text.prefix(max(0, count)))
  }
}

/// The only code that maps system error numbers to errors for people.
extension StorageError {
  /// The error for a system error number.
  ///
  /// - Parameter call: the system call, where its operation does not tell.
  package init(errno number: Int32, operation: String, path: String, call: String? = nil) {
    let code: Code
    switch number {
    case ENOSPC, EDQUOT: code = .diskFull
    case EACCES, EPERM, EROFS: code = .permissionDenied
    case ENOENT: code = .notFound
    case ENOMEM: code = .addressSpace
    case EMFILE, ENFILE, EFBIG: code = .limitExceeded
    default: code = .inputOutput
    }
    let detail =
      switch number {
      case ENOMEM: Self.addressSpaceDetail
      case EMFILE:
        "the process has no file descriptor left: raise its limit (ulimit -n), which is "
          + "\(Self.limit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue))), or close files"
      case ENFILE:
        "the system has no file descriptor left: raise its limit (sysctl fs.file-max), which is "
          + SystemLimit.value(of: "fs/file-max")
      case EFBIG where SizeLimit.byteCount != nil:
        "the file would be longer than this process may write files: raise its limit (ulimit -f, "
          + "RLIMIT_FSIZE), which is \(Self.limit(SizeLimit.resource)) bytes"
      default: unsafe (call.map { $0 + ": " } ?? "") + String(cString: strerror(number))
      }
    self.init(code, operation: operation, path: path, detail: detail)
  }

  /// A thread of the library could not be started.
  init(noThreadFor operation: String, path: String) {
    self.init(
      .limitExceeded, operation: operation, path: path,
      detail: "the process cannot start another thread: the limit is, for its user, "
        + "\(Self.limit(__rlimit_resource_t(__RLIMIT_NPROC.rawValue))) (ulimit -u), for the system "
        + "\(SystemLimit.value(of: "kernel/threads-max")) (sysctl kernel.threads-max), and "
        + "for a container its pids limit; raise the limit that is reached, or end threads")
  }

  private static var addressSpaceDetail: String {
    let limit = limit(__rlimit_resource_t(RLIMIT_AS.rawValue))
    if limit != "unlimited" {
      return "the file needs more address space than the process may use; raise the limit "
        + "(ulimit -v), which is \(limit) bytes"
    }
    return "the process has no address space left for the file: its open stores and other mappings "
      + "use all of it, or their number exceeds the system's limit (sysctl "
      + "vm.max_map_count), which is \(SystemLimit.value(of: "vm/max_map_count")); close stores"
  }

  /// The process's limit for a resource, as text for people.
  static func limit(_ resource: __rlimit_resource_t) -> String {
    var limits = rlimit()
    guard unsafe getrlimit(resource, &limits) == 0 else { return "unknown" }
    return limits.rlim_cur == rlim_t.max ? "unlimited" : "\(limits.rlim_cur)"
  }
}
