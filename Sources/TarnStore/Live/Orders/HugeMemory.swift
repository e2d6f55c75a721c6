internal import Glibc

/// Memory that is written at random, as in a pass of a radix sort: in huge pages if it is large and
/// the system has them. With small pages the first pass would fault thousands of them in one by
/// one, and each pass would wait for page-table look-ups.
enum HugeMemory {
  private static let pageBytes = 2 << 20

  /// Memory for that many elements, to be freed with `deallocate`.
  ///
  /// Errors: `.addressSpace` if the system has none left.
  static func allocate<Element: BitwiseCopyable>(
    _ type: Element.Type, capacity: Int
  ) throws(StorageError) -> UnsafeMutablePointer<Element> {
    let needed = max(MemoryLayout<Element>.stride * capacity, 1)
    let isLarge = needed >= 2 * pageBytes
    let alignment = isLarge ? pageBytes : 64
    let bytes = (needed + alignment - 1) / alignment * alignment
    guard let memory = unsafe aligned_alloc(alignment, bytes) else {
      throw StorageError(
        .addressSpace, operation: "sort", path: "",
        detail: "the process has no memory left for \(capacity) rows")
    }
    // Only a hint: everything works without huge pages as well.
    if isLarge { _ = unsafe madvise(memory, bytes, MADV_HUGEPAGE) }
    return unsafe memory.bindMemory(to: Element.self, capacity: capacity)
  }

  static func deallocate<Element>(_ memory: UnsafeMutablePointer<Element>) {
    unsafe free(memory)
  }
}
