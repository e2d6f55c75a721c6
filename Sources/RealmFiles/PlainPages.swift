/// The pages of a file that is not encrypted.
struct PlainPages: PageSource {
  /// How many pages are read together.
  private static let stretch = 16

  let file: FileDescriptor
  var byteCount: Int { file.byteCount }

  func fill(
    page: Int, of memory: UnsafeMutableRawBufferPointer
  ) throws(RealmFileError) -> Range<Int> {
    let first = page / Self.stretch * Self.stretch
    let start = first * FileBytes.pageSize
    let end = min(byteCount, start + Self.stretch * FileBytes.pageSize)
    unsafe try file.read(
      at: start, into: UnsafeMutableRawBufferPointer(rebasing: memory[start..<end]))
    return first..<(end + FileBytes.pageSize - 1) / FileBytes.pageSize
  }
}
