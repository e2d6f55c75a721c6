internal import CLMDB
internal import CTarn
internal import Glibc

/// The result of opening a file: the parts of an `Environment`.
struct OpenedFile {
  let path: String
  let lockPath: String
  let kind: FileKind
  /// Why the data is a copy; nil if it is not.
  let copyCause: StorageError?
  let isWritable: Bool
  let data: FileFacts
  /// The identity of the file at the path; the data's, unless the data is a copy of it.
  let source: FileIdentity
  let lock: FileIdentity
  let pageSize: Int
  let engine: Engine
  /// The library's own descriptor of the data.
  let descriptor: Int32
  /// The library's own descriptor of the lock file: see `LockFile`.
  let lockDescriptor: Int32
  let created: CreatedFiles
  let copyFinding: FileStamp.Finding
  let use: UseFinding
}

/// The meaning of the mark of a file whose commits are not synced; see `UseMark`.
struct UseFinding {
  var hasMark = false
  var lastUse = LastUse.ended
}

/// How a file whose commits are not synced was used before this process opened it.
package enum LastUse: Sendable {
  /// The last process has synced it. Also of files whose commits are synced.
  case ended
  /// Other processes have it open.
  case continuing
  /// The last process was killed in this run of the system, so its pages are in memory.
  case killed
  /// Pages may be missing. No other process opens the file until that is decided.
  case uncertain
}

/// Which processes can have the data open.
package enum FileKind: Sendable {
  /// Every process with the permissions.
  case shared
  /// Only this process: a store in memory, or a copy of a file that could not be read in place.
  case inMemory, copied
}

/// A file before it is opened: found or created and checked, but not yet passed to LMDB.
struct FileToOpen: ~Copyable {
  let path: String
  let lockPath: String
  let facts: FileFacts
  private let source: FileIdentity
  private let kind: FileKind
  private let copyCause: StorageError?
  private let isWritable: Bool
  private let header: StoreHeader?
  private let file: OwnedDescriptor
  /// The lock file of files without names.
  private let namelessLock: OwnedDescriptor?
  let created: CreatedFiles

  /// Creates a store with that content if none exists and the options allow it; writes nothing
  /// else.
  ///
  /// Errors: those of `Environment.open`.
  /// - Parameter resolved: the path without links and dots, if the caller has just resolved it.
  init(
    path given: String, at resolved: String? = nil, options: EnvironmentOptions,
    content: Environment.FirstContent?
  ) throws(StorageError) {
    let mayCreate = options.createsStore && !options.isReadOnly
    var isNew = false
    if mayCreate, FileFacts.at(given) == nil {
      isNew = try NewStore(path: given, content: content).create()
    }
    guard let path = resolved ?? FilePaths.resolved(given) else {
      throw StorageError(errno: errno, operation: "open", path: given)
    }
    // Checked first, because opening a pipe could block forever.
    let facts = try FileFacts.known(at: path, "open")
    guard facts.isRegularFile else {
      throw StorageError(
        .notAStore, operation: "open", path: path, detail: "the path is not a regular file")
    }
    let file = try Self.open(path, mustWrite: !options.isReadOnly)
    let mayWrite = fcntl(file.raw, F_GETFL) & O_ACCMODE == O_RDWR
    guard try FileFacts.known(of: file.raw, path, "open").identity == facts.identity else {
      throw StorageError(
        .overtaken, operation: "open", path: path, detail: "the file was replaced just now")
    }
    let created =
      isNew ? CreatedFiles(data: facts.identity, path: path) : CreatedFiles()
    let new = NewStore(path: path, content: content)
    let header = try created.keptOnlyIf { () throws(StorageError) in
      try Self.header(of: file.raw, orMaking: mayCreate ? new : nil, path)
    }
    self.path = path
    lockPath = path + "-lock"
    self.facts = facts
    source = facts.identity
    kind = .shared
    copyCause = nil
    isWritable = mayWrite
    self.header = header
    self.created = created
    self.file = file
    namelessLock = nil
  }

