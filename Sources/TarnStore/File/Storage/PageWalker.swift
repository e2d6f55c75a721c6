internal import Glibc

/// The result of a walk over all pages of a file.
package struct PageReport: Equatable, Sendable {
  package internal(set) var transactionID: UInt64 = 0
  package internal(set) var pageSize = 0
  package internal(set) var pageCount = 0
  package internal(set) var branchPages = 0
  package internal(set) var leafPages = 0
  package internal(set) var overflowPages = 0
  package internal(set) var freePages = 0
  /// Pages that nothing refers to: lost space, harmless.
  package internal(set) var unreachablePages = 0
  package internal(set) var entries = 0
  /// One sentence each, at most `PageWalker.problemsMax`; empty if the file is sound.
  package internal(set) var problems: [String] = []

  package var isSound: Bool { problems.isEmpty }
}

/// Reads every page of a file's trees without trusting them: LMDB follows page numbers, node
/// offsets and lengths unchecked, so this walk detects a damaged file before LMDB reads it.
///
/// Detected: page numbers outside the file or used twice (this includes cycles, and free pages that
/// are in use), pages with another number or kind than their reference says, pages without nodes or
/// marked as being written, lower and upper bounds and node offsets outside the page, nodes that
/// overlap, lengths outside the page, keys out of order or too long, trees whose counts differ from
/// their description, free pages of a future transaction. So a file without problems cannot mislead
/// LMDB. Not detected: changed bytes inside values.
@safe struct PageWalker {
  static let problemsMax = 100
  static let pageHeaderByteCount = 16
  static let nodeHeaderByteCount = 8
  /// The longest key that LMDB accepts.
  static let keyByteCountMax = 511

  private enum Kind: UInt16 {
    case branch = 0x01
    case leaf = 0x02
    case overflow = 0x04
  }
  private struct Page {
    let number: UInt64
    let base: Int
    let nodeCount: Int
    /// Where the nodes' bytes start.
    let upper: Int
  }
  private struct Node {
    let low: UInt64
    let flags: UInt16
    let key: Range<Int>
    let data: Int
  }

  private let bytes: UnsafeRawBufferPointer
  private let header: StoreHeader
  private let pagesThere: UInt64
  /// Whether all pages are checked, or only the path to the last entry of each tree.
  private var isWhole: Bool
  private var seen: [UInt64]
  private var report = PageReport()
  private var treeName = ""
  private var keysAreNumbers = false
  private var previousKey: Range<Int>?
  private var leafDepth = 0
  private var isFromBranch = false
  private var freePagesBeyondEnd: UInt64 = 0
  /// A bit for each two bytes of the current page that belong to a node found so far.
  private var taken: [UInt64]

  /// Walks the file's bytes from the roots in the header.
  static func walk(_ bytes: UnsafeRawBufferPointer, header: StoreHeader) -> PageReport {
    var walker = unsafe PageWalker(bytes, header, isWhole: true)
    walker.walkAll()
    return walker.report
  }

  /// Checks the pages from each root to the last entry of its tree: some ten, however large the
  /// file is. The path to the head record is among them.
  static func walkPaths(_ bytes: UnsafeRawBufferPointer, header: StoreHeader) -> [String] {
    var walker = unsafe PageWalker(bytes, header, isWhole: false)
    walker.walk(header.free, name: "free list", keysAreNumbers: true)
    walker.walk(header.main, name: "tree", keysAreNumbers: false)
    return walker.report.problems
  }

  /// Checks the whole free list, and that the pages from the root to the last entry of the tree are
  /// not in it. Every commit rewrites these pages, so a list of another state names some of them.
  /// Costs time for each page of the list.
  static func walkFreeList(_ bytes: UnsafeRawBufferPointer, header: StoreHeader) -> [String] {
    var walker = unsafe PageWalker(bytes, header, isWhole: true)
    _ = walker.take(0)
    _ = walker.take(1)
    walker.walk(header.free, name: "free list", keysAreNumbers: true)
    walker.isWhole = false
    walker.walk(header.main, name: "tree", keysAreNumbers: false)
    return walker.report.problems
  }

