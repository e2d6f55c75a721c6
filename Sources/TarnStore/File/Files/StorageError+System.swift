internal import Glibc

/// The only code that maps system error numbers to errors for people.
extension StorageError {
  /// The error for a system error number.
  package init(errno number: Int32, operation: String, path: String) {
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
      default: unsafe String(cString: strerror(number))
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
