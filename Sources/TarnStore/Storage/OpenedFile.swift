internal import CLMDB
internal import CTarn
internal import Glibc

/// What opening a file gives: everything an `Environment` is made of.
struct OpenedFile {
  let path: String
  let lockPath: String
  let kind: FileKind
  /// Why the data is a copy; nil if it is not.
  let copyCause: StorageError?
  let isWritable: Bool
  let data: FileFacts
  /// The file at the path; the data itself unless that is a copy of it.
  let source: FileIdentity
  let lock: FileIdentity
  let pageSize: Int
  let engine: Engine
  /// Ours, of the data.
  let descriptor: Int32
  /// Ours, of the lock file: see `LockFile`.
  let lockDescriptor: Int32
  let created: CreatedFiles
}

/// Who can have the data open.
package enum FileKind: Sendable {
  /// Every process that may.
  case shared
  /// This process alone: a store in memory, and a copy of a file that could not be read in place.
  case inMemory, copied
}

/// A file before it is opened: found or created, looked at, and not yet given to LMDB.
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
  /// Of files without names.
  private let namelessLock: OwnedDescriptor?
  let created: CreatedFiles

  /// Makes a store with that content where there is none; nothing else is written.
  ///
  /// Errors: as `Environment.open`.
  init(
    path given: String, options: EnvironmentOptions, content: Environment.FirstContent?
  ) throws(StorageError) {
    let isDurable = options.durability == .strict
    var isNew = false
    if !options.isReadOnly, FileFacts.at(given) == nil {
      isNew = try NewStore(path: given, isDurable: isDurable, content: content).create()
    }
    guard let path = FilePaths.resolved(given) else {
      throw StorageError(errno: errno, operation: "open", path: given)
    }
    // Opening a pipe could wait forever, so look before.
    guard let facts = FileFacts.at(path), facts.isRegularFile else {
      throw StorageError(
        .notAStore, operation: "open", path: path, detail: "the path is not a regular file")
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
    let created =
      isNew ? CreatedFiles(data: facts.identity, path: path) : CreatedFiles()
    let new = NewStore(path: path, isDurable: isDurable, content: content)
    let header = try created.keptOnlyIf { () throws(StorageError) in
      try Self.header(of: file.raw, orMaking: options.isReadOnly ? nil : new, path)
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

  /// A store in memory, empty.
  init(inMemoryAt location: StoreLocation) throws(StorageError) {
    let path = location.description
    try self.init(
      path, try NamelessFiles.inMemory(for: path), header: nil, kind: .inMemory, copyOf: nil,
      because: nil)
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

  /// Why this process cannot lock where all others do; nil if it can, or if no other
  /// process can open the file.
  func obstacleToLocking(_ options: EnvironmentOptions) -> StorageError? {
    guard kind == .shared else { return nil }
    return CompanionFile.obstacle(besides: path, facts, readerCount: options.readerCount)
  }

  /// The same data as it is at one commit, for this process alone.
  ///
  /// - Parameter cause: why the data itself cannot be read.
  consuming func copied(because cause: StorageError) throws(StorageError) -> FileToOpen {
    let copy = try PrivateCopy.take(of: file.raw, path: path)
    let header = try StoreHeader.read(descriptor: copy.raw, path: path)
    return try FileToOpen(path, copy, header: header, kind: .copied, copyOf: source, because: cause)
  }

  /// - Parameter new: what makes a store in a file that holds none; nil to make nothing.
  private static func header(
    of file: Int32, orMaking new: NewStore?, _ path: String
  ) throws(StorageError) -> StoreHeader {
    var header = try StoreHeader.read(descriptor: file, path: path)
    if header == nil {
      if let new { try new.finish(file) } else { try NewStore.refuseEmptied(file, path) }
      header = try StoreHeader.read(descriptor: file, path: path)
    }
    guard let header else { throw NewStore.missing(path) }
    try check(header, file, path)
    return header
  }

  private static func check(
    _ header: StoreHeader, _ file: Int32, _ path: String
  ) throws(StorageError) {
    // LMDB does not write free pages, so a file may end before its last page. Whether one that is
    // needed is missing, only a walk can tell.
    let now = FileFacts.of(descriptor: file)?.byteCount ?? 0
    guard UInt64(now) < header.byteCount else { return }
    let report = try Environment.verifyPages(descriptor: file, path: path)
    if let problem = report?.problems.first { throw StoreHeader.corrupted(path, problem) }
  }

  /// Gives the file to LMDB.
  ///
  /// - Parameter mapByteCount: the address space to take, if the process may have that much.
  consuming func open(
    _ options: EnvironmentOptions, mapByteCount: Int? = nil
  ) throws(StorageError) -> OpenedFile {
    if kind == .shared { try checkLockIsWritable() }
    let lock = try openLock(options)
    try refuseOtherCopy(lock)
    // LMDB opens by path, and would follow any link that somebody has put there meanwhile: it is
    // led to the very files that were looked at.
    let names = try PassingNames(data: file.raw, lock: lock.raw, for: path)
    let opening = EngineOpening(
      path: path, lockPath: lockPath, mode: facts.mode, isWritable: isWritable, options: options)
    let expected = try opening.occupyStandardDescriptors(file.raw)
    let (handle, taken) = try openLMDB(
      opening, lock, at: names.dataPath, mapByteCount ?? options.mapByteCount)
    var isDone = false
    // Before the locks go, which live as long as `lock`.
    defer { if !isDone { unsafe mdb_env_close(handle.raw) } }
    let lockIdentity = try checkNames(lock)
    let descriptors = try opening.findDescriptors(
      handle, facts.identity, lockIdentity, expected, ours: lock.raw)
    let descriptor = try lockData(lockIdentity)
    defer { if !isDone { tarn_unlock_and_close(descriptor) } }
    try opening.tryReading(handle)
    try lock.holdReaders()
    lock.endOpening()
    opening.closeOnExec(handle)
    var statistics = MDB_stat()
    unsafe mdb_env_stat(handle.raw, &statistics)
    isDone = true
    return OpenedFile(
      path: path, lockPath: lockPath, kind: kind, copyCause: copyCause, isWritable: isWritable,
      data: FileFacts.of(descriptor: descriptor) ?? facts, source: source, lock: lockIdentity,
      pageSize: Int(statistics.ms_psize),
      engine: Engine(handle: handle, descriptors: descriptors, mapByteCount: taken),
      descriptor: descriptor, lockDescriptor: lock.release(), created: created)
  }

  /// Refuses a file that another copy of this library in this process has open: it holds the byte
  /// of this process's id. Another container's process with this id does so, too; what is mapped
  /// here tells which of them it is.
  private borrowing func refuseOtherCopy(_ lock: borrowing LockFile) throws(StorageError) {
    // A forked child has its parent's mappings, which nobody uses there.
    guard lock.isHeldUnderOwnID, tarn_fork_count() == 0 else { return }
    let isMapped: Bool
    do throws(StorageError) {
      isMapped = try !ProcessMaps.shared(of: facts.identity).isEmpty
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

  /// Without its lock file a reader's pages are not safe from writers, and LMDB would go on
  /// without one on a read-only file system.
  private borrowing func checkLockIsWritable() throws(StorageError) {
    let isThere = FileFacts.at(lockPath) != nil
    let asked = isThere ? lockPath : FilePaths.folder(of: path)
    if unsafe access(asked, isThere ? R_OK | W_OK : W_OK) != 0 {
      var error = StorageError(errno: errno, operation: "open", path: path)
      if error.code == .permissionDenied {
        error.detail = "\(asked) cannot be written, but readers must lock there, too"
      }
      throw error
    }
  }

  /// Nobody else of ours opens the store until `endOpening`.
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

  /// Opens until both the table of readers is ours and no slot of it is a dead process's that had
  /// this one's id.
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
        // Once LMDB has the byte of our id no living process has it, and closing frees the slots.
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

  /// Do the paths still lead to the files that were opened? Others would open what lies there now.
  private borrowing func checkNames(
    _ lock: borrowing LockFile
  ) throws(StorageError) -> FileIdentity {
    let identity = try lock.identity()
    let isInPlace =
      FileFacts.at(lockPath)?.identity == identity
      && FileFacts.at(path)?.identity == facts.identity
    guard kind != .shared || isInPlace else {
      throw StorageError(
        .replaced, operation: "open", path: path, detail: "the file was replaced just now")
    }
    return identity
  }

  /// Where processes with this lock file lock the data.
  private static func dataByte(_ lock: FileIdentity) -> Int64 {
    var hash = (lock.inode ^ (lock.device << 32)) &* 0x9E37_79B9_7F4A_7C15
    hash ^= hash >> 29
    return DataLocks.shared + 1 + Int64(hash & ((1 << 60) - 1))
  }

  /// Step 4 of `Environment`: everyone with this lock file locks the same byte, far beyond the
  /// data; a lock on any other byte there is somebody with another lock file.
  private borrowing func lockData(_ lock: FileIdentity) throws(StorageError) -> Int32 {
    let copy = fcntl(file.raw, F_DUPFD_CLOEXEC, 3)
    guard copy >= 0 else { throw StorageError(errno: errno, operation: "open", path: path) }
    let start = DataLocks.shared
    let offset = Self.dataByte(lock)
    var result = tarn_close_in_child(copy)
    if result == 0 { result = tarn_lock_shared(copy, offset, 1) }
    let others =
      result != 0
      ? 0
      : tarn_is_locked_elsewhere(copy, start, offset - start)
        | tarn_is_locked_elsewhere(copy, offset + 1, 0)
    if result == 0 && others == 0 { return copy }
    tarn_unlock_and_close(copy)
    if result != 0 { throw StorageError(errno: result, operation: "open", path: path) }
    throw StorageError(
      .identity, operation: "open", path: path,
      detail: "another process has the file open with a lock file other than \(lockPath);"
        + " use one path for it everywhere, and never delete its lock file")
  }
}