  /// Writable if this process may write the data, because fallocate requires it. Asked by opening:
  /// `access` judges by the real user of a set-uid program, who is not the one that opens.
  private static func open(
    _ path: String, mustWrite: Bool
  ) throws(StorageError) -> OwnedDescriptor {
    do throws(StorageError) {
      return try OwnedDescriptor(opening: path, flags: O_RDWR, operation: "open")
    } catch {
      guard !mustWrite, error.code == .permissionDenied else { throw error }
      return try OwnedDescriptor(opening: path, flags: O_RDONLY, operation: "open")
    }
  }

  /// An empty store in memory.
  init(inMemoryAt location: StoreLocation) throws(StorageError) {
    let path = location.description
    try self.init(
      path, try NamelessFiles.inMemory(for: path), header: nil, kind: .inMemory, copyOf: nil,
      because: nil)
  }

  /// A file that no other process can open.
  init(_ path: String, owning file: consuming OwnedDescriptor) throws(StorageError) {
    let header = try StoreHeader.read(descriptor: file.raw, path: path)
    try self.init(path, file, header: header, kind: .inMemory, copyOf: nil, because: nil)
  }

  private init(
    _ path: String, _ file: consuming OwnedDescriptor, header: StoreHeader?, kind: FileKind,
    copyOf source: FileIdentity?, because cause: StorageError?
  ) throws(StorageError) {
    let lock = try NamelessFiles.inMemory(for: path)
    guard let facts = FileFacts.of(descriptor: file.raw) else {
      throw StorageError(errno: errno, operation: "open", path: path)
    }
    self.path = path
    lockPath = path + "-lock"
    self.facts = facts
    self.source = source ?? facts.identity
    self.kind = kind
    copyCause = cause
    isWritable = true
    self.header = header
    self.file = file
    namelessLock = consume lock
    created = CreatedFiles()
  }

  /// Why this process cannot take the locks of the other processes; nil if it can, or if no other
  /// process can open the file.
  func obstacleToLocking(_ options: EnvironmentOptions) -> StorageError? {
    guard kind == .shared else { return nil }
    return CompanionFile.obstacle(besides: path, facts, readerCount: options.readerCount)
  }

  /// The data as of one commit, for this process only.
  ///
  /// - Parameter cause: why the data itself cannot be read.
  consuming func copied(because cause: StorageError) throws(StorageError) -> FileToOpen {
    _ = try checkUse(EnvironmentOptions())
    let copy = try PrivateCopy.take(of: file.raw, path: path)
    let header = try StoreHeader.read(descriptor: copy.raw, path: path)
    return try FileToOpen(path, copy, header: header, kind: .copied, copyOf: source, because: cause)
  }

  /// - Parameter new: creates a store in a file without one; nil to create nothing.
  private static func header(
    of file: Int32, orMaking new: NewStore?, _ path: String
  ) throws(StorageError) -> StoreHeader {
    var header = try StoreHeader.read(descriptor: file, path: path)
    if header == nil {
      if let new { try new.finish(file) } else { try NewStore.refuseEmptied(file, path) }
      header = try StoreHeader.read(descriptor: file, path: path)
    }
    guard let header else { throw StoreHeader.missing(path) }
    try check(header, file, path)
    return header
  }

  private static func check(
    _ header: StoreHeader, _ file: Int32, _ path: String
  ) throws(StorageError) {
    // LMDB does not write free pages, so a file may end before its last page. Only a walk can tell
    // whether a page in use is missing.
    let now = try FileFacts.known(of: file, path, "open").byteCount
    guard UInt64(now) < header.byteCount else { return }
    let report = try Environment.verifyPages(descriptor: file, path: path)
    if let problem = report?.problems.first { throw StoreHeader.corrupted(path, problem) }
  }

