internal import CTarn
internal import Glibc

/// The files next to the data, `-lock` and `-signal`. The users of the data can use them.
///
/// Another user may have put such a file there: the owner of the folder renames root's file to
/// `x.realm-lock`, or a stranger plants one in a folder that everyone can write. So an existing
/// file is checked before use, through the descriptor that is then used, and is refused with an
/// error that names it if it is unsuitable. Until then its bytes are not changed. Its owner and
/// permissions are never changed: only a file that this process has just created is given
/// permissions.
enum CompanionFile {
  /// Opens the file for reading and writing, or creates one of zeros. All its bytes are allocated.
  ///
  /// Errors: `.identity` if the existing file must not be used, `.corrupted` if it was overwritten
  /// while others use it, `.permissionDenied`, `.diskFull`.
  static func open(
    _ kind: CompanionKind, at path: String, like data: FileFacts
  ) throws(StorageError) -> OwnedDescriptor {
    // Again if the file is removed between the two steps.
    for attempt in 0..<100 {
      if let file = try openExisting(kind, path, data, attempt) { return file }
      guard try create(kind, at: path, like: data) else {
        throw StorageError(
          .permissionDenied, operation: "open", path: path,
          detail: "it does not exist, and one made by this user could not be used by the owner of "
            + "the data: let the owner open the store first")
      }
    }
    throw StorageError(
      .inputOutput, operation: "open", path: path, detail: "another process keeps removing it")
  }

  /// Why this process can neither use both files nor create them so that the data's owner can use
  /// them: missing permission, or a full disk. Nil if it can, and also if one must not be used,
  /// which opening then reports.
  static func obstacle(
    besides path: String, _ data: FileFacts, readerCount: Int
  ) -> StorageError? {
    let kinds: [CompanionKind] = [.lock(readerCount: readerCount), .signal]
    for kind in kinds {
      let companion = path + kind.ending
      // LMDB may have it open in this process, and closing it here would drop LMDB's locks.
      if let facts = FileFacts.at(companion), facts.byteCount > 0 {
        let refusal = unsafe companion.withPath { unsafe tarn_effective_access($0, R_OK | W_OK) }
        if refusal != 0 { return notWritable(refusal, path) }
        continue
      }
      do throws(StorageError) {
        _ = try open(kind, at: companion, like: data)
      } catch {
        switch error.code {
        case .permissionDenied: return notWritable(EACCES, path)
        case .diskFull: return error
        default: continue
        }
      }
    }
    return nil
  }

  private static func notWritable(_ result: Int32, _ path: String) -> StorageError {
    StorageError(
      .permissionDenied, operation: "open", path: path,
      detail: result == EROFS
        ? "its lock and signal files are on a read-only file system"
        : "this user cannot write its lock and signal files")
  }

  // MARK: - Existing files

  /// Nil if the file does not exist.
  private static func openExisting(
    _ kind: CompanionKind, _ path: String, _ data: FileFacts, _ attempt: Int
  ) throws(StorageError) -> OwnedDescriptor? {
    let reference = unsafe path.withPath { unsafe tarn_file_reference($0) }
    if reference < 0 {
      if errno == ENOENT { return nil }
      throw StorageError(errno: errno, operation: "open", path: path)
    }
    let name = OwnedDescriptor(adopting: reference)
    guard let facts = FileFacts.of(descriptor: name.raw) else {
      throw StorageError(errno: errno, operation: "open", path: path)
    }
    if facts.linkCount == 0 { return nil }
    // If a file cannot be renamed safely, it briefly has two names while it is created.
    if facts.isRegularFile, facts.linkCount == 2, attempt < 20 {
      usleep(1000)
      return try openExisting(kind, path, data, attempt + 1)
    }
    if let objection = try objection(to: facts, path, data) { throw refusal(path, objection) }
    let file = try reopen(name.raw, path)
    let content = try content(of: file.raw, kind, facts.byteCount, path)
    if content == .foreign {
      // A lock on it means that other processes use it and have found it valid.
      if tarn_is_locked_elsewhere(file.raw, 0, 0) > 0 {
        throw StorageError(
          .corrupted, operation: "open", path: path,
          detail: "the file was overwritten while processes use it; end them")
      }
      throw refusal(path, "it has other contents than such a file")
    }
    if content == .blank, facts.owner == 0, data.owner != 0 {
      throw refusal(path, "it is an empty file owned by root, but root does not own the data")
    }
    try allocate(file.raw, content == .blank ? kind.byteCount : 0, path)
    return file
  }

  private static func objection(
    to facts: FileFacts, _ path: String, _ data: FileFacts
  ) throws(StorageError) -> String? {
    guard facts.isRegularFile else { return "it is not a regular file" }
    guard facts.linkCount == 1 else { return "it has other hard links" }
    let folder = try FileFacts.known(at: FilePaths.folder(of: path), "open")
    return data.rights.objection(to: facts.rights, in: folder.rights, user: geteuid())
  }

  private static func refusal(_ path: String, _ reason: String) -> StorageError {
    StorageError(
      .identity, operation: "open", path: path,
      detail: "the file is not used, because \(reason). Find out what created it; give it the "
        + "owner and permissions of the data, or remove it while no process has the store open")
  }

