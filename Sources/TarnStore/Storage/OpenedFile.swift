internal import CLMDB
internal import CTarn
internal import Glibc

/// What opening a file gives: everything an `Environment` is made of.
struct OpenedFile {
  let path: String
  let lockPath: String
  let kind: FileKind
  let isWritable: Bool
  let data: FileFacts
  /// The file at the path; the data itself unless that is a copy of it.
  let source: FileIdentity
  let lock: FileIdentity
  let mapByteCount: Int
  let mapStart: UInt
  let pageSize: Int
  let handle: LMDBHandle
  let engineDescriptors: EngineDescriptors
  let descriptor: Int32
}

/// Who can have the data open.
package enum FileKind: Sendable {
  /// Every process that may.
  case shared
  /// This process alone: a store in memory, and a copy of what could not be locked.
  case inMemory, copied
}

/// A file before it is opened: found or created, looked at, and not yet given to LMDB.
struct FileToOpen: ~Copyable {
  let path: String
  /// Where LMDB finds the data, and its lock.
  private let dataPath: String
  let lockPath: String
  let facts: FileFacts
  private let source: FileIdentity
  private let kind: FileKind
  private let isWritable: Bool
  private let header: StoreHeader?
  private let file: OwnedDescriptor
  /// Of files without names of their own; gone when LMDB has opened them.
  private let names: PassingNames?
  private let namelessLock: OwnedDescriptor?

  /// Errors: as `Environment.open`. Writes nothing, except an empty file where there is none.
  init(path given: String, options: EnvironmentOptions) throws(StorageError) {
    if !options.isReadOnly && FileFacts.at(given) == nil {
      _ = try OwnedDescriptor(opening: given, flags: O_RDWR | O_CREAT, operation: "open")
    }
    guard let path = FilePaths.resolved(given) else {
      throw StorageError(errno: errno, operation: "open", path: given)
    }
    // Opening a pipe could wait forever, so look before.
    guard let facts = FileFacts.at(path), facts.isRegularFile else {
      throw StorageError(
        .notAStore, operation: "open", path: path, detail: "the path leads to something else")
    }
    let mayWrite = unsafe access(path, W_OK) == 0
    if !mayWrite && !options.isReadOnly {
      throw StorageError(errno: errno, operation: "open", path: path)
    }
    // Writable, because fallocate asks for it.
    let file = try OwnedDescriptor(
      opening: path, flags: mayWrite ? O_RDWR : O_RDONLY, operation: "open")
    guard FileFacts.of(descriptor: file.raw)?.identity == facts.identity else {
      throw StorageError(
        .replaced, operation: "open", path: path, detail: "the file was replaced just now")
    }
    let header = try StoreHeader.read(descriptor: file.raw, path: path)
    try Self.check(header, file.raw, facts, path, options)
    self.path = path
    dataPath = path
    lockPath = path + "-lock"
    self.facts = facts
    source = facts.identity
    kind = .shared
    isWritable = mayWrite
    self.header = header
    self.file = file
    names = nil
    namelessLock = nil
  }

  /// A store in memory, empty.
  init(inMemoryAt location: StoreLocation) throws(StorageError) {
    let path = location.description
    try self.init(
      path, try NamelessFiles.inMemory(for: path), header: nil, kind: .inMemory, copyOf: nil)
  }

  private init(
    _ path: String, _ file: consuming OwnedDescriptor, header: StoreHeader?, kind: FileKind,
    copyOf source: FileIdentity?
  ) throws(StorageError) {
    let lock = try NamelessFiles.inMemory(for: path)
    let names = try PassingNames(data: file.raw, lock: lock.raw, for: path)
    guard let facts = FileFacts.of(descriptor: file.raw) else {
      throw StorageError(errno: errno, operation: "open", path: path)
    }
    self.path = path
    let dataPath = names.dataPath
    self.dataPath = dataPath
    lockPath = dataPath + "-lock"
    self.facts = facts
    self.source = source ?? facts.identity
    self.kind = kind
    isWritable = true
    self.header = header
    self.file = file
    self.names = consume names
    namelessLock = consume lock
  }

