internal import Glibc

/// The two meta pages at the start of a file, in the layout of LMDB 0.9. The library reads them
/// before LMDB does, because LMDB divides by numbers in them and maps as much as they say.
///
/// Page header, 16 bytes: u64 page number, u16 pad, u16 flags, u16 lower, u16 upper (or u32 pages
/// of an overflow run). Meta, from byte 16: u32 magic, u32 version, u64 address, u64 map size, two
/// trees (free list, main) of 48 bytes, u64 last page, u64 transaction id. Tree: u32 pad (page size
/// in the first), u16 flags, u16 depth, u64 branch, leaf and overflow pages, u64 entries, u64 root.
struct StoreHeader: Equatable {
  struct Tree: Equatable {
    let flags: UInt16
    let depth: UInt16
    let branchPages: UInt64
    let leafPages: UInt64
    let overflowPages: UInt64
    let entries: UInt64
    /// `noPage` if the tree is empty.
    let root: UInt64
  }

  static let noPage = UInt64.max
  static let magic: UInt32 = 0xBEEF_C0DE
  static let metaByteCount = 16 + 136
  /// The bytes that a commit writes: the meta from its map size on.
  static let changingBytes = 32..<metaByteCount
  static let pageSizes = [512, 1024, 2048, 4096, 8192, 16384, 32768]

  let pageSize: Int
  let free: Tree
  let main: Tree
  let lastPage: UInt64
  let transactionID: UInt64

  /// The file's length if no page at its end is missing.
  var byteCount: UInt64 { (lastPage + 1) * UInt64(pageSize) }

  /// No transaction id gets this high, so adding to LMDB's ids cannot overflow or become negative.
  static let transactionIDMax: UInt64 = 1 << 62

  /// The newer of the two metas; nil for a file that is to become a store: an empty one, and one
  /// whose creation was cut short.
  ///
  /// A writer may be writing a header page: a damaged one is read again.
  ///
  /// Errors: `.notAStore` for other files, `.newerFormat`, `.corrupted`.
  static func read(descriptor: Int32, path: String) throws(StorageError) -> StoreHeader? {
    do throws(StorageError) {
      return try readOnce(descriptor, path)
    } catch {
      return try readOnce(descriptor, path)
    }
  }

  private static func readOnce(
    _ descriptor: Int32, _ path: String
  ) throws(StorageError) -> StoreHeader? {
    let first = try bytes(of: descriptor, at: 0, path)
    if first.isEmpty { return nil }
    guard hasMagic(first) else {
      if try isUnfinished(descriptor, path) { return nil }
      for size in pageSizes where hasMagic(try bytes(of: descriptor, at: size, path)) {
        throw corrupted(path, "its first page is damaged")
      }
      if first.allSatisfy({ $0 == 0 }) { throw corrupted(path, "it begins with zeros") }
      throw StorageError(
        .notAStore, operation: "open", path: path,
        detail: first.dropFirst(16).prefix(4).elementsEqual("T-DB".utf8)
          ? "the file is a Realm file: 'tarn import FILE' makes a store of it"
          : "the file is not a store")
    }
    let metas = unsafe first.withUnsafeBytes { unsafe MetaFields($0) }
    try metas.check(path: path, page: 0)
    let second = try bytes(of: descriptor, at: metas.pageSize, path)
    guard hasMagic(second) else { throw corrupted(path, "its second page is damaged") }
    let others = unsafe second.withUnsafeBytes { unsafe MetaFields($0) }
    try others.check(path: path, page: 1)
    guard metas.pageSize == others.pageSize else {
      throw corrupted(path, "its first two pages disagree on the size of a page")
    }
    let isSecond = metas.header.transactionID < others.header.transactionID
    let newer = isSecond ? others : metas
    try newer.checkTrees(path: path, page: isSecond ? 1 : 0)
    return newer.header
  }