  /// Opens the file of a reference, whatever is at its path by now.
  private static func reopen(
    _ reference: Int32, _ path: String
  ) throws(StorageError) -> OwnedDescriptor {
    do throws(StorageError) {
      return try OwnedDescriptor(
        opening: "/proc/self/fd/\(reference)", flags: O_RDWR, operation: "open")
    } catch {
      throw StorageError(error.code, operation: "open", path: path, detail: error.detail)
    }
  }

  private static func content(
    of file: Int32, _ kind: CompanionKind, _ byteCount: Int64, _ path: String
  ) throws(StorageError) -> CompanionKind.Content {
    var start = [UInt8](repeating: 0, count: CompanionKind.startByteCount)
    var found = 0
    while found < start.count {
      let count = unsafe start.withUnsafeMutableBytes {
        unsafe pread(file, $0.baseAddress! + found, $0.count - found, off_t(found))
      }
      if count < 0 && errno == EINTR { continue }
      guard count >= 0 else {
        throw StorageError(errno: errno, operation: "open", path: path, call: "pread")
      }
      if count == 0 { break }
      found += count
    }
    // Another process may be extending it at this moment.
    let now = FileFacts.of(descriptor: file)?.byteCount ?? byteCount
    return kind.content(start: Array(start.prefix(found)), byteCount: now)
  }

  // MARK: - Creating files

  /// Creates the file unless it exists. It is named only when it has its permissions and its bytes:
  /// a process of another user that only reads the store, or one killed midway, must not shut out
  /// the owner, and a full disk must not leave an empty file.
  ///
  /// - Returns: false if the owner of the data could not use a file created by this user.
  static func create(
    _ kind: CompanionKind, at path: String, like data: FileFacts
  ) throws(StorageError) -> Bool {
    let nameless = unsafe FilePaths.folder(of: path).withPath {
      unsafe tarn_nameless_file($0, 0o600)
    }
    if nameless >= 0 {
      let file = OwnedDescriptor(adopting: nameless)
      guard try prepare(file.raw, kind, path, data) else { return false }
      let source = "/proc/self/fd/\(file.raw)"
      let result = unsafe path.withPath {
        unsafe linkat(AT_FDCWD, source, AT_FDCWD, $0, AT_SYMLINK_FOLLOW)
      }
      if result == 0 || errno == EEXIST { return true }
      if errno == ENOSPC || errno == EDQUOT {
        throw StorageError(errno: errno, operation: "open", path: path)
      }
    }
    return try createNamed(kind, at: path, like: data)
  }

  /// The same for a file system without nameless files.
  static func createNamed(
    _ kind: CompanionKind, at path: String, like data: FileFacts
  ) throws(StorageError) -> Bool {
    var template = ("\(path).XXXXXX".pathBytes + [0]).map { CChar(bitPattern: $0) }
    let made = unsafe tarn_temporary_file(&template)
    guard made >= 0 else { throw StorageError(errno: errno, operation: "open", path: path) }
    let file = OwnedDescriptor(adopting: made)
    var isRenamed = false
    defer { if !isRenamed { unsafe unlink(template) } }
    guard try prepare(file.raw, kind, path, data) else { return false }
    if unsafe path.withPath({ unsafe tarn_rename_to_new(template, $0) }) == 0 {
      isRenamed = true
      return true
    }
    // Some file systems cannot rename without replacing, but can link.
    if errno == EINVAL || errno == ENOSYS, unsafe path.withPath({ unsafe link(template, $0) }) == 0
    {
      return true
    }
    if errno == EEXIST { return true }
    throw StorageError(errno: errno, operation: "open", path: path)
  }

  private static func prepare(
    _ file: Int32, _ kind: CompanionKind, _ path: String, _ data: FileFacts
  ) throws(StorageError) -> Bool {
    data.giveRights(to: file)
    guard let made = FileFacts.of(descriptor: file), data.rights.ownerMayWrite(made.rights)
    else { return false }
    tarn_write_in_place(file)
    try allocate(file, kind.byteCount, path)
    return true
  }

  /// LMDB creates its lock file with holes, and both files are mapped: on a full disk the first
  /// access to a hole would raise SIGBUS. Here it is an error.
  private static func allocate(
    _ file: Int32, _ byteCount: Int64, _ path: String
  ) throws(StorageError) {
    let silence = SizeLimit.Silence()
    defer { silence.end() }
    let result = tarn_allocate(file, byteCount)
    if result != 0 { throw StorageError(errno: result, operation: "open", path: path) }
  }
}

extension FileFacts {
  /// Gives a new companion this file's owner, group and mode, as far as this process can.
  func giveRights(to descriptor: Int32) {
    guard let has = FileFacts.of(descriptor: descriptor) else { return }
    if has.owner != owner || has.group != group {
      _ = fchown(descriptor, geteuid() == 0 ? owner : has.owner, group)
    }
    guard let now = FileFacts.of(descriptor: descriptor) else { return }
    _ = fchmod(descriptor, rights.companionMode(group: now.group))
  }
}