  /// True if this process may lock where all others do, or has nobody to lock out.
  var mayLock: Bool { kind != .shared || CompanionFile.mayBeUsed(besides: path, facts) }

  /// The same data as it is at one commit, for this process alone.
  consuming func copied() throws(StorageError) -> FileToOpen {
    let copy = try PrivateCopy.take(of: file.raw, path: path)
    let header = try StoreHeader.read(descriptor: copy.raw, path: path)
    return try FileToOpen(path, copy, header: header, kind: .copied, copyOf: source)
  }

  private static func check(
    _ header: StoreHeader?, _ file: Int32, _ facts: FileFacts, _ path: String,
    _ options: EnvironmentOptions
  ) throws(StorageError) {
    guard let header else {
      if options.isReadOnly {
        throw StorageError(
          .notAStore, operation: "open", path: path, detail: "the file is empty")
      }
      return
    }
    // LMDB does not write free pages, so a file may end before its last page. Whether one that is
    // needed is missing, only a walk can tell.
    let now = FileFacts.of(descriptor: file)?.byteCount ?? facts.byteCount
    guard UInt64(now) < header.byteCount else { return }
    let report = try Environment.verifyPages(descriptor: file, path: path)
    if let problem = report?.problems.first { throw StoreHeader.corrupted(path, problem) }
  }

  /// Gives the file to LMDB.
  consuming func open(_ options: EnvironmentOptions) throws(StorageError) -> OpenedFile {
    if kind == .shared { try checkLockIsWritable() }
    // A forked child has its parent's mappings, which nobody uses there.
    let inherited = try maps()
    guard inherited.isEmpty || tarn_fork_count() > 0 else {
      throw StorageError(
        .alreadyOpen, operation: "open", path: path,
        detail: "another copy of this library in the same process has the file open")
    }
    try allocateLock(options)
    let expected = try occupyStandardDescriptors()
    let (handle, mapByteCount) = try openLMDB(options)
    var isDone = false
    defer { if !isDone { unsafe mdb_env_close(handle.raw) } }
    let lock = try checkNames()
    let engineDescriptors = try findDescriptors(handle, lock, expected)
    if header == nil, kind == .shared { try FilePaths.syncFolder(of: path) }
    let descriptor = try lockData(lock)
    defer {
      if !isDone {
        tarn_forget_in_child(descriptor)
        close(descriptor)
      }
    }
    try tryReading(handle)
    closeOnExec(handle)
    let map = try maps().first { $0.fileOffset == 0 && !inherited.contains($0) }
    guard let map else {
      throw StorageError(
        .inputOutput, operation: "open", path: path,
        detail: "/proc/self/maps does not show what was mapped just now; is /proc mounted?")
    }
    var statistics = MDB_stat()
    unsafe mdb_env_stat(handle.raw, &statistics)
    isDone = true
    return OpenedFile(
      path: path, lockPath: lockPath, kind: kind, isWritable: isWritable,
      data: FileFacts.of(descriptor: descriptor) ?? facts, source: source, lock: lock,
      mapByteCount: mapByteCount, mapStart: map.start, pageSize: Int(statistics.ms_psize),
      handle: handle, engineDescriptors: engineDescriptors, descriptor: descriptor)
  }

  /// LMDB opens files itself: no number that it gets may be a standard one. Gives the numbers that
  /// it is expected to get.
  private borrowing func occupyStandardDescriptors() throws(StorageError) -> [Int32] {
    let result = tarn_occupy_standard()
    guard result == 0 else {
      var error = StorageError(errno: result, operation: "open", path: path)
      error.detail = "a standard descriptor is closed, and /dev/null cannot be opened in its place"
      throw error
    }
    return EngineDescriptors.expected(copying: file.raw)
  }

