internal import CTarn
internal import Glibc

/// The files beside the data, `-lock` and `-signal`: who may use the data may use them.
enum CompanionFile {
  static let endings = ["-lock", "-signal"]

  /// Opens the file, or makes an empty one.
  static func open(
    _ path: String, like data: FileFacts
  ) throws(StorageError) -> OwnedDescriptor {
    // Again if somebody takes it away between the two.
    for _ in 0..<100 {
      let descriptor = unsafe Glibc.open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW)
      if descriptor >= 0 {
        data.widenRights(of: descriptor)
        return OwnedDescriptor(adopting: descriptor)
      }
      guard errno == ENOENT else { break }
      guard try create(path, like: data) else {
        throw StorageError(
          .permissionDenied, operation: "open", path: path,
          detail: "it does not exist, and one made by this user could not be used by the owner of "
            + "the data: let the owner open the store first")
      }
    }
    throw StorageError(errno: errno, operation: "open", path: path)
  }

  /// Makes the file, empty, unless there is one. It gets its name only when it has its rights: a
  /// look at a store by another user, or one that was killed on the way, must not shut out the
  /// owner.
  ///
  /// - Returns: false if the owner of the data could not use one that this user makes.
  static func create(_ path: String, like data: FileFacts) throws(StorageError) -> Bool {
    let nameless = unsafe tarn_nameless_file(FilePaths.folder(of: path), 0o600)
    if nameless >= 0 {
      let file = OwnedDescriptor(adopting: nameless)
      data.giveRights(to: file.raw)
      guard data.ownerMayUse(file.raw) else { return false }
      let source = "/proc/self/fd/\(file.raw)"
      let result = unsafe linkat(AT_FDCWD, source, AT_FDCWD, path, AT_SYMLINK_FOLLOW)
      if result == 0 || errno == EEXIST { return true }
    }
    // The file system has no files without names.
    guard geteuid() == 0 || geteuid() == data.owner || data.mode & 0o002 != 0 else { return false }
    let made = unsafe Glibc.open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    if made >= 0 {
      let file = OwnedDescriptor(adopting: made)
      data.giveRights(to: file.raw)
    } else if errno != EEXIST {
      throw StorageError(errno: errno, operation: "open", path: path)
    }
    return true
  }

  /// True if this process may use both files, or make them so that the data's owner may use them.
  static func mayBeUsed(besides path: String, _ data: FileFacts) -> Bool {
    endings.allSatisfy { ending in
      let companion = path + ending
      if FileFacts.at(companion) == nil {
        guard (try? create(companion, like: data)) == true else { return false }
      }
      return unsafe access(companion, R_OK | W_OK) == 0
    }
  }
}

extension FileFacts {
  /// Gives a companion that was just made this file's owner, group and mode, as far as this process
  /// may. The owner may always write it: one who looks at a store that is write-protected locks
  /// there too.
  func giveRights(to descriptor: Int32) {
    guard let has = FileFacts.of(descriptor: descriptor) else { return }
    if has.owner != owner || has.group != group {
      _ = fchown(descriptor, geteuid() == 0 ? owner : has.owner, group)
    }
    _ = fchmod(descriptor, wantedMode(FileFacts.of(descriptor: descriptor)?.group))
  }

  /// Adds what a companion that exists lacks: a process may have died before it gave it, or the
  /// data's rights were changed since. Takes nothing away: people let others lock so.
  fileprivate func widenRights(of descriptor: Int32) {
    guard let has = FileFacts.of(descriptor: descriptor), has.isRegularFile, has.linkCount < 2
    else { return }
    if geteuid() == 0, !ownerMayUse(descriptor) { _ = fchown(descriptor, owner, group) }
    guard let now = FileFacts.of(descriptor: descriptor) else { return }
    let wanted = now.mode | wantedMode(now.group)
    if geteuid() == 0 || now.owner == geteuid(), wanted != now.mode {
      _ = fchmod(descriptor, wanted)
    }
  }

  /// A group that could not be given gets nothing of what the data's may.
  private func wantedMode(_ given: UInt32?) -> UInt32 {
    (mode | 0o600) & (given == group ? 0o666 : 0o606)
  }

  /// True if the owner of this file may write that one.
  fileprivate func ownerMayUse(_ descriptor: Int32) -> Bool {
    guard let has = FileFacts.of(descriptor: descriptor) else { return false }
    if has.owner == owner || has.mode & 0o002 != 0 { return true }
    return has.group == group && has.mode & 0o020 != 0
  }
}