  /// The headers that are sound by themselves, the newer one first: for a damaged file.
  static func each(descriptor: Int32, path: String) -> [StoreHeader] {
    var found: [StoreHeader] = []
    for offset in [0] + pageSizes {
      guard let bytes = try? bytes(of: descriptor, at: offset, path), hasMagic(bytes) else {
        continue
      }
      let metas = unsafe bytes.withUnsafeBytes { unsafe MetaFields($0) }
      let page = offset == 0 ? 0 : 1
      guard page == 0 || offset == metas.pageSize,
        (try? metas.check(path: path, page: page)) != nil,
        (try? metas.checkTrees(path: path, page: page)) != nil
      else { continue }
      found.append(metas.header)
    }
    return found.sorted { $0.transactionID > $1.transactionID }
  }

  static func missing(_ path: String) -> StorageError {
    StorageError(
      .notAStore, operation: "open", path: path, detail: "the file holds no store yet")
  }

  static func corrupted(_ path: String, _ detail: String) -> StorageError {
    StorageError(
      .corrupted, operation: "open", path: path, detail: "the file is damaged: \(detail)")
  }

  /// The pages of a file that holds only a new store: two headers, and the one page of its tree.
  static let newPageCount = 3

  /// The mark of a file in which a store is being made, which the first header page replaces.
  static let unfinishedMark = Array("tarn: unfinished".utf8)
  static let unfinishedMarkRange = 2048..<2048 + unfinishedMark.count

  /// True if `NewStore` was cut short in this file. It writes the first page last, so that page has
  /// nothing but its mark; the second, written before it, is zeros or the header that every store
  /// begins with. Zeros without the mark are damage, and so are those in a file that is longer than
  /// a new store.
  private static func isUnfinished(
    _ descriptor: Int32, _ path: String
  ) throws(StorageError) -> Bool {
    let fileByteCount = try FileFacts.known(of: descriptor, path, "open").byteCount
    guard fileByteCount <= newPageCount * pageSizes.max()! else { return false }
    var all = try bytes(of: descriptor, at: 0, count: Int(fileByteCount), path)
    guard all.count == fileByteCount else { return false }
    let mark = unfinishedMarkRange
    // The mark itself may be missing on the disk. No store is that short.
    if all.count <= mark.upperBound, isZero(all[...]) { return true }
    guard all.count >= mark.upperBound, Array(all[mark]) == unfinishedMark else { return false }
    for index in mark { all[index] = 0 }
    let pageSize = pageSizes.first { size in
      hasMagic(Array(all.dropFirst(size).prefix(metaByteCount)))
    }
    guard let pageSize else {
      let size = min(sysconf(Int32(_SC_PAGESIZE)), pageSizes.max()!)
      return all.count <= newPageCount * size && isZero(all.prefix(2 * size))
    }
    let second = unsafe all.withUnsafeBytes {
      unsafe MetaFields(UnsafeRawBufferPointer(rebasing: $0[pageSize...]))
    }
    return all.count <= newPageCount * pageSize && isZero(all.prefix(pageSize))
      && second.pageSize == pageSize && second.header.transactionID <= 1
  }

  private static func isZero(_ bytes: ArraySlice<UInt8>) -> Bool { bytes.allSatisfy { $0 == 0 } }

  /// Fewer bytes only at the end of the file. A page that cannot be read is an error, because a
  /// file without bytes would become a new store.
  private static func bytes(
    of descriptor: Int32, at offset: Int, count: Int = metaByteCount, _ path: String
  ) throws(StorageError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    var found = 0
    while found < count {
      let more = unsafe bytes.withUnsafeMutableBytes {
        unsafe pread(descriptor, $0.baseAddress! + found, $0.count - found, off_t(offset + found))
      }
      if more < 0 && errno == EINTR { continue }
      guard more >= 0 else {
        throw StorageError(errno: errno, operation: "open", path: path, call: "pread")
      }
      if more == 0 { break }
      found += more
    }
    return Array(bytes.prefix(found))
  }

  private static func hasMagic(_ bytes: [UInt8]) -> Bool {
    guard bytes.count == metaByteCount else { return false }
    let found = unsafe bytes.withUnsafeBytes {
      unsafe $0.loadUnaligned(fromByteOffset: 16, as: UInt32.self)
    }
    return found == magic
  }
}

