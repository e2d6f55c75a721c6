import Foundation
import TarnStore
import ToolSupport

/// The files of a store that an import creates. They are removed if it fails, or a signal ends it
/// before its first commit. Nothing that existed before is removed.
struct ImportRemains: Sendable {
  /// The size of the header pages, which an otherwise empty file has.
  private static let emptyBytesMax = 2 * sysconf(Int32(_SC_PAGESIZE))

  /// Removes the files of an import that has committed nothing. A commit that is being written then
  /// writes to a file without a name.
  func removeIfUnused() {
    if StoreRegistry.isOpen(.file(path)), isUnused { removeFiles() }
  }

  /// Whether the store has no commits, and no other process has it open.
  private var isUnused: Bool {
    var options = Store.Options()
    options.createsStore = false
    guard let store = try? StoreRegistry.open(path, options),
      let snapshot = try? store.newestSnapshot()
    else { return false }
    return snapshot.version == Version(0) && store.signal.processes().count <= 1
  }

  private let path: String
  /// The store's files that did not exist before the import.
  private let missing: [String]

  /// Checks which files exist. Call it before the import touches the folder.
  init(_ path: String) {
    // A dangling link stays: the import creates its target.
    let path = PathTarget.of(path)
    self.path = path
    missing = ["", "-lock", "-signal"].map { path + $0 }.filter { !PathTarget.isTaken($0) }
  }

  /// Whether the import creates the store.
  var isNew: Bool { missing.contains(path) }

  /// Removes the files of a failed import, unless the store holds something or another process uses
  /// it.
  func remove() {
    guard isNew else { return }
    try? StoreAccess.removeIfEmpty(path)
    // The store cannot be opened on a full disk, nor if one of its three file names is too long.
    guard StoreAccess.fileSize(path) ?? 0 <= Self.emptyBytesMax, !isLocked else { return }
    removeFiles()
  }

  private func removeFiles() {
    for file in missing { _ = FileFacts.remove(file) }
  }

  /// Whether a process has the store open: each process locks a byte of the lock file.
  private var isLocked: Bool {
    let descriptor = (path + "-lock").withPath { open($0, O_RDWR | O_CLOEXEC | O_NOFOLLOW) }
    guard descriptor >= 0 else { return errno != ENOENT && errno != ENAMETOOLONG }
    defer { close(descriptor) }
    var lock = flock()
    lock.l_type = Int16(F_WRLCK)
    lock.l_whence = Int16(SEEK_SET)
    return fcntl(descriptor, F_GETLK, &lock) != 0 || lock.l_type != Int16(F_UNLCK)
  }
}
