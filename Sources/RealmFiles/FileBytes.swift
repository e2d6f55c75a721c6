import Glibc

/// Where the plain bytes of a file come from.
protocol PageSource {
  /// The size of the plain file.
  var byteCount: Int { get }
  /// Puts a page, and perhaps some after it, into the memory of the whole file.
  ///
  /// - Returns: the pages that are there now.
  func fill(
    page: Int, of memory: UnsafeMutableRawBufferPointer
  ) throws(RealmFileError) -> Range<Int>
}

/// The plain bytes of a file, read page by page when they are first used.
///
/// The file has one place in the address space, and pages come into it by `pread`: a mapped file
/// would end the process if another program cut it. `trim` gives the memory back. Not thread safe.
@safe package final class FileBytes {
  static let pageSize = 4096

  let count: Int
  private let memory: UnsafeMutableRawBufferPointer
  private let source: any PageSource
  /// A bit for each page that is in memory.
  private var present: [UInt64]
  private var residentPages = 0
  /// The most memory that stays in use after `trim`.
  private let residentBytesMax: Int
  /// How many bytes of arrays may still be visited.
  private var budget = 0

  init(_ source: any PageSource, residentBytesMax: Int) throws(RealmFileError) {
    self.residentBytesMax = residentBytesMax
    self.source = source
    count = source.byteCount
    let pages = (count + Self.pageSize - 1) / Self.pageSize
    let room = max(1, pages) * Self.pageSize
    let base = unsafe mmap(
      nil, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
    present = Array(repeating: 0, count: (pages + 63) / 64)
    guard let base = unsafe base, unsafe base != MAP_FAILED else {
      unsafe memory = UnsafeMutableRawBufferPointer(start: nil, count: 0)
      throw RealmFileError(
        .unreadable, "there is no room in the address space for \(count) bytes")
    }
    unsafe memory = UnsafeMutableRawBufferPointer(start: base, count: room)
    renewBudget()
  }

  deinit {
    if let base = unsafe memory.baseAddress { unsafe munmap(base, memory.count) }
  }

  /// Reads the pages of these bytes, which the caller uses next.
  @inline(__always)
  func prepare(_ offset: Int, _ length: Int) throws(RealmFileError) {
    guard offset >= 0, length >= 0, offset <= count, length <= count - offset else {
      throw .damaged("an array ends behind the end of the file", at: offset)
    }
    if length == 0 { return }
    for page in offset / Self.pageSize...(offset + length - 1) / Self.pageSize
    where present[page >> 6] & (1 << UInt64(page & 63)) == 0 {
      try read(page)
    }
  }

  @inline(never)
  private func read(_ page: Int) throws(RealmFileError) {
    for filled in unsafe try source.fill(page: page, of: memory) {
      present[filled >> 6] |= 1 << UInt64(filled & 63)
      residentPages += 1
    }
  }

  /// Forgets all pages if they take much memory. Views stay valid only if they prepare their bytes
  /// again.
  ///
  /// - Returns: whether pages were forgotten.
  func trim() -> Bool {
    guard residentPages * Self.pageSize > residentBytesMax else { return false }
    unsafe madvise(memory.baseAddress, memory.count, MADV_DONTNEED)
    for word in present.indices { present[word] = 0 }
    residentPages = 0
    return true
  }

  // MARK: - Work

  /// In a sound file nothing belongs to two owners, so that a walk over everything visits at most
  /// as many bytes as the file has. Some are visited again for embedded objects.
  func renewBudget() { budget = 4 * count + 1 << 16 }

  /// Notes bytes that are visited. An array that many refer to would otherwise be read for as long
  /// as the product of two sizes.
  func charge(_ bytes: Int, at offset: Int) throws(RealmFileError) {
    budget -= bytes
    guard budget >= 0 else { throw .damaged("parts of the file have several owners", at: offset) }
  }

  // MARK: - Reading

  /// A little-endian number. Its bytes have been prepared.
  @inline(__always)
  func load<T: FixedWidthInteger & BitwiseCopyable>(_ offset: Int, as type: T.Type) -> T {
    require(offset >= 0 && offset <= count - MemoryLayout<T>.size, "a number outside of the file")
    return unsafe T(
      littleEndian: memory.loadUnaligned(fromByteOffset: offset, as: type))
  }

  /// Bytes that have been prepared.
  func array(_ range: Range<Int>) -> [UInt8] {
    require(range.lowerBound >= 0 && range.upperBound <= count, "bytes outside of the file")
    return unsafe Array(memory[range])
  }

  /// Text that has been prepared; nil if it is not UTF-8.
  @inline(__always)
  func text(_ range: Range<Int>) -> String? {
    require(range.lowerBound >= 0 && range.upperBound <= count, "bytes outside of the file")
    return unsafe String(
      validating: UnsafeRawBufferPointer(rebasing: memory[range]), as: UTF8.self)
  }

  /// Whether prepared bytes are all zero.
  @inline(__always)
  func areZero(_ range: Range<Int>) -> Bool {
    require(range.lowerBound >= 0 && range.upperBound <= count, "bytes outside of the file")
    for offset in range where unsafe memory[offset] != 0 { return false }
    return true
  }
}
