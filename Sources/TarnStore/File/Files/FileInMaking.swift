internal import CTarn
internal import Glibc

/// A file that gets its name when it is complete: a path has all of it, or nothing.
///
/// Until then it has no name, and a process that is killed leaves nothing behind. There are two
/// exceptions: where the file system has no nameless files, and for the moment in which the file
/// replaces another one, it has a temporary name in the same folder. What a killed process leaves
/// under such a name is removed by the next one that makes a file for the same path. It removes
/// only files with such a name that belong to this user and that no process has locked (`flock`).
///
/// Confined to one thread.
final class FileInMaking {
  /// The path that the file gets.
  let path: String
  private let file: OwnedDescriptor
  private let operation: String
  /// The temporary name, while there is one.
  private var temporary: String?

  /// For reading and writing.
  var descriptor: Int32 { file.raw }

  /// - Parameters:
  ///   - mode: its permissions; nil for those of any new file of this user.
  ///   - isNameless: false to give it a temporary name at once.
  /// Errors: `.notFound` for a missing folder, `.permissionDenied`, `.diskFull`.
  init(
    for path: String, mode: UInt32?, operation: String, isNameless: Bool = true
  ) throws(StorageError) {
    self.path = path
    self.operation = operation
    Self.removeAbandoned(for: path)
    var nameless: Int32 = -1
    if isNameless {
      nameless = unsafe FilePaths.folder(of: path).withPath {
        unsafe tarn_nameless_file($0, mode ?? 0o666)
      }
    }
    if nameless >= 0 {
      file = OwnedDescriptor(adopting: nameless)
    } else {
      let (made, name) = try Self.named(path, operation)
      file = OwnedDescriptor(adopting: made)
      temporary = name
    }
    // Whatever the umask: a copy is as readable as its original.
    if let mode { _ = fchmod(file.raw, mode) }
  }

  deinit { removeTemporary() }

  /// Gives the file its name, and makes the name durable. The file must have been synced.
  ///
  /// If only the last step fails, a new file is removed again. A file that was replaced cannot be
  /// brought back; the error says so.
  ///
  /// - Parameter replaces: whether it replaces a file that is there.
  /// Errors: `.fileExists`; `.permissionDenied`, `.diskFull`, `.inputOutput`.
  func publish(replacing replaces: Bool) throws(StorageError) {
    if replaces {
      if temporary == nil { temporary = try nameTemporarily() }
      guard let name = temporary else { return }
      FaultPoint.hit("copy.named")
      try check(
        unsafe name.withPath { from in
          unsafe path.withPath { unsafe rename(from, $0) } == 0 ? 0 : errno
        })
      temporary = nil
    } else if let name = temporary {
      try check(Self.renameToNew(name, path))
      if FileFacts.at(name)?.identity != FileFacts.of(descriptor: file.raw)?.identity {
        temporary = nil
      }
    } else {
      try check(link(to: path))
    }
    FaultPoint.hit("copy.published")
    do throws(StorageError) {
      try FilePaths.syncFolder(of: path, operation: operation)
    } catch {
      var error = error
      if replaces {
        error.detail =
          "the new file has taken the place of the former one, but a power failure may bring that "
          + "one back: its folder cannot be synced (\(error.detail))"
      } else {
        removePublished()
      }
      throw error
    }
  }

  /// Removes the published file, unless a process has opened it as a store meanwhile.
  private func removePublished() {
    guard FileFacts.at(path)?.identity == FileFacts.of(descriptor: file.raw)?.identity,
      tarn_lock_exclusive(file.raw, DataLocks.making, 1) == 0,
      tarn_is_locked_elsewhere(file.raw, DataLocks.shared, 0) == 0
    else { return }
    unsafe path.withPath { _ = unsafe unlink($0) }
  }

  // MARK: - Names

  private func link(to name: String) -> Int32 {
    let source = "/proc/self/fd/\(file.raw)"
    return unsafe name.withPath {
      unsafe linkat(AT_FDCWD, source, AT_FDCWD, $0, AT_SYMLINK_FOLLOW) == 0 ? 0 : errno
    }
  }

