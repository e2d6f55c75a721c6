internal import Glibc

/// Memory that is written at random, as in a pass of a radix sort: in huge pages if it is large and
/// the system has them. With small pages the first pass would fault thousands of them in one by
/// one, and each pass would wait for page-table look-ups.
enum HugeMemory {
  private static let pageBytes = 2 << 20

  /// Memory for that many elements, to be freed with `deallocate`.
  static func allocate<Element: BitwiseCopyable>(
    _ type: Element.Type, capacity: Int
  ) -> UnsafeMutablePointer<Element> {
    let needed = max(MemoryLayout<Element>.stride * capacity, 1)
    let isLarge = needed >= 2 * pageBytes
    let alignment = isLarge ? pageBytes : 64
    let bytes = (needed + alignment - 1) / alignment * alignment
    guard let memory = unsafe aligned_alloc(alignment, bytes) else {
      trap("Not enough memory to sort \(capacity) rows.")
    }
    // Only a hint: everything works without huge pages as well.
    if isLarge { _ = unsafe madvise(memory, bytes, MADV_HUGEPAGE) }
    return unsafe memory.bindMemory(to: Element.self, capacity: capacity)
  }

  static func deallocate<Element>(_ memory: UnsafeMutablePointer<Element>) {
    unsafe free(memory)
  }
}
