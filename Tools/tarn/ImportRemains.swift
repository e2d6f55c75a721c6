import Foundation

/// The files that an import makes where there was no store: removed if it fails.
struct ImportRemains {
  /// The header pages of a file that holds nothing else.
  private static let emptyBytesMax = 2 * sysconf(Int32(_SC_PAGESIZE))

  private let path: String
  /// The store's files that were not there before the import.
  private let missing: [String]

  /// Looks at the folder, before the import does anything.
  init(_ path: String) {
    self.path = path
    missing = ["", "-lock", "-signal"].map { path + $0 }.filter { StoreAccess.fileSize($0) == nil }
  }

  /// Whether the import is to make the store.
  var isNew: Bool { missing.contains(path) }

  /// Removes what a failed import has left, unless the file holds something or another process
  /// uses it.
  func remove() {
    guard isNew else { return }
    try? StoreAccess.removeIfEmpty(path)
    // On a full disk, and under a name too long for one of the three, nothing can be opened.
    guard StoreAccess.fileSize(path) ?? 0 <= Self.emptyBytesMax, !isLocked else { return }
    for file in missing { unlink(file) }
  }

  /// Whether a process has the store open: each of them locks a byte of the lock file.
  private var isLocked: Bool {
    let descriptor = open(path + "-lock", O_RDWR | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { return errno != ENOENT && errno != ENAMETOOLONG }
    defer { close(descriptor) }
    var lock = flock()
    lock.l_type = Int16(F_WRLCK)
    lock.l_whence = Int16(SEEK_SET)
    return fcntl(descriptor, F_GETLK, &lock) != 0 || lock.l_type != Int16(F_UNLCK)
  }
}