  /// Passes the file to LMDB.
  ///
  /// - Parameter mapByteCount: the address space to reserve, if the process can.
  consuming func open(
    _ options: EnvironmentOptions, mapByteCount: Int? = nil
  ) throws(StorageError) -> OpenedFile {
    if kind == .shared { try checkLockIsWritable() }
    let lock = try openLock(options)
    try refuseOtherCopy(lock)
    let use = try checkUse(options)
    // LMDB opens by path and would follow a link placed there meanwhile: these names lead to the
    // very files that were checked.
    let names = try PassingNames(data: file.raw, lock: lock.raw, for: path)
    let opening = EngineOpening(
      path: path, lockPath: lockPath, mode: facts.mode, isWritable: isWritable, options: options)
    try opening.occupyStandardDescriptors()
    let (handle, taken) = try openLMDB(
      opening, lock, at: names.dataPath, mapByteCount ?? options.mapByteCount)
    var isDone = false
    // Before the locks are released, which live as long as `lock`.
    defer { if !isDone { unsafe mdb_env_close(handle.raw) } }
    let lockIdentity = try checkNames(lock)
    let descriptors = try opening.findDescriptors(
      handle, facts.identity, lockIdentity, besides: lockDescriptors(lock))
    let descriptor = try lockData(lockIdentity)
    defer { if !isDone { tarn_unlock_and_close(descriptor) } }
    try opening.tryReading(handle)
    try lock.holdReaders()
    let copyFinding = stamp(options)
    lock.endOpening()
    opening.closeOnExec(handle)
    var statistics = MDB_stat()
    unsafe mdb_env_stat(handle.raw, &statistics)
    isDone = true
    return OpenedFile(
      path: path, lockPath: lockPath, kind: kind, copyCause: copyCause, isWritable: isWritable,
      data: FileFacts.of(descriptor: descriptor) ?? facts, source: source, lock: lockIdentity,
      pageSize: Int(statistics.ms_psize),
      engine: Engine(
        handle: handle, descriptors: descriptors, mapByteCount: taken, options: options),
      descriptor: descriptor, lockDescriptor: lock.release(), created: created,
      copyFinding: copyFinding, use: use)
  }

  /// Refuses a file of which pages may be missing, unless it is to be examined. No other process
  /// opens it meanwhile.
  private borrowing func checkUse(
    _ options: EnvironmentOptions
  ) throws(StorageError) -> UseFinding {
    guard kind == .shared, let header, header.pageSize >= UseMark.pageByteCountMin else {
      return UseFinding()
    }
    let mark = UseMark.read(file.raw)
    let hasUsers = tarn_is_locked_elsewhere(file.raw, DataLocks.shared, 0) != 0
    switch mark.state {
    case .closed: return UseFinding(lastUse: hasUsers ? .continuing : .ended)
    case .inUse:
      if hasUsers || mark.place == .of(file.raw) {
        return UseFinding(
          hasMark: isWritable && !options.isReadOnly, lastUse: hasUsers ? .continuing : .killed)
      }
    case .uncertain:
      guard !hasUsers else {
        throw StorageError(
          .busy, operation: "open", path: path,
          detail: "\(SoleUse.users(of: facts.identity)), to check whether it is damaged")
      }
    }
    guard options.examines else { throw Environment.uncertain(path) }
    let report = try Environment.verifyPages(fromDiskBehind: file.raw, path: path)
    if let problem = report?.problems.first { throw Environment.uncertain(path, problem) }
    let result = UseMark(state: .uncertain, place: mark.place).write(file.raw)
    guard result == 0 else { throw StorageError(errno: result, operation: "open", path: path) }
    return UseFinding(lastUse: .uncertain)
  }

