internal import CTarn
internal import Glibc

/// The files that this process has open, by device and inode. It enforces LMDB's rule that a
/// process opens a file once.
final class EnvironmentRegistry: Sendable {
  static let shared = EnvironmentRegistry()

  /// Lookups cost the same, however many files are open.
  private struct Open {
    var environments: [FileIdentity: Environment] = [:]
    /// The identities of their lock files.
    var locks: Set<FileIdentity> = []
    /// Bytes of address space reserved for all of them.
    var takenByteCount = 0
    var forkCount = tarn_fork_count()

    mutating func add(_ environment: Environment) {
      environments[environment.dataIdentity] = environment
      locks.insert(environment.lockIdentity)
      takenByteCount += environment.takenByteCount
    }

    mutating func remove(_ environment: Environment) {
      guard environments[environment.dataIdentity] === environment else { return }
      environments[environment.dataIdentity] = nil
      locks.remove(environment.lockIdentity)
      takenByteCount -= environment.takenByteCount
    }

    /// A forked child cannot use its parent's environments. Nothing of them is released: if opening
    /// took longer than a fork waits, they may be half changed.
    mutating func forgetParent() {
      if forkCount == tarn_fork_count() { return }
      _ = unsafe Unmanaged.passRetained(Left(open: self))
      self = Open()
    }
  }

  private final class Left {
    let open: Open
    init(open: consuming Open) { self.open = open }
  }

  private let open = Lock(Open())

  /// Runs `body` while no other thread opens or closes a file, and the process does not fork.
  private func alone<Result: Sendable, Failure: Error>(
    _ body: (inout Open) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try BackgroundThread.holdingForks { () throws(Failure) in
      try open.withLock { open throws(Failure) in
        open.forgetParent()
        return try body(&open)
      }
    }
  }

  /// How often an opener that waited begins again at the file that is at the path by then, as after
  /// a compaction. It follows no link that was put there meanwhile.
  private static let attemptsMax = 10

  func open(
    _ location: StoreLocation, options: EnvironmentOptions, content: Environment.FirstContent?
  ) throws(StorageError) -> Environment {
    var attempts = 1
    var resolved: String?
    while true {
      do throws(StorageError) {
        return try openOnce(
          location, options: options, content: content, resolved: &resolved, isFirst: attempts == 1)
      } catch {
        guard error.code == .overtaken else { throw error }
        guard attempts < Self.attemptsMax, Self.isSame(resolved, Self.resolvedPath(location)) else {
          throw StorageError(
            .replaced, operation: "open", path: error.path, detail: "\(error.detail); try again")
        }
        attempts += 1
      }
    }
  }

  /// Nil is the path of no file: one that is still to be created, or was deleted.
  private static func isSame(_ before: String?, _ now: String?) -> Bool {
    before == nil || now == nil || before == now
  }

  private static func resolvedPath(_ location: StoreLocation) -> String? {
    guard case .file(let path) = location else { return nil }
    return FilePaths.resolved(path)
  }

  /// - Parameter resolved: set by the first attempt to the path to which the location leads.
  private func openOnce(
    _ location: StoreLocation, options: EnvironmentOptions, content: Environment.FirstContent?,
    resolved: inout String?, isFirst: Bool
  ) throws(StorageError) -> Environment {
    try alone { open throws(StorageError) in
      let opened: OpenedFile
      var options = options
      switch location {
      case .memory:
        // The file is made as long as the map.
        options.writesThroughMap = SizeLimit.byteCount == nil
        let target = try FileToOpen(inMemoryAt: location)
        let mapByteCount = Self.mapByteCount(for: target, besides: open.takenByteCount, options)
        opened = try target.open(options, mapByteCount: mapByteCount)
      case .file(let path):
        let name = FilePaths.resolved(path)
        if isFirst { resolved = name }
        let target = try FileToOpen(path: path, at: name, options: options, content: content)
        if let existing = open.environments[target.facts.identity] {
          try check(existing, target, options)
          existing.state.withLock { $0.openings += 1 }
          return existing
        }
        let created = target.created
        let mapByteCount = Self.mapByteCount(for: target, besides: open.takenByteCount, options)
        do throws(StorageError) {
          try checkLock(of: target, open.locks)
          opened =
            options.isReadOnly
            ? try openToRead(target, path, options, mapByteCount)
            : try target.open(options, mapByteCount: mapByteCount)
        } catch {
          created.remove()
          throw error
        }
      }
      let environment = Environment(opened: opened, options: options)
      if let content, case .memory = location {
        do throws(StorageError) {
          try environment.write(content)
        } catch {
          environment.shutDown()
          throw error
        }
      }
      open.add(environment)
      return environment
    }
  }

