internal import CLMDB
internal import Glibc

/// The descriptors with which LMDB writes and locks the files of one store.
///
/// A program may close descriptors that it did not open (everything above 2, say), and open files
/// that get the same numbers. LMDB reads through its mapping, so it does not notice, and writes its
/// pages into the program's files. So the descriptors are checked before each commit. A risk
/// remains only between that check and LMDB's last write of the commit.
///
/// LMDB reports one of its three descriptors. The others are searched for after it has opened its
/// files: it opens the lock file before that one and the second of the data after it, so they
/// usually have numbers next to it.
struct EngineDescriptors: Equatable, Sendable {
  /// Commits write their pages to this descriptor.
  let pages: Int32
  /// Synced commits write their header to this one; nil if the file is read-only here, or written
  /// through its map.
  private let headers: Int32?
  private let lock: Int32

  /// All descriptors of the process are checked only if LMDB's are not close to each other: a
  /// process may have thousands.
  ///
  /// - Parameters:
  ///   - hasHeaders: whether LMDB has one for headers.
  ///   - others: the descriptors of the same files that are not this handle's.
  ///   - reach: how far away numbers are checked first.
  /// - Returns: nil if they cannot be found.
  static func find(
    _ handle: LMDBHandle, _ data: FileIdentity, _ lock: FileIdentity, hasHeaders: Bool,
    besides others: [Int32], reach: Int32 = 3
  ) -> EngineDescriptors? {
    var pages: Int32 = -1
    guard unsafe mdb_env_get_fd(handle.raw, &pages) == 0, pages > 2 else { return nil }
    let nearby = (pages - reach...pages + reach).sorted { abs($0 - pages) < abs($1 - pages) }
    for numbers in [{ nearby }, all] {
      let numbers = numbers().filter { $0 != pages && !others.contains($0) }
      let lock = numbers.first { isOpen($0, for: lock, O_RDWR) }
      let headers = numbers.first { isOpen($0, for: data, O_WRONLY | O_DSYNC) }
      if let lock, headers != nil || !hasHeaders {
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

  /// The numbers of all.
  var numbers: [Int32] { [pages, lock] + [headers].compactMap { $0 } }

  /// A descriptor that now refers to another file, or to none. Takes a third of a microsecond for
  /// each.
  func lost(_ data: FileIdentity, _ lock: FileIdentity, onlyPages: Bool) -> Int32? {
    if FileFacts.isLost(pages, of: data) { return pages }
    if onlyPages { return nil }
    if let headers, FileFacts.isLost(headers, of: data) { return headers }
    if FileFacts.isLost(self.lock, of: lock) { return self.lock }
    return nil
  }
}

extension Environment {
  /// Errors: `.failed` if the program closed a descriptor of LMDB.
  ///
  /// - Parameter onlyPages: checks only the descriptor that unsynced commits write through.
  func checkDescriptors(
    of engine: Engine, _ operation: String, onlyPages: Bool = false
  ) throws(StorageError) {
    if let lost = engine.descriptors.lost(dataIdentity, lockIdentity, onlyPages: onlyPages) {
      throw error(
        .failed, operation,
        LostDescriptor.detail(lost) + ". Nothing was written; restart the program")
    }
  }

  /// The same for all descriptors that LMDB has opened for the store.
  func checkDescriptors(_ operation: String) throws(StorageError) {
    for engine in state.withLock({ $0.engines }) { try checkDescriptors(of: engine, operation) }
  }
}

/// Errors about a descriptor of the library that the program closed.
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