  private init(_ bytes: UnsafeRawBufferPointer, _ header: StoreHeader, isWhole: Bool) {
    unsafe self.bytes = bytes
    self.isWhole = isWhole
    self.header = header
    pagesThere = min(UInt64(bytes.count / header.pageSize), header.lastPage + 1)
    seen = isWhole ? [UInt64](repeating: 0, count: Int(pagesThere / 64) + 1) : []
    taken = [UInt64](repeating: 0, count: header.pageSize / 128 + 1)
    report.transactionID = header.transactionID
    report.pageSize = header.pageSize
    report.pageCount = Int(header.lastPage + 1)
  }

  private mutating func walkAll() {
    _ = take(0)
    _ = take(1)
    walk(header.free, name: "free list", keysAreNumbers: true)
    walk(header.main, name: "tree", keysAreNumbers: false)
    let used = 2 + report.branchPages + report.leafPages + report.overflowPages + report.freePages
    report.unreachablePages = max(0, report.pageCount - used)
    // LMDB does not write a page that is freed in the commit that allocated it.
    let missing = header.lastPage + 1 - pagesThere
    if missing != freePagesBeyondEnd {
      add("\(missing) pages at the end of the file are missing, \(freePagesBeyondEnd) of them free")
    }
  }

  private mutating func walk(_ tree: StoreHeader.Tree, name: String, keysAreNumbers: Bool) {
    let before = report
    treeName = name
    self.keysAreNumbers = keysAreNumbers
    previousKey = nil
    leafDepth = Int(tree.depth)
    if tree.root != StoreHeader.noPage { visit(tree.root, depth: 1) }
    guard isWhole else { return }
    let counts = [
      ("branch pages", report.branchPages - before.branchPages, tree.branchPages),
      ("leaf pages", report.leafPages - before.leafPages, tree.leafPages),
      ("overflow pages", report.overflowPages - before.overflowPages, tree.overflowPages),
      ("entries", report.entries - before.entries, tree.entries),
    ]
    for (what, found, described) in counts where UInt64(found) != described {
      add("the \(name) has \(found) \(what), its description says \(described)")
    }
  }

  private mutating func visit(_ number: UInt64, depth: Int) {
    let kind: Kind = depth == leafDepth ? .leaf : .branch
    guard let page = open(number, kind) else { return }
    if kind == .branch { report.branchPages += 1 } else { report.leafPages += 1 }
    checkNodesAreApart(page, isBranch: kind == .branch)
    for index in 0..<page.nodeCount {
      guard let node = node(index, in: page, isBranch: kind == .branch) else { continue }
      if kind == .branch {
        // The first key of a branch page is empty and never read.
        guard isWhole || index == page.nodeCount - 1 else { continue }
        visit(node.low | UInt64(node.flags) << 32, depth: depth + 1)
      } else {
        check(node, of: page, index)
      }
    }
  }

  /// Nodes are adjacent from the upper bound to the end of the page, in any order. LMDB moves them
  /// by their lengths when it changes a page.
  private mutating func checkNodesAreApart(_ page: Page, isBranch: Bool) {
    for index in taken.indices { taken[index] = 0 }
    var total = 0
    for index in 0..<page.nodeCount {
      guard let byteRange = byteRange(ofNode: index, in: page, isBranch: isBranch) else { return }
      total += byteRange.count
      guard takeBytes(byteRange) else {
        add("page \(page.number), node \(index): it overlaps another")
        return
      }
    }
    if page.upper + total != header.pageSize {
      add("page \(page.number): its nodes have \(total) bytes from \(page.upper) on")
    }
  }

  /// The bytes of a node in its page; nil if they extend past it, which is reported elsewhere.
  private func byteRange(ofNode index: Int, in page: Page, isBranch: Bool) -> Range<Int>? {
    let offset = Int(load(page.base + Self.pageHeaderByteCount + 2 * index) as UInt16)
    guard offset >= page.upper, offset % 2 == 0,
      offset + Self.nodeHeaderByteCount <= header.pageSize
    else { return nil }
    let at = page.base + offset
    let low = Int(load(at) as UInt16) | Int(load(at + 2) as UInt16) << 16
    let flags: UInt16 = load(at + 4)
    let data = isBranch ? 0 : flags & 0x01 != 0 ? 8 : low
    let byteCount = Self.nodeHeaderByteCount + Int(load(at + 6) as UInt16) + data
    let end = offset + (byteCount + 1) & ~1
    return end <= header.pageSize ? offset..<end : nil
  }