  private borrowing func findDescriptors(
    _ handle: LMDBHandle, _ lock: FileIdentity, _ expected: [Int32]
  ) throws(StorageError) -> EngineDescriptors {
    let found = EngineDescriptors.find(
      handle, facts.identity, lock, isWritable: isWritable, expected: expected)
    guard let found else {
      throw StorageError(
        .inputOutput, operation: "open", path: path,
        detail: "the descriptors that were opened just now are not there any more; does another "
          + "thread close descriptors that it did not open?")
    }
    return found
  }

  private borrowing func maps() throws(StorageError) -> [ProcessMaps.Mapping] {
    do throws(StorageError) {
      return try ProcessMaps.shared(of: facts.identity)
    } catch {
      var error = error
      error.path = path
      throw error
    }
  }

  /// Without its lock file a reader's pages are not safe from writers, and LMDB would go on
  /// without one on a read-only file system.
  private borrowing func checkLockIsWritable() throws(StorageError) {
    let isThere = FileFacts.at(lockPath) != nil
    let asked = isThere ? lockPath : FilePaths.folder(of: path)
    if unsafe access(asked, isThere ? R_OK | W_OK : W_OK) != 0 {
      var error = StorageError(errno: errno, operation: "open", path: path)
      if error.code == .permissionDenied {
        error.detail = "\(asked) may not be written, and readers must lock there too"
      }
      throw error
    }
  }

  /// LMDB makes its lock file with holes and maps it: on a full disk the first reader to come to a
  /// hole would be ended by SIGBUS. Here that is an error. Closing the file again drops no lock of
  /// LMDB's, because this process does not have it open yet.
  private borrowing func allocateLock(_ options: EnvironmentOptions) throws(StorageError) {
    // LMDB's own sum: a header of three lines of cache, a line for each reader but one.
    let byteCount = Int64(options.readerCount - 1) * 64 + 192
    let result: Int32
    switch namelessLock {
    case .some(let lock): result = tarn_allocate(lock.raw, byteCount)
    case nil:
      let lock = try CompanionFile.open(lockPath, like: facts)
      result = tarn_allocate(lock.raw, byteCount)
    }
    if result != 0 { throw StorageError(errno: result, operation: "open", path: lockPath) }
  }

  /// A first header that did not fit on the disk would be taken for a damaged one later.
  private borrowing func dropHalfHeader() {
    guard header == nil, let now = FileFacts.of(descriptor: file.raw) else { return }
    if now.byteCount > 0, now.byteCount < 8192 { _ = ftruncate(file.raw, 0) }
  }

  /// LMDB: `mdb_env_open`. Retries when a first opener was killed half way, or is at it now; asks
  /// for less address space where the process may not have that much.
  private borrowing func openLMDB(
    _ options: EnvironmentOptions
  ) throws(StorageError) -> (LMDBHandle, Int) {
    let smallest = max(1 << 20, Int(header?.byteCount ?? 0))
    var mapByteCount = max(options.mapByteCount, smallest)
    var attempts = 0
    while true {
      let (result, handle) = openOnce(options, mapByteCount)
      if let handle { return (handle, mapByteCount) }
      switch result {
      case ENOMEM where mapByteCount / 2 >= smallest:
        mapByteCount /= 2
      case EINVAL where attempts < 20, MDB_INVALID where attempts < 20,
        EAGAIN where attempts < 20:
        attempts += 1
        usleep(UInt32(500 * attempts))
      default:
        dropHalfHeader()
        throw StorageError(lmdb: result, operation: "open", path: path)
      }
    }
  }