  private func check(_ result: Int32) throws(StorageError) {
    if result == 0 { return }
    guard result == EEXIST else {
      throw StorageError(errno: result, operation: operation, path: path)
    }
    throw Self.exists(path, operation)
  }

  static func exists(_ path: String, _ operation: String) -> StorageError {
    StorageError(
      .fileExists, operation: operation, path: path,
      detail: "there is a file already, which was not changed")
  }

  private static func renameToNew(_ from: String, _ to: String) -> Int32 {
    unsafe from.withPath { from in
      unsafe to.withPath { to in
        if unsafe tarn_rename_to_new(from, to) == 0 { return 0 }
        guard errno == EINVAL || errno == ENOSYS else { return errno }
        // Some file systems cannot rename without replacing, but can link. The temporary name is
        // removed with this value.
        return unsafe Glibc.link(from, to) == 0 ? 0 : errno
      }
    }
  }

  // MARK: - Temporary names

  /// The beginning of the temporary names for a path; six characters follow.
  private static func prefix(for path: String) -> String {
    let name = path.lastASCII("/").map { path[path.utf8.index(after: $0)...] } ?? path[...]
    return ".\(name).tarn-copy-"
  }

  private static func template(for path: String) -> [CChar] {
    let folder = FilePaths.folder(of: path)
    let start = (folder == "/" ? "" : folder) + "/" + prefix(for: path) + "XXXXXX"
    return (start.pathBytes + [0]).map { CChar(bitPattern: $0) }
  }

  /// A locked file with a temporary name.
  private static func named(
    _ path: String, _ operation: String
  ) throws(StorageError) -> (Int32, String) {
    // Again if another process took it for an abandoned one before it was locked.
    for _ in 0..<100 {
      var template = template(for: path)
      let made = unsafe tarn_temporary_file(&template)
      guard made >= 0 else { throw StorageError(errno: errno, operation: operation, path: path) }
      let file = OwnedDescriptor(adopting: made)
      let name = unsafe template.withUnsafeBufferPointer { unsafe String(path: $0.baseAddress!) }
      if flock(file.raw, LOCK_EX | LOCK_NB) == 0,
        FileFacts.at(name)?.identity == FileFacts.of(descriptor: file.raw)?.identity
      {
        return (file.release(), name)
      }
    }
    throw StorageError(
      .inputOutput, operation: operation, path: path,
      detail: "another process keeps removing the new file")
  }

  /// Gives the nameless file a temporary name.
  private func nameTemporarily() throws(StorageError) -> String {
    if flock(file.raw, LOCK_EX | LOCK_NB) != 0 {
      throw StorageError(errno: errno, operation: operation, path: path)
    }
    var result = EEXIST
    for _ in 0..<100 where result == EEXIST {
      let letters = String(UInt64.random(in: 1 << 36..<1 << 37), radix: 36).suffix(6)
      let folder = FilePaths.folder(of: path)
      let name = (folder == "/" ? "" : folder) + "/" + Self.prefix(for: path) + letters
      result = link(to: name)
      if result == 0 { return name }
    }
    throw StorageError(errno: result, operation: operation, path: path)
  }

  private func removeTemporary() {
    guard let temporary else { return }
    unsafe temporary.withPath { _ = unsafe unlink($0) }
  }

  private static func removeAbandoned(for path: String) {
    let folder = FilePaths.folder(of: path)
    let prefix = prefix(for: path)
    for name in FilePaths.names(in: folder) {
      guard let rest = name.rest(afterBytesOf: prefix), rest.utf8.count == 6 else { continue }
      let whole = (folder == "/" ? "" : folder) + "/" + name
      guard
        let file = try? OwnedDescriptor(
          opening: whole, flags: O_RDONLY | O_NOFOLLOW | O_NONBLOCK, operation: "copy"),
        let facts = FileFacts.of(descriptor: file.raw), facts.isRegularFile,
        facts.owner == geteuid(), flock(file.raw, LOCK_EX | LOCK_NB) == 0,
        FileFacts.at(whole)?.identity == facts.identity
      else { continue }
      unsafe whole.withPath { _ = unsafe unlink($0) }
    }
  }
}