  /// Marks these bytes of the current page; false if some were marked already.
  private mutating func takeBytes(_ range: Range<Int>) -> Bool {
    var bit = range.lowerBound / 2
    let end = range.upperBound / 2
    while bit < end {
      let count = min(64 - bit % 64, end - bit)
      let mask = (UInt64.max >> UInt64(64 - count)) << UInt64(bit % 64)
      guard taken[bit / 64] & mask == 0 else { return false }
      taken[bit / 64] |= mask
      bit += count
    }
    return true
  }

  /// Marks the page as visited; false, with the problem noted, if it cannot be visited.
  private mutating func take(_ number: UInt64) -> Bool {
    guard number <= header.lastPage else {
      add("page \(number) is used but lies beyond the last page, \(header.lastPage)")
      return false
    }
    guard number < pagesThere else {
      add("page \(number) is used but missing at the end of the file")
      return false
    }
    guard !seen.isEmpty else { return true }
    let (word, bit) = (Int(number / 64), UInt64(1) << (number % 64))
    guard seen[word] & bit == 0 else {
      add("page \(number) is used twice")
      return false
    }
    seen[word] |= bit
    return true
  }

  private mutating func open(_ number: UInt64, _ kind: Kind) -> Page? {
    guard take(number) else { return nil }
    let base = Int(number) * header.pageSize
    let own: UInt64 = load(base)
    let flags: UInt16 = load(base + 10)
    let lower = Int(load(base + 12) as UInt16)
    let upper = Int(load(base + 14) as UInt16)
    guard own == number else {
      add("page \(number) is marked as page \(own)")
      return nil
    }
    // A page that is marked as being written would be changed in place.
    guard flags == kind.rawValue else {
      add("page \(number) of the \(treeName) is not a \(kind) page")
      return nil
    }
    guard lower >= Self.pageHeaderByteCount, lower <= upper, upper <= header.pageSize,
      lower % 2 == 0
    else {
      add("page \(number) has bounds \(lower) and \(upper)")
      return nil
    }
    let nodeCount = (lower - Self.pageHeaderByteCount) / 2
    guard nodeCount >= (kind == .branch && !keysAreNumbers ? 2 : 1) else {
      add("page \(number) of the \(treeName) has \(nodeCount) nodes")
      return nil
    }
    return Page(number: number, base: base, nodeCount: nodeCount, upper: upper)
  }

  private mutating func node(_ index: Int, in page: Page, isBranch: Bool) -> Node? {
    let pointer = page.base + Self.pageHeaderByteCount + 2 * index
    let offset = Int(load(pointer) as UInt16)
    guard offset >= page.upper, offset % 2 == 0,
      offset + Self.nodeHeaderByteCount <= header.pageSize
    else {
      add("page \(page.number), node \(index): it starts at \(offset)")
      return nil
    }
    let at = page.base + offset
    let low = UInt64(load(at) as UInt16) | UInt64(load(at + 2) as UInt16) << 16
    let flags: UInt16 = load(at + 4)
    let keyByteCount = Int(load(at + 6) as UInt16)
    let key = at + 8..<at + 8 + keyByteCount
    guard key.upperBound <= page.base + header.pageSize else {
      add("page \(page.number), node \(index): its key has \(keyByteCount) bytes")
      return nil
    }
    if !isBranch || index > 0 { checkOrder(of: key, page, index, isBranch: isBranch) }
    return Node(low: low, flags: flags, key: key, data: key.upperBound)
  }

  private mutating func check(_ node: Node, of page: Page, _ index: Int) {
    report.entries += 1
    let byteCount = Int(node.low)
    let end = page.base + header.pageSize
    guard node.flags & ~0x01 == 0 else {
      add("page \(page.number), node \(index): flags \(node.flags)")
      return
    }
    if node.flags == 0 {
      guard node.data + byteCount <= end else {
        add("page \(page.number), node \(index): its value has \(byteCount) bytes")
        return
      }
      if keysAreNumbers, isWhole { checkFreePages(at: node.data, byteCount: byteCount) }
      return
    }
    guard node.data + 8 <= end else {
      add("page \(page.number), node \(index): the number of its value's page is cut off")
      return
    }
    if isWhole { checkOverflow(load(node.data), byteCount: byteCount) }
  }

