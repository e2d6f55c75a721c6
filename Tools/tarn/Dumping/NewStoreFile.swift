import Foundation
import TarnStore
import ToolSupport

/// A file that gets its name when it is complete. Until then it is in the same folder as
/// FILE.loading.
struct NewStoreFile: Sendable {
  let path: String
  let temporaryPath: String

  /// Creates an empty file, which becomes a store when it is opened.
  init(_ path: String) throws {
    self.path = path
    temporaryPath = path + ".loading"
    guard !PathTarget.isTaken(path) else { throw Self.taken(path) }
    // Those of a killed load, or something else: in any case not ours.
    for name in Self.companions(of: temporaryPath) where PathTarget.isTaken(name) {
      throw Self.left(name)
    }
    let descriptor = temporaryPath.withPath {
      open($0, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
    }
    if descriptor < 0, errno == EEXIST { throw Self.left(temporaryPath) }
    guard descriptor >= 0 else { throw ToolError("cannot make", temporaryPath, errno: errno) }
    close(descriptor)
  }

  private static func companions(of path: String) -> [String] {
    ["-lock", "-signal"].map { path + $0 }
  }

  private static func left(_ path: String) -> ToolError {
    ToolError(
      "\(path) exists: another load is running, or one was killed; then delete that file and try "
        + "again")
  }

  private static func taken(_ path: String) -> ToolError {
    ToolError("\(path): there is a file already; load into a new one")
  }

  /// Gives the file its name. The process must have closed it.
  func publish() throws {
    guard !StoreRegistry.isOpen(.file(temporaryPath)) else {
      throw ToolError("internal error: \(temporaryPath) is still open")
    }
    removeCompanions()
    let code = temporaryPath.withPath { from in
      path.withPath { to in link(from, to) == 0 ? 0 : errno }
    }
    switch code {
    case 0: unlinkTemporary()
    case EEXIST: throw Self.taken(path)
    default: try rename()
    }
    syncFolder()
  }

  /// For file systems without links. A file that appears after the check is replaced.
  private func rename() throws {
    guard !PathTarget.isTaken(path) else { throw Self.taken(path) }
    let isRenamed = temporaryPath.withPath { from in
      path.withPath { to in Foundation.rename(from, to) == 0 }
    }
    guard isRenamed else { throw ToolError("cannot make", path, errno: errno) }
  }

  private func syncFolder() {
    let slash = path.lastASCII("/")
    let folder = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    let descriptor = folder.withPath { open($0, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
    guard descriptor >= 0 else { return }
    // Some file systems refuse this for folders.
    _ = fsync(descriptor)
    close(descriptor)
  }

  /// Removes the incomplete file.
  func remove() {
    unlinkTemporary()
    removeCompanions()
  }

  private func unlinkTemporary() { _ = FileFacts.remove(temporaryPath) }

  private func removeCompanions() {
    for name in Self.companions(of: temporaryPath) { _ = FileFacts.remove(name) }
  }
}