  /// Looks whether another program has copied the file. No other process opens it meanwhile.
  private borrowing func stamp(_ options: EnvironmentOptions) -> FileStamp.Finding {
    guard kind == .shared, let header, header.pageSize >= FileStamp.pageByteCountMin else {
      return FileStamp.Finding()
    }
    return FileStamp.check(file.raw, writes: isWritable && !options.isReadOnly)
  }

  /// Refuses a file that another copy of this library in this process has open: it holds the byte
  /// of this process's id. A process of another container with the same id does so, too; the
  /// mappings of this process show which of them it is.
  private borrowing func refuseOtherCopy(_ lock: borrowing LockFile) throws(StorageError) {
    // A forked child has its parent's mappings, which it does not use.
    guard lock.isHeldUnderOwnID, tarn_fork_count() == 0 else { return }
    let isMapped: Bool
    do throws(StorageError) {
      isMapped = try !ProcessMaps.shared(of: file.raw).isEmpty
    } catch {
      var error = error
      error.path = path
      throw error
    }
    guard isMapped else { return }
    throw StorageError(
      .alreadyOpen, operation: "open", path: path,
      detail: "another copy of this library in the same process has the file open")
  }

  /// Without its lock file a reader's pages are not safe from writers, and LMDB would continue
  /// without one on a read-only file system.
  private borrowing func checkLockIsWritable() throws(StorageError) {
    let isThere = FileFacts.at(lockPath) != nil
    let asked = isThere ? lockPath : FilePaths.folder(of: path)
    let refusal = unsafe asked.withPath {
      unsafe tarn_effective_access($0, isThere ? R_OK | W_OK : W_OK)
    }
    if refusal != 0 {
      var error = StorageError(errno: refusal, operation: "open", path: path)
      if error.code == .permissionDenied {
        error.detail = "\(asked) cannot be written, but readers must lock there, too"
      }
      throw error
    }
  }

  /// No other process of this library opens the store until `endOpening`.
  private borrowing func openLock(_ options: EnvironmentOptions) throws(StorageError) -> LockFile {
    let lock: LockFile
    switch namelessLock {
    case .some(let nameless):
      lock = try LockFile(lockPath, nameless: nameless.raw, readerCount: options.readerCount)
    case nil: lock = try LockFile(lockPath, like: facts, readerCount: options.readerCount)
    }
    try lock.beginOpening(options.deadline)
    let byte = Self.dataByte(try lock.identity())
    try lock.awaitTable(options.deadline) { tarn_is_locked_elsewhere(file.raw, byte, 1) != 0 }
    return lock
  }

  /// The library's own descriptors of the lock file. `lock` has a copy of that of a nameless one,
  /// which is closed when the file is open.
  private borrowing func lockDescriptors(_ lock: borrowing LockFile) -> [Int32] {
    switch namelessLock {
    case .some(let nameless): [lock.raw, nameless.raw]
    case nil: [lock.raw]
    }
  }

  /// Opens repeatedly, until this process's slots are in the reader table and none is left of a
  /// dead process with the same id.
  private borrowing func openLMDB(
    _ opening: EngineOpening, _ lock: borrowing LockFile, at dataPath: String, _ wanted: Int
  ) throws(StorageError) -> (LMDBHandle, mapByteCount: Int) {
    var mayHaveSlots = true
    let smallest = max(1 << 20, Int(header?.byteCount ?? 0))
    while true {
      let (handle, mapByteCount) = try opening.open(
        at: dataPath, mapByteCount: wanted, smallest: smallest)
      var isKept = false
      defer { if !isKept { unsafe mdb_env_close(handle.raw) } }
      if mayHaveSlots, ReaderTable.hasSlots(of: getpid(), handle) {
        // Once LMDB has locked the byte of this id, no living process has it, and closing frees the
        // slots.
        try opening.tryReading(handle)
        mayHaveSlots = false
      } else if try lock.holdTable() {
        isKept = true
        return (handle, mapByteCount)
      } else if opening.options.deadline.remaining == .zero {
        throw lock.lostTable()
      }
    }
  }