  /// The address space to reserve for one more store. A terabyte each would leave none after some
  /// 120 stores, nor for threads and memory; so the first stores of a process get that, and further
  /// ones room for their file and some growth, and more when they need it.
  private static func mapByteCount(
    for target: borrowing FileToOpen, besides taken: Int, _ options: EnvironmentOptions
  ) -> Int {
    guard taken >= options.budget.byteCount else { return options.mapByteCount }
    let wanted = max(options.budget.smallMapByteCount, 4 * Int(target.facts.byteCount))
    // Whole pages, whatever the system's page size.
    return min(options.mapByteCount, (wanted + 65535) & ~65535)
  }

  /// Runs `body` while no file is opened or closed in this process.
  ///
  /// - Parameter body: returns the bytes of address space that it has reserved.
  func whileNothingOpens(_ body: () throws(StorageError) -> Int) throws(StorageError) {
    try alone { open throws(StorageError) in open.takenByteCount += try body() }
  }

  /// Opens a copy if the data itself cannot be read safely.
  private func openToRead(
    _ target: consuming FileToOpen, _ path: String, _ options: EnvironmentOptions,
    _ mapByteCount: Int
  ) throws(StorageError) -> OpenedFile {
    if let obstacle = target.obstacleToLocking(options) {
      return try target.copied(because: obstacle).open(options, mapByteCount: mapByteCount)
    }
    do throws(StorageError) {
      return try target.open(options, mapByteCount: mapByteCount)
    } catch {
      guard error.code == .readersFull else { throw error }
      let again = try FileToOpen(path: path, options: options, content: nil)
      return try again.copied(because: error).open(options, mapByteCount: mapByteCount)
    }
  }

  private func checkLock(
    of target: borrowing FileToOpen, _ others: Set<FileIdentity>
  ) throws(StorageError) {
    guard let lock = FileFacts.at(target.lockPath)?.identity, others.contains(lock) else { return }
    throw StorageError(
      .replaced, operation: "open", path: target.path,
      detail: "the file was replaced while this process has the one before it open")
  }

  private func check(
    _ existing: Environment, _ target: borrowing FileToOpen, _ options: EnvironmentOptions
  ) throws(StorageError) {
    func refuse(_ code: StorageError.Code, _ detail: String) -> StorageError {
      StorageError(code, operation: "open", path: target.path, detail: detail)
    }
    if existing.lockPath != target.lockPath {
      throw refuse(.identity, "the process has the file open under the name \(existing.path)")
    }
    if !options.isReadOnly && !existing.isWritable {
      throw refuse(.permissionDenied, "the process cannot write the file")
    }
    existing.raiseDurability(to: options.durability)
  }

  /// Removes the marks of files whose commits are not synced, at the exit of the process. They stay
  /// if another thread is opening or closing a file.
  func endUseAtExit() {
    _ = open.withLockIfFree { open in
      open.forgetParent()
      for environment in open.environments.values { environment.endUseAtExit() }
    }
  }

  func close(_ environment: Environment) {
    let isUnused = environment.state.withLock { state in
      require(state.openings > 0, "close() was called more often than open()")
      state.openings -= 1
      return state.openings == 0
    }
    if isUnused { closeIfUnused(environment) }
  }

  /// Checks again under the lock: another thread may have opened it again.
  func closeIfUnused(_ environment: Environment) {
    alone { open in
      let isUnused = environment.state.withLock {
        $0.openings == 0 && $0.live == 0 && !$0.isClosed
      }
      // LMDB would close numbers that are the program's files by now. The next opener of the store
      // gets this environment again.
      guard isUnused, (try? environment.checkDescriptors("close")) != nil else { return }
      open.remove(environment)
      environment.shutDown()
    }
  }
}
