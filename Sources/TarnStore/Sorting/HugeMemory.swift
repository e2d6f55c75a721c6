internal import Glibc

/// Memory that is written all over, as in a pass of a radix sort: in huge pages if it is large and
/// the system has them. With small ones the first pass would wait for the system to give thousands
/// of them one by one, and each pass for the tables that say where they are.
enum HugeMemory {
  private static let pageBytes = 2 << 20

  /// Room for so many elements, to be given back by `deallocate`.
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
    // Only advice: without huge pages everything works as well.
    if isLarge { _ = unsafe madvise(memory, bytes, MADV_HUGEPAGE) }
    return unsafe memory.bindMemory(to: Element.self, capacity: capacity)
  }

  static func deallocate<Element>(_ memory: UnsafeMutablePointer<Element>) {
    unsafe free(memory)
  }
}