  private mutating func checkOverflow(_ first: UInt64, byteCount: Int) {
    guard take(first) else { return }
    let base = Int(first) * header.pageSize
    let own: UInt64 = load(base)
    let flags: UInt16 = load(base + 10)
    let pages = UInt64(load(base + 12) as UInt32)
    let needed = (Self.pageHeaderByteCount + byteCount + header.pageSize - 1) / header.pageSize
    guard own == first, flags == Kind.overflow.rawValue, pages == needed else {
      add("page \(first) is not the start of a value of \(byteCount) bytes")
      return
    }
    report.overflowPages += Int(pages)
    for number in first + 1..<first + pages {
      guard take(number) else { return }
    }
    if keysAreNumbers {
      checkFreePages(at: base + Self.pageHeaderByteCount, byteCount: byteCount)
    }
  }

  /// An entry of the free list: a count, then the page numbers, descending.
  private mutating func checkFreePages(at offset: Int, byteCount: Int) {
    guard byteCount >= 8, byteCount % 8 == 0 else {
      add("an entry of the free list has \(byteCount) bytes")
      return
    }
    let count: UInt64 = load(offset)
    guard count <= UInt64(byteCount / 8 - 1) else {
      add("an entry of the free list holds \(count) pages in \(byteCount) bytes")
      return
    }
    var above = UInt64.max
    for index in 0..<Int(count) {
      let number: UInt64 = load(offset + 8 + 8 * index)
      guard number < above, number >= 2, number <= header.lastPage else {
        add("the free list names page \(number) out of order")
        return
      }
      above = number
      report.freePages += 1
      if number < pagesThere { _ = take(number) } else { freePagesBeyondEnd += 1 }
    }
  }

  private mutating func checkOrder(
    of key: Range<Int>, _ page: Page, _ index: Int, isBranch: Bool
  ) {
    if keysAreNumbers, key.count != 8 {
      add("page \(page.number), node \(index): a key of the free list has \(key.count) bytes")
      return
    }
    if !keysAreNumbers, key.isEmpty || key.count > Self.keyByteCountMax {
      add("page \(page.number), node \(index): a key of \(key.count) bytes")
      return
    }
    if keysAreNumbers {
      let transaction: UInt64 = load(key.lowerBound)
      guard (1...max(1, header.transactionID)).contains(transaction) else {
        add("page \(page.number), node \(index): pages that transaction \(transaction) freed")
        return
      }
    }
    // A separator in a branch may equal the first key below it, never the last key before it.
    if let previous = previousKey, compare(previous, key) >= 0, !(isFromBranch && !isBranch) {
      add("page \(page.number), node \(index): its key is not above the one before it")
    } else if let previous = previousKey, compare(previous, key) > 0 {
      add("page \(page.number), node \(index): its key is below its branch's")
    }
    previousKey = key
    isFromBranch = isBranch
  }

  private func compare(_ a: Range<Int>, _ b: Range<Int>) -> Int {
    if keysAreNumbers {
      let (left, right): (UInt64, UInt64) = (load(a.lowerBound), load(b.lowerBound))
      return left < right ? -1 : left == right ? 0 : 1
    }
    let order = unsafe memcmp(
      bytes.baseAddress! + a.lowerBound, bytes.baseAddress! + b.lowerBound, min(a.count, b.count))
    return order != 0 ? Int(order) : a.count - b.count
  }

  /// The caller has checked that the bytes exist: pages are whole, and offsets stay inside them.
  private func load<T: BitwiseCopyable>(_ offset: Int) -> T {
    unsafe bytes.loadUnaligned(fromByteOffset: offset, as: T.self)
  }

  private mutating func add(_ problem: String) {
    if report.problems.count < Self.problemsMax { report.problems.append(problem) }
  }
}
