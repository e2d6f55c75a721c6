internal import Glibc

extension Environment {
  /// Walks all pages of the newest state. It holds that state, so its pages are not reused, and
  /// reads only the header pages through LMDB: so it may run before anything else is read.
  package func verifyPages() throws(StorageError) -> PageReport {
    let pin = try beginRead()
    defer { pin.end() }
    return try Self.verifyPages(descriptor: descriptor, path: path) ?? PageReport()
  }

  /// The same, but throws an error that names the first problem.
  func requireSoundPages() throws(StorageError) {
    let problems = try verifyPages().problems
    guard let first = problems.first else {
      let pin = try beginRead()
      defer { pin.end() }
      return pin.engine.findMap(by: pin.handle, pageSize: pageSize)
    }
    let others = problems.count - 1
    let more = others == 0 ? "" : " (and \(others) more problem\(others == 1 ? "" : "s"))"
    throw StoreHeader.corrupted(path, first + more)
  }

  /// Checks the pages that opening and every commit use: LMDB would follow damaged ones blindly.
  func requireSoundPaths() throws(StorageError) {
    let pin = try beginRead()
    defer { pin.end() }
    guard let header = try StoreHeader.read(descriptor: descriptor, path: path) else { return }
    let byteCount = try Self.byteCount(descriptor, path)
    let problems = PageWalker.walkPaths(descriptor, byteCount: byteCount, header: header)
    if let problem = problems.first { throw StoreHeader.corrupted(path, problem) }
    pin.engine.findMap(by: pin.handle, pageSize: pageSize)
  }

  /// Checks the free list before the first write: with one of another state, LMDB would write over
  /// pages in use, or search it for ever while it holds the write lock. The caller is writing, so
  /// that no other process commits.
  func requireSoundFreeList() throws(StorageError) {
    guard kind == .shared, !isFreeListSound.load(ordering: .relaxed) else { return }
    guard let header = try StoreHeader.read(descriptor: descriptor, path: path) else { return }
    let byteCount = try Self.byteCount(descriptor, path)
    let problems = PageWalker.walkFreeList(descriptor, byteCount: byteCount, header: header)
    if let problem = problems.first { throw StoreHeader.corrupted(path, problem) }
    isFreeListSound.store(true, ordering: .relaxed)
  }

  /// Walks all pages of the file at the path, for one that may be too damaged to open. Other
  /// processes may have it open and commit meanwhile: the walk is repeated if its version was
  /// overtaken, because its pages are then reused.
  ///
  /// Errors: `.notAStore`, `.corrupted` for a damaged header, `.notFound`, `.permissionDenied`.
  /// Damage in the pages is in the report.
  package static func verifyPages(path: String) throws(StorageError) -> PageReport {
    let file = try OwnedDescriptor(opening: path, flags: O_RDONLY, operation: "check")
    guard let facts = FileFacts.of(descriptor: file.raw), facts.isRegularFile else {
      throw StorageError(.notAStore, operation: "check", path: path, detail: "it is not a file")
    }
    return try verifyPages(descriptor: file.raw, path: path) ?? PageReport()
  }

  /// True for a file in which a writing opener would create a store: it is empty, or its creation
  /// was not finished.
  package static func isYetToBeMade(path: String) -> Bool {
    guard
      let file = try? OwnedDescriptor(opening: path, flags: O_RDONLY, operation: "check")
    else { return false }
    do throws(StorageError) {
      return try StoreHeader.read(descriptor: file.raw, path: path) == nil
    } catch {
      return false
    }
  }

  private static let walksMax = 8

  /// Nil for a file without a store.
  static func verifyPages(
    descriptor: Int32, path: String
  ) throws(StorageError) -> PageReport? {
    var report: PageReport?
    // The walk is overtaken this often only if the state is not held and a writer commits twice
    // during each walk; the last walk is then reported.
    for _ in 0..<walksMax {
      guard let header = try StoreHeader.read(descriptor: descriptor, path: path) else {
        return nil
      }
      let found = try walk(descriptor: descriptor, header: header, path: path)
      report = found
      if found.isSound { break }
      let after = try StoreHeader.read(descriptor: descriptor, path: path)
      if after?.transactionID == header.transactionID { break }
    }
    return report
  }

  /// Walks all pages as they are on the disk, as far as the system drops those in memory.
  static func verifyPages(
    fromDiskBehind descriptor: Int32, path: String
  ) throws(StorageError) -> PageReport? {
    _ = fdatasync(descriptor)
    posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED)
    return try verifyPages(descriptor: descriptor, path: path)
  }

  private static func walk(
    descriptor: Int32, header: StoreHeader, path: String
  ) throws(StorageError) -> PageReport {
    PageWalker.walk(descriptor, byteCount: try byteCount(descriptor, path), header: header)
  }

  private static func byteCount(_ descriptor: Int32, _ path: String) throws(StorageError) -> Int64 {
    guard let facts = FileFacts.of(descriptor: descriptor), facts.byteCount > 0 else {
      throw StorageError(errno: EIO, operation: "check", path: path)
    }
    return facts.byteCount
  }
}
