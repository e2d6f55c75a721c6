internal import CTarn
internal import Glibc

/// While this exists, no process opens a file, and none has it open but this one. Those that open
/// it wait.
struct SoleUse: ~Copyable {
  private let lock: LockFile

  /// For a store that this process has open. It must be closed before this value ends, which drops
  /// LMDB's locks.
  ///
  /// Errors: `.busy` if another process has been opening it until the deadline; `.alreadyOpen` if
  /// one has it open.
  init(
    of environment: Environment, _ deadline: Deadline, operation: String
  ) throws(StorageError) {
    try self.init(
      environment.path, environment.descriptor, readerCount: environment.options.readerCount,
      deadline, operation)
  }

  /// For a store that this process does not have open.
  ///
  /// - Parameters:
  ///   - path: without links.
  ///   - isDamaged: whether it need not be a store.
  init(
    of path: String, isDamaged: Bool = false, _ deadline: Deadline, operation: String
  ) throws(StorageError) {
    let file = try OwnedDescriptor(opening: path, flags: O_RDONLY, operation: operation)
    if !isDamaged, try StoreHeader.read(descriptor: file.raw, path: path) == nil {
      throw StoreHeader.missing(path)
    }
    try self.init(
      path, file.raw, readerCount: EnvironmentOptions().readerCount, deadline, operation)
  }

  /// - Parameter file: a descriptor of the data; locks that it holds do not count.
  private init(
    _ path: String, _ file: Int32, readerCount: Int, _ deadline: Deadline, _ operation: String
  ) throws(StorageError) {
    guard let facts = FileFacts.of(descriptor: file) else {
      throw StorageError(errno: errno, operation: operation, path: path)
    }
    let lock = try LockFile(path + "-lock", like: facts, readerCount: readerCount)
    try lock.beginOpening(deadline)
    guard tarn_is_locked_elsewhere(file, DataLocks.shared, 0) == 0 else {
      throw StorageError(
        .alreadyOpen, operation: operation, path: path,
        detail: Self.users(of: facts.identity) + ", so nothing was changed. End it first")
    }
    self.lock = lock
  }

  /// Removes the lock file, which sole use has made, unless a process has the store open.
  static func removeLock(of path: String) {
    guard let use = try? SoleUse(of: path, Deadline(after: .zero), operation: "copy")
    else { return }
    unsafe (path + "-lock").withPath { _ = unsafe unlink($0) }
    _ = consume use
  }

  /// "process 4711 (notes) has the file open"
  static func users(of file: FileIdentity) -> String {
    let holders = LockHolders.of(file, bytes: DataLocks.shared...Int64.max)
      .filter { $0.processID != getpid() }.map(\.description)
    if holders.isEmpty { return "a process that cannot be seen from here has the file open" }
    return holders.joined(separator: ", ") + (holders.count == 1 ? " has" : " have")
      + " the file open"
  }
}