/// One meta page's unchecked fields.
private struct MetaFields {
  let pageNumber: UInt64
  let pageFlags: UInt16
  let version: UInt32
  let pageSize: Int
  let header: StoreHeader

  init(_ bytes: UnsafeRawBufferPointer) {
    pageNumber = unsafe bytes.loadUnaligned(fromByteOffset: 0, as: UInt64.self)
    pageFlags = unsafe bytes.loadUnaligned(fromByteOffset: 10, as: UInt16.self)
    version = unsafe bytes.loadUnaligned(fromByteOffset: 20, as: UInt32.self)
    pageSize = Int(unsafe bytes.loadUnaligned(fromByteOffset: 40, as: UInt32.self))
    header = unsafe StoreHeader(
      pageSize: pageSize, free: Self.tree(bytes, 40), main: Self.tree(bytes, 88),
      lastPage: bytes.loadUnaligned(fromByteOffset: 136, as: UInt64.self),
      transactionID: bytes.loadUnaligned(fromByteOffset: 144, as: UInt64.self))
  }

  private static func tree(_ bytes: UnsafeRawBufferPointer, _ at: Int) -> StoreHeader.Tree {
    unsafe StoreHeader.Tree(
      flags: bytes.loadUnaligned(fromByteOffset: at + 4, as: UInt16.self),
      depth: bytes.loadUnaligned(fromByteOffset: at + 6, as: UInt16.self),
      branchPages: bytes.loadUnaligned(fromByteOffset: at + 8, as: UInt64.self),
      leafPages: bytes.loadUnaligned(fromByteOffset: at + 16, as: UInt64.self),
      overflowPages: bytes.loadUnaligned(fromByteOffset: at + 24, as: UInt64.self),
      entries: bytes.loadUnaligned(fromByteOffset: at + 32, as: UInt64.self),
      root: bytes.loadUnaligned(fromByteOffset: at + 40, as: UInt64.self))
  }

  private func damaged(_ path: String, _ page: Int, _ what: String) -> StorageError {
    StoreHeader.corrupted(path, "page \(page) \(what)")
  }

  func check(path: String, page: Int) throws(StorageError) {
    if version != 1 {
      throw StorageError(
        .newerFormat, operation: "open", path: path,
        detail: "the file has version \(version) of its page format; this library reads version 1")
    }
    guard pageFlags == 0x08 else { throw damaged(path, page, "is not marked as a header") }
    // Both would show the older version.
    guard pageNumber == UInt64(page) else {
      throw damaged(path, page, "is page \(pageNumber), which was written to the wrong place")
    }
    guard StoreHeader.pageSizes.contains(pageSize) else {
      throw damaged(path, page, "has a bad page size")
    }
    guard header.lastPage >= 1, header.lastPage < UInt64(Int64.max) / UInt64(pageSize) - 1 else {
      throw damaged(path, page, "has an impossible last page")
    }
    guard header.transactionID < StoreHeader.transactionIDMax else {
      throw damaged(path, page, "has an impossible transaction")
    }
    // Integer keys in the free list, and none of the kinds of trees that a store does not use.
    guard header.free.flags & 0x7e == 0x08 else {
      throw damaged(path, page, "has a free list of the wrong kind")
    }
    guard header.main.flags == 0 else {
      throw StorageError(
        .notAStore, operation: "open", path: path,
        detail: "the file belongs to another program that uses the same storage engine")
    }
  }

  /// Checks the fields that are used of the newer one only. If the disk failed while writing a
  /// header, LMDB leaves the trees of the failed commit, with the transaction id and last page of
  /// an older one.
  func checkTrees(path: String, page: Int) throws(StorageError) {
    for tree in [header.free, header.main] {
      let isEmpty = tree.root == StoreHeader.noPage
      guard isEmpty || (tree.root >= 2 && tree.root <= header.lastPage) else {
        throw damaged(path, page, "has a root outside the file")
      }
      guard isEmpty == (tree.depth == 0), tree.depth <= 32 else {
        throw damaged(path, page, "has a bad depth")
      }
    }
  }
}