  private borrowing func openOnce(
    _ options: EnvironmentOptions, _ mapByteCount: Int
  ) -> (Int32, LMDBHandle?) {
    var created: OpaquePointer?
    var result = unsafe mdb_env_create(&created)
    guard result == 0, let raw = unsafe created else { return (result, nil) }
    unsafe mdb_env_set_mapsize(raw, mapByteCount)
    unsafe mdb_env_set_maxreaders(raw, UInt32(options.readerCount))
    var flags = UInt32(MDB_NOSUBDIR | MDB_NOTLS)
    if options.durability == .none { flags |= UInt32(MDB_NOSYNC) }
    if !isWritable { flags |= UInt32(MDB_RDONLY) }
    result = unsafe mdb_env_open(raw, dataPath, flags, facts.mode)
    if result == 0 { return unsafe (0, LMDBHandle(raw: raw)) }
    // "If this function fails, mdb_env_close() must be called to discard the handle."
    unsafe mdb_env_close(raw)
    return (result, nil)
  }

  /// LMDB has opened what lies at the paths by now: is that what was looked at?
  private borrowing func checkNames() throws(StorageError) -> FileIdentity {
    guard let lock = FileFacts.at(lockPath), FileFacts.at(dataPath)?.identity == facts.identity
    else {
      throw StorageError(
        .replaced, operation: "open", path: path, detail: "the file was replaced just now")
    }
    return lock.identity
  }

  /// Step 4 of `Environment`: everyone with this lock file locks the same byte, far beyond the
  /// data; a lock on any other byte there is somebody with another lock file.
  private borrowing func lockData(_ lock: FileIdentity) throws(StorageError) -> Int32 {
    let copy = fcntl(file.raw, F_DUPFD_CLOEXEC, 3)
    guard copy >= 0 else { throw StorageError(errno: errno, operation: "open", path: path) }
    let start: Int64 = 1 << 62
    var hash = (lock.inode ^ (lock.device << 32)) &* 0x9E37_79B9_7F4A_7C15
    hash ^= hash >> 29
    let offset = start + 1 + Int64(hash & ((1 << 60) - 1))
    var result = tarn_close_in_child(copy)
    if result == 0 { result = tarn_lock_shared(copy, offset, 1) }
    let others =
      result != 0
      ? 0
      : tarn_is_locked_elsewhere(copy, start, offset - start)
        | tarn_is_locked_elsewhere(copy, offset + 1, 0)
    if result == 0 && others == 0 { return copy }
    tarn_forget_in_child(copy)
    close(copy)
    if result != 0 { throw StorageError(errno: result, operation: "open", path: path) }
    throw StorageError(
      .identity, operation: "open", path: path,
      detail: "another process has the file open with another lock file than \(lockPath);"
        + " use one path for it everywhere, and never delete its lock file")
  }

  /// The first read transaction gives the tree its order for good (the only shared state that a
  /// read would write), and shows whether this process can have a slot in the table of readers.
  private borrowing func tryReading(_ handle: LMDBHandle) throws(StorageError) {
    var transaction: OpaquePointer?
    var result = unsafe mdb_txn_begin(handle.raw, nil, UInt32(MDB_RDONLY), &transaction)
    if result == EAGAIN || result == EACCES {
      throw StorageError(
        .identity, operation: "open", path: path,
        detail: "a process with the same id, in another container, has the file open;"
          + " let the containers share their process ids")
    }
    guard result == 0 else { throw StorageError(lmdb: result, operation: "open", path: path) }
    defer { unsafe mdb_txn_abort(transaction) }
    var tree: MDB_dbi = 0
    result = unsafe mdb_dbi_open(transaction, nil, 0, &tree)
    guard result == 0 else { throw StorageError(lmdb: result, operation: "open", path: path) }
    require(tree == Environment.mainTree, "bug in this package: the main tree moved")
  }

  /// A program that this process starts must not keep the files open. LMDB 0.9 sees to that for
  /// its other two descriptors. LMDB: `mdb_env_get_fd`.
  private borrowing func closeOnExec(_ handle: LMDBHandle) {
    var raw: Int32 = -1
    unsafe mdb_env_get_fd(handle.raw, &raw)
    if raw >= 0 { _ = fcntl(raw, F_SETFD, fcntl(raw, F_GETFD) | FD_CLOEXEC) }
  }
}