  /// Do the paths still lead to the opened files? Others would open the files that are there now.
  private borrowing func checkNames(
    _ lock: borrowing LockFile
  ) throws(StorageError) -> FileIdentity {
    let identity = try lock.identity()
    guard kind == .shared else { return identity }
    guard try FileFacts.leads(lockPath, to: identity, "open"),
      try FileFacts.leads(path, to: facts.identity, "open")
    else {
      throw StorageError(.overtaken, operation: "open", path: path, detail: whatHappened())
    }
    return identity
  }

  private borrowing func whatHappened() -> String {
    switch FileFacts.at(path)?.identity {
    case nil: "the file was deleted or moved just now"
    case facts.identity?: "its lock file was deleted or replaced just now"
    default: "the file was replaced just now"
    }
  }

  /// The byte of the data that processes with this lock file lock.
  private static func dataByte(_ lock: FileIdentity) -> Int64 {
    var hash = (lock.inode ^ (lock.device << 32)) &* 0x9E37_79B9_7F4A_7C15
    hash ^= hash >> 29
    return DataLocks.shared + 1 + Int64(hash & ((1 << 60) - 1))
  }

  /// Step 4 of `Environment`: all processes with this lock file lock the same byte, far beyond the
  /// data; a lock on any other byte there is of a process with another lock file.
  private borrowing func lockData(_ lock: FileIdentity) throws(StorageError) -> Int32 {
    let copy = fcntl(file.raw, F_DUPFD_CLOEXEC, 3)
    guard copy >= 0 else { throw StorageError(errno: errno, operation: "open", path: path) }
    let start = DataLocks.shared
    let offset = Self.dataByte(lock)
    var result = tarn_close_in_child(copy)
    if result == 0 { result = tarn_lock_shared(copy, offset, 1) }
    let isAlone = Deadline(after: DataLocks.passing).wait {
      var others: Int32 = 0
      for (first, count) in [(start, offset - start), (offset + 1, 0)] where result == 0 {
        let found = tarn_is_locked_elsewhere(copy, first, count)
        if found < 0 { result = errno } else { others |= found }
      }
      return result != 0 || others == 0
    }
    if result == 0 && isAlone { return copy }
    tarn_unlock_and_close(copy)
    if result != 0 { throw StorageError(errno: result, operation: "open", path: path) }
    throw StorageError(
      .identity, operation: "open", path: path,
      detail: "another process has the file open with a lock file other than \(lockPath);"
        + " use one path for it everywhere, and never delete its lock file")
  }
}

/// The files that opening a store has created. They are removed if opening fails.
struct CreatedFiles {
  private let data: FileIdentity?
  private let paths: [String]

  /// No files.
  init() { (data, paths) = (nil, []) }

  /// The data file was just created; its missing companions will be created.
  init(data: FileIdentity, path: String) {
    self.data = data
    // The data last: while it exists, no other store uses its companions.
    paths =
      ["-lock", "-signal"].map { path + $0 }.filter { FileFacts.at($0) == nil } + [path]
  }

  /// Removes them if `body` fails.
  func keptOnlyIf<R>(_ body: () throws(StorageError) -> R) throws(StorageError) -> R {
    do throws(StorageError) {
      return try body()
    } catch {
      remove()
      throw error
    }
  }

  /// Removes them, unless another process has opened the store meanwhile.
  func remove() {
    guard let data, let path = paths.last,
      let file = try? OwnedDescriptor(opening: path, flags: O_RDWR, operation: "open"),
      FileFacts.of(descriptor: file.raw)?.identity == data,
      tarn_lock_exclusive(file.raw, DataLocks.making, 1) == 0,
      tarn_is_locked_elsewhere(file.raw, DataLocks.shared, 0) == 0
    else { return }
    for path in paths { unsafe path.withPath { _ = unsafe unlink($0) } }
  }
}
