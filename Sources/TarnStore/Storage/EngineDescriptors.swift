internal import CLMDB
internal import Glibc

/// The descriptors by which LMDB writes and locks the files of one store.
///
/// A program may close descriptors that it did not open (everything above 2, say), and open files
/// that get the same numbers. LMDB reads through its mapping, so it notices nothing, and writes its
/// pages into the program's files. So the numbers are looked at before each commit. What remains is
/// the time between that look and LMDB's last write of the commit.
///
/// LMDB tells one of its three numbers. The others are found when it has opened its files.
struct EngineDescriptors: Equatable, Sendable {
  /// Commits write their pages here.
  let pages: Int32
  /// And their header here, if they are synced; nil if the file may only be read.
  private let headers: Int32?
  private let lock: Int32

  /// How many numbers are tried; LMDB takes three.
  private static let expectedCount = 8

  /// The numbers of the descriptors that are opened next, unless another thread opens or closes
  /// some meanwhile.
  static func expected(copying descriptor: Int32) -> [Int32] {
    let numbers = (0..<expectedCount).map { _ in fcntl(descriptor, F_DUPFD_CLOEXEC, 3) }
      .filter { $0 >= 0 }
    for number in numbers { close(number) }
    return numbers
  }

  /// - Parameter expected: where to look first. All descriptors of the process are looked at only
  ///   if LMDB's are not there: a process may have thousands.
  /// - Parameter ours: this library's own descriptor of the lock file.
  /// - Returns: nil if they cannot be found.
  static func find(
    _ handle: LMDBHandle, _ data: FileIdentity, _ lock: FileIdentity, isWritable: Bool,
    expected: [Int32], ours: Int32
  ) -> EngineDescriptors? {
    var pages: Int32 = -1
    guard unsafe mdb_env_get_fd(handle.raw, &pages) == 0, pages > 2 else { return nil }
    for numbers in [{ expected }, all] {
      let numbers = numbers()
      let lock = numbers.first { $0 != ours && isOpen($0, for: lock, O_RDWR) }
      let headers = numbers.first { $0 != pages && isOpen($0, for: data, O_WRONLY | O_DSYNC) }
      if let lock, headers != nil || !isWritable {
        return EngineDescriptors(pages: pages, headers: headers, lock: lock)
      }
    }
    return nil
  }

  private static func isOpen(_ number: Int32, for file: FileIdentity, _ flags: Int32) -> Bool {
    guard FileFacts.of(descriptor: number)?.identity == file else { return false }
    return fcntl(number, F_GETFL) & (O_ACCMODE | O_DSYNC) == flags
  }

  private static func all() -> [Int32] {
    FilePaths.names(in: "/proc/self/fd").compactMap { Int32($0) }
  }

  /// A number that leads to another file by now, or to none. A third of a microsecond for each
  /// that is looked at.
  func lost(_ data: FileIdentity, _ lock: FileIdentity, onlyPages: Bool) -> Int32? {
    if FileFacts.of(descriptor: pages)?.identity != data { return pages }
    if onlyPages { return nil }
    if let headers, FileFacts.of(descriptor: headers)?.identity != data { return headers }
    if FileFacts.of(descriptor: self.lock)?.identity != lock { return self.lock }
    return nil
  }
}

extension Environment {
  /// Errors: `.failed` if the program closed a descriptor of LMDB's.
  ///
  /// - Parameter onlyPages: the one that unsynced commits write through, and no other.
  func checkDescriptors(
    of engine: Engine, _ operation: String, onlyPages: Bool = false
  ) throws(StorageError) {
    if let lost = engine.descriptors.lost(dataIdentity, lockIdentity, onlyPages: onlyPages) {
      throw error(
        .failed, operation,
        LostDescriptor.detail(lost) + ". Nothing was written; restart the program")
    }
  }

  /// The same for all that LMDB has opened for the store.
  func checkDescriptors(_ operation: String) throws(StorageError) {
    for engine in state.withLock({ $0.engines }) { try checkDescriptors(of: engine, operation) }
  }
}

/// A descriptor of the library's that the program closed.
enum LostDescriptor {
  static func detail(_ number: Int32) -> String {
    "the program closed descriptor \(number), which is the store's\(newUse(number)). A program may "
      + "close only descriptors that it opened"
  }

  private static func newUse(_ number: Int32) -> String {
    var target = [UInt8](repeating: 0, count: 4096)
    let count = unsafe target.withUnsafeMutableBytes { bytes in
      unsafe readlink(
        "/proc/self/fd/\(number)", bytes.assumingMemoryBound(to: CChar.self).baseAddress!,
        bytes.count)
    }
    guard count > 0 else { return "" }
    return ", and uses the number for \(String(decoding: target[..<count], as: UTF8.self))"
  }
}
