internal import CTarn
internal import Glibc

/// Files without a path. No other process can read or prepare them, and the kernel frees them when
/// the process ends, however it ends.
enum NamelessFiles {
  /// In memory.
  static func inMemory(for path: String) throws(StorageError) -> OwnedDescriptor {
    let descriptor = unsafe tarn_memory_file("tarn")
    guard descriptor >= 0 else { throw StorageError(errno: errno, operation: "open", path: path) }
    return OwnedDescriptor(adopting: descriptor)
  }

  /// In the folder for temporary files; in memory if its file system has no nameless files.
  static func temporary(for path: String) throws(StorageError) -> OwnedDescriptor {
    let descriptor = unsafe temporaryFolder.withPath { unsafe tarn_nameless_file($0, 0o600) }
    return descriptor >= 0 ? OwnedDescriptor(adopting: descriptor) : try inMemory(for: path)
  }

  static var temporaryFolder: String {
    unsafe tarn_trusted_variable("TMPDIR").map { unsafe String(path: $0) } ?? "/tmp"
  }
}

/// Names for two files that this process has open, for the moment in which LMDB opens them: LMDB
/// takes only paths, and its lock file must be named like the data. Nameless files have no other
/// names; the names of other files may lead to different files by then.
///
/// They are links to this process's descriptors, in a folder with an unpredictable name that only
/// this user can enter. A process that is killed at this moment leaves the folder behind, with
/// dangling links; the next process that creates one removes it. The folder of a live process is
/// known by its lock.
struct PassingNames: ~Copyable {
  private static let prefix = "tarn-opening-\(geteuid())-"
  private static let names = ["/store", "/store-lock"]

  private let folder: LockedFolder

  /// The path of the data for LMDB. The lock file has the same path with LMDB's suffix.
  var dataPath: String { folder.path + Self.names[0] }

  /// - Parameter path: the store's path in errors.
  init(data: Int32, lock: Int32, for path: String) throws(StorageError) {
    let folder = try Self.makeFolder(for: path)
    for (name, target) in zip(Self.names, [data, lock]) {
      let isLinked = unsafe (folder.path + name).withPath {
        unsafe symlink("/proc/self/fd/\(target)", $0) == 0
      }
      if !isLinked {
        let error = StorageError(errno: errno, operation: "open", path: path)
        Self.remove(folder.path)
        throw error
      }
    }
    self.folder = folder
    FaultPoint.hit("names.made")
  }

  deinit { Self.remove(folder.path) }

  private static func remove(_ folder: String) {
    for name in names { unsafe (folder + name).withPath { _ = unsafe unlink($0) } }
    removeFolder(folder)
  }

  private static func removeFolder(_ folder: String) {
    unsafe folder.withPath { _ = unsafe rmdir($0) }
  }

  private static func makeFolder(for path: String) throws(StorageError) -> LockedFolder {
    var problems: [StorageError] = []
    // The store's own folder last: what a killed process leaves there is in the way of people.
    let own = FilePaths.folder(of: path)
    for parent in ["/dev/shm", NamelessFiles.temporaryFolder, own] {
      removeAbandoned(in: parent)
      // Again if another process removed it before it was locked.
      for _ in 0..<100 {
        var template = "\(parent)/\(prefix)XXXXXX".pathBytes.map { CChar(bitPattern: $0) } + [0]
        guard let made = unsafe mkdtemp(&template) else {
          var problem = StorageError(errno: errno, operation: "open", path: path)
          problem.detail = "cannot create a folder in \(parent): \(problem.detail)"
          problems.append(problem)
          break
        }
        let folder = unsafe String(path: made)
        FaultPoint.hit("names.folder")
        do throws(StorageError) {
          if let locked = try LockedFolder(folder) { return locked }
        } catch {
          removeFolder(folder)
          throw StorageError(error.code, operation: "open", path: path, detail: error.detail)
        }
      }
    }
    throw problems.first ?? StorageError(errno: EACCES, operation: "open", path: path)
  }

  /// Removes the folders of processes that were killed while they used passing names.
  private static func removeAbandoned(in parent: String) {
    for name in FilePaths.names(in: parent) where name.beginsWithBytes(of: prefix) {
      if let abandoned = try? LockedFolder(parent + "/" + name) { remove(abandoned.path) }
    }
  }
}

/// A folder of this user that this process has locked until the value goes out of scope.
private struct LockedFolder: ~Copyable {
  let path: String
  private let descriptor: OwnedDescriptor

  /// Nil if another process has locked it, or it was removed.
  ///
  /// Errors: `.limitExceeded` if the process has no descriptor left.
  init?(_ path: String) throws(StorageError) {
    let descriptor: OwnedDescriptor
    do throws(StorageError) {
      descriptor = try OwnedDescriptor(
        opening: path, flags: O_RDONLY | O_DIRECTORY | O_NOFOLLOW, operation: "open")
    } catch {
      if error.code == .limitExceeded { throw error }
      return nil
    }
    guard flock(descriptor.raw, LOCK_EX | LOCK_NB) == 0,
      let facts = FileFacts.of(descriptor: descriptor.raw), facts.owner == geteuid(),
      facts.identity == FileFacts.at(path)?.identity
    else { return nil }
    self.path = path
    self.descriptor = descriptor
  }
}
