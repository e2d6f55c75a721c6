internal import Glibc

extension Environment {
  /// Walks all pages of the file at the path. Others may have it open and commit meanwhile: the
  /// walk is repeated when its version was overtaken, because pages are used again then.
  ///
  /// Errors: `.notAStore`, `.corrupted` for a damaged header, `.notFound`, `.permissionDenied`.
  /// Damage in the pages is in the report.
  package static func verifyPages(path: String) throws(StorageError) -> PageReport {
    let file = try OwnedDescriptor(opening: path, flags: O_RDONLY, operation: "check")
    guard let facts = FileFacts.of(descriptor: file.raw), facts.isRegularFile else {
      throw StorageError(.notAStore, operation: "check", path: path, detail: "it is no file")
    }
    return try verifyPages(descriptor: file.raw, path: path) ?? PageReport()
  }

  /// nil for an empty file.
  static func verifyPages(
    descriptor: Int32, path: String
  ) throws(StorageError) -> PageReport? {
    var report: PageReport?
    // A writer that commits twice during each of so many walks is not met in practice; what is
    // then reported is the last walk.
    for _ in 0..<8 {
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

  private static func walk(
    descriptor: Int32, header: StoreHeader, path: String
  ) throws(StorageError) -> PageReport {
    guard let facts = FileFacts.of(descriptor: descriptor), facts.byteCount > 0 else {
      throw StorageError(errno: EIO, operation: "check", path: path)
    }
    let byteCount = Int(facts.byteCount)
    // Private, so that it is not taken for a second opening of the store in this process.
    let map = unsafe mmap(nil, byteCount, PROT_READ, MAP_PRIVATE, descriptor, 0)
    guard let map = unsafe map, unsafe map != MAP_FAILED else {
      throw StorageError(errno: errno, operation: "check", path: path)
    }
    defer { unsafe munmap(map, byteCount) }
    return unsafe PageWalker.walk(
      UnsafeRawBufferPointer(start: map, count: byteCount), header: header)
  }
}
