import Foundation
import TarnStore

/// The folder in which a store is made before it is copied to its place. It is beside the
/// destination, so that it is on the same disk, and is removed with this value. The next import to
/// the same path removes the folder of a killed process: folders in use are locked (`flock`).
package final class ImportFolder: Sendable {
  package let path: String
  private let lock: Int32

  /// The path of the store in the folder.
  package var store: String { path + "/store" }

  /// Errors: `.notFound` for a missing folder, `.permissionDenied`, `.diskFull`, `.inputOutput`.
  init(for destination: String) throws(StorageError) {
    let slash = destination.lastASCII("/")
    let parent = slash.map { String(destination[...$0]) } ?? "./"
    let name = slash.map { String(destination[destination.utf8.index(after: $0)...]) }
    let prefix = parent + ".\(name ?? destination).tarn-import-"
    Self.removeAbandoned(in: parent, prefix)
    var template = ((prefix + "XXXXXX").pathBytes + [0]).map { CChar(bitPattern: $0) }
    guard unsafe mkdtemp(&template) != nil else {
      throw StorageError(errno: errno, operation: "import", path: destination)
    }
    path = unsafe template.withUnsafeBufferPointer { unsafe String(path: $0.baseAddress!) }
    lock = Self.open(path)
    guard lock >= 0, flock(lock, LOCK_EX | LOCK_NB) == 0 else {
      throw StorageError(errno: errno, operation: "import", path: destination)
    }
  }

  deinit {
    remove()
    if lock >= 0 { close(lock) }
  }

  /// Removes the folder and the store in it. Any thread.
  package func remove() { Self.remove(path) }

  /// Whether something exists at the path, even a dangling link.
  static func isTaken(_ path: String) -> Bool {
    var facts = stat()
    return unsafe path.withPath { unsafe lstat($0, &facts) } == 0
  }

  private static func open(_ path: String) -> Int32 {
    unsafe path.withPath {
      unsafe Foundation.open($0, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    }
  }

  private static func remove(_ path: String) {
    for ending in ["", "-lock", "-signal"] {
      unsafe (path + "/store" + ending).withPath { _ = unsafe unlink($0) }
    }
    unsafe path.withPath { _ = unsafe rmdir($0) }
  }

  private static func removeAbandoned(in parent: String, _ prefix: String) {
    let length = prefix.utf8.count + 6
    let names = try? FileManager.default.contentsOfDirectory(atPath: parent)
    for name in names ?? [] {
      let whole = parent + name
      guard whole.beginsWithBytes(of: prefix), whole.utf8.count == length else { continue }
      let folder = open(whole)
      guard folder >= 0 else { continue }
      defer { close(folder) }
      guard flock(folder, LOCK_EX | LOCK_NB) == 0 else { continue }
      remove(whole)
    }
  }
}
