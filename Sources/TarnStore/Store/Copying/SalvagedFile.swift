internal import Glibc

/// The pages of a damaged file, read one by one. A page that cannot be read is as good as damaged.
final class SalvagedFile {
  let pageSize: Int
  let pageCount: UInt64
  private let file: Int32
  /// A bit for each page that was found in use.
  private var seen: [UInt64]

  /// - Parameter file: stays open as long as this value.
  init(_ file: Int32, byteCount: Int64, pageSize: Int) {
    self.file = file
    self.pageSize = pageSize
    pageCount = UInt64(byteCount) / UInt64(pageSize)
    seen = [UInt64](repeating: 0, count: Int(pageCount / 64) + 1)
  }

  /// The bytes of adjacent pages; nil if the file does not have all of them.
  func bytes(ofPage number: UInt64, count: Int = 1) -> [UInt8]? {
    guard number >= 2, number < pageCount, count > 0, UInt64(count) <= pageCount - number else {
      return nil
    }
    var bytes = [UInt8](repeating: 0, count: count * pageSize)
    let found = unsafe bytes.withUnsafeMutableBytes {
      unsafe pread(file, $0.baseAddress, $0.count, off_t(number) * off_t(pageSize))
    }
    return found == bytes.count ? bytes : nil
  }

  func isSeen(_ number: UInt64) -> Bool {
    number < pageCount && seen[Int(number / 64)] >> (number % 64) & 1 == 1
  }

  /// Marks a page as used; false if it was already.
  func see(_ number: UInt64) -> Bool {
    guard number < pageCount, !isSeen(number) else { return false }
    seen[Int(number / 64)] |= 1 << (number % 64)
    return true
  }

  /// Marks no page as used.
  func forgetSeen() -> [UInt64] {
    defer { for index in seen.indices { seen[index] = 0 } }
    return seen
  }

  /// Marks these pages as used, too.
  func see(_ others: [UInt64]) {
    for index in seen.indices { seen[index] |= others[index] }
  }
}

/// A branch or leaf page of a damaged file, and those of its nodes that lie inside it.
struct SalvagedPage {
  struct Node {
    let key: [UInt8]
    /// The page below a branch, or the page of a leaf's value with pages of its own.
    let page: UInt64?
    /// The bytes of a leaf's value in this page.
    let value: Range<Int>
    /// The length of the value.
    let byteCount: Int
  }

  let isBranch: Bool
  let bytes: [UInt8]
  /// Nil for nodes that lie outside.
  let nodes: [Node?]

  /// Nil for another kind of page.
  init?(_ bytes: [UInt8], number: UInt64) {
    func load<T: FixedWidthInteger & BitwiseCopyable>(_ offset: Int) -> T {
      unsafe bytes.withUnsafeBytes {
        unsafe T(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: T.self))
      }
    }
    let header = PageWalker.pageHeaderByteCount
    let flags: UInt16 = load(10)
    let lower = Int(load(12) as UInt16)
    guard load(0) as UInt64 == number, flags == 1 || flags == 2, lower >= header,
      lower <= bytes.count, lower % 2 == 0
    else { return nil }
    let branches = flags == 1
    isBranch = branches
    self.bytes = bytes
    nodes = (0..<(lower - header) / 2).map { index in
      let offset = Int(load(header + 2 * index) as UInt16)
      guard offset >= lower, offset + PageWalker.nodeHeaderByteCount <= bytes.count else {
        return nil
      }
      let low = UInt64(load(offset) as UInt16) | UInt64(load(offset + 2) as UInt16) << 16
      let flags: UInt16 = load(offset + 4)
      let start = offset + PageWalker.nodeHeaderByteCount
      let end = start + Int(load(offset + 6) as UInt16)
      guard end <= bytes.count else { return nil }
      let key = Array(bytes[start..<end])
      if branches {
        return Node(key: key, page: low | UInt64(flags) << 32, value: 0..<0, byteCount: 0)
      }
      guard !key.isEmpty, key.count <= PageWalker.keyByteCountMax else { return nil }
      let count = Int(low)
      if flags == 1, end + 8 <= bytes.count {
        return Node(key: key, page: load(end), value: 0..<0, byteCount: count)
      }
      guard flags == 0, end + count <= bytes.count else { return nil }
      return Node(key: key, page: nil, value: end..<end + count, byteCount: count)
    }
  }
}
