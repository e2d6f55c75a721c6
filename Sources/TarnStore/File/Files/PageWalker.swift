internal import Glibc

/// Reads every page of a file's trees without trusting them: LMDB follows page numbers, node
/// offsets and lengths unchecked, so this walk detects a damaged file before LMDB reads it.
///
/// Detected: page numbers outside the file or used twice (this includes cycles, and free pages that
/// are in use), pages with another number or kind than their reference says, pages without nodes or
/// marked as being written, lower and upper bounds and node offsets outside the page, nodes that
/// overlap, lengths outside the page, keys out of order or too long, trees whose counts differ from
/// their description, free pages of a future transaction. So a file without problems cannot mislead
/// LMDB. Not detected: changed bytes inside values.
///
/// Each page is read with `pread`, also those of values, because an access to a mapped page that
/// the disk cannot read ends the process (SIGBUS). Here it is a problem that names the page.
@safe struct PageWalker: ~Copyable {
  /// Reads the page with that number into the memory, which is one page long. Returns 0, or the
  /// system's error number, `ENODATA` at the end of the file.
  typealias ReadPage = (_ number: UInt64, _ into: UnsafeMutableRawBufferPointer) -> Int32

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
  @safe fileprivate struct Page {
    let number: UInt64
    /// Valid until another page is read at the same depth.
    let bytes: UnsafeRawBufferPointer
    let nodeCount: Int
    /// Where the nodes' bytes start.
    let upper: Int
  }
  private struct Node {
    let low: UInt64
    let flags: UInt16
    let data: Int
  }
  /// An entry of the free list, as far as it was read: a count, then the page numbers, descending.
  private struct FreeEntry {
    let byteCount: Int
    var count: UInt64?
    var found: UInt64 = 0
    var above = UInt64.max
    var isDamaged = false
  }

  private let read: ReadPage
  private let header: StoreHeader
  private let pagesThere: UInt64
  /// Whether all pages are checked, or only the path to the last entry of each tree.
  private var isWhole: Bool
  private var seen: [UInt64]
  private var report = PageReport()
  private var treeName = ""
  private var keysAreNumbers = false
  /// A copy, because its page may be gone.
  private var previousKey: [UInt8] = []
  private var hasPreviousKey = false
  private var leafDepth = 0
  private var isFromBranch = false
  private var freePagesBeyondEnd: UInt64 = 0
  /// A bit for each two bytes of the current page that belong to a node found so far.
  private var taken: [UInt64]
  /// Memory for a page at each depth; the first is for pages of values.
  private var memory: [UnsafeMutableRawBufferPointer] = unsafe []

  /// Walks the pages from the roots in the header.
  ///
  /// - Parameter pagesThere: the pages that the file has.
  static func walk(
    pagesThere: UInt64, header: StoreHeader, read: @escaping ReadPage
  ) -> PageReport {
    var walker = unsafe PageWalker(pagesThere, header, isWhole: true, read)
    walker.walkAll()
    return walker.report
  }

  static func walk(
    _ descriptor: Int32, byteCount: Int64, header: StoreHeader
  ) -> PageReport {
    var walker = PageWalker(descriptor, byteCount, header, isWhole: true)
    walker.walkAll()
    return walker.report
  }

  /// Checks the pages from each root to the last entry of its tree: some ten, however large the
  /// file is. The path to the head record is among them.
  static func walkPaths(
    _ descriptor: Int32, byteCount: Int64, header: StoreHeader
  ) -> [String] {
    var walker = PageWalker(descriptor, byteCount, header, isWhole: false)
    walker.walk(header.free, name: "free list", keysAreNumbers: true)
    walker.walk(header.main, name: "tree", keysAreNumbers: false)
    return walker.report.problems
  }

  /// Checks the whole free list, and that the pages from the root to the last entry of the tree are
  /// not in it. Every commit rewrites these pages, so a list of another state names some of them.
  /// Costs time for each page of the list.
  static func walkFreeList(
    _ descriptor: Int32, byteCount: Int64, header: StoreHeader
  ) -> [String] {
    var walker = PageWalker(descriptor, byteCount, header, isWhole: true)
    _ = walker.take(0)
    _ = walker.take(1)
    walker.walk(header.free, name: "free list", keysAreNumbers: true)
    walker.isWhole = false
    walker.walk(header.main, name: "tree", keysAreNumbers: false)
    return walker.report.problems
  }

  private init(
    _ descriptor: Int32, _ byteCount: Int64, _ header: StoreHeader, isWhole: Bool
  ) {
    unsafe self.init(
      UInt64(byteCount) / UInt64(header.pageSize), header, isWhole: isWhole,
      Self.reader(of: descriptor))
  }

  private init(
    _ pagesThere: UInt64, _ header: StoreHeader, isWhole: Bool, _ read: @escaping ReadPage
  ) {
    unsafe self.read = unsafe read
    self.isWhole = isWhole
    self.header = header
    self.pagesThere = min(pagesThere, header.lastPage + 1)
    seen = isWhole ? [UInt64](repeating: 0, count: Int(self.pagesThere / 64) + 1) : []
    taken = [UInt64](repeating: 0, count: header.pageSize / 128 + 1)
    report.transactionID = header.transactionID
    report.pageSize = header.pageSize
    report.pageCount = Int(header.lastPage + 1)
  }

  deinit {
    for index in unsafe memory.indices { unsafe memory[index].deallocate() }
  }

  private static func reader(of descriptor: Int32) -> ReadPage {
    { number, memory in
      var found = 0
      while found < memory.count {
        let more = unsafe pread(
          descriptor, memory.baseAddress! + found, memory.count - found,
          off_t(number) * off_t(memory.count) + off_t(found))
        if more < 0 && errno == EINTR { continue }
        guard more > 0 else { return more < 0 ? errno : ENODATA }
        found += more
      }
      return 0
    }
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
    hasPreviousKey = false
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
    guard let page = open(number, kind, depth) else { return }
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
    let offset = Int(page.load(Self.pageHeaderByteCount + 2 * index) as UInt16)
    guard offset >= page.upper, offset % 2 == 0,
      offset + Self.nodeHeaderByteCount <= header.pageSize
    else { return nil }
    let low = Int(page.load(offset) as UInt16) | Int(page.load(offset + 2) as UInt16) << 16
    let flags: UInt16 = page.load(offset + 4)
    let data = isBranch ? 0 : flags & 0x01 != 0 ? 8 : low
    let byteCount = Self.nodeHeaderByteCount + Int(page.load(offset + 6) as UInt16) + data
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

  /// Reads a page into the memory for that depth; nil, with the problem noted, if it cannot be
  /// read.
  private mutating func fetch(_ number: UInt64, _ depth: Int) -> UnsafeRawBufferPointer? {
    while unsafe memory.count <= depth {
      unsafe memory.append(.allocate(byteCount: header.pageSize, alignment: 16))
    }
    let bytes = unsafe memory[depth]
    let result = unsafe read(number, bytes)
    if result == 0 { return UnsafeRawBufferPointer(bytes) }
    add(
      result == ENODATA
        ? "page \(number) is used but missing at the end of the file"
        : unsafe "page \(number) cannot be read: \(String(cString: strerror(result)))")
    return nil
  }

  private mutating func open(_ number: UInt64, _ kind: Kind, _ depth: Int) -> Page? {
    guard take(number), let bytes = unsafe fetch(number, depth) else { return nil }
    let page = unsafe Page(number: number, bytes: bytes, nodeCount: 0, upper: 0)
    let own: UInt64 = page.load(0)
    let flags: UInt16 = page.load(10)
    let lower = Int(page.load(12) as UInt16)
    let upper = Int(page.load(14) as UInt16)
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
    return unsafe Page(number: number, bytes: bytes, nodeCount: nodeCount, upper: upper)
  }

  private mutating func node(_ index: Int, in page: Page, isBranch: Bool) -> Node? {
    let offset = Int(page.load(Self.pageHeaderByteCount + 2 * index) as UInt16)
    guard offset >= page.upper, offset % 2 == 0,
      offset + Self.nodeHeaderByteCount <= header.pageSize
    else {
      add("page \(page.number), node \(index): it starts at \(offset)")
      return nil
    }
    let low = UInt64(page.load(offset) as UInt16) | UInt64(page.load(offset + 2) as UInt16) << 16
    let flags: UInt16 = page.load(offset + 4)
    let keyByteCount = Int(page.load(offset + 6) as UInt16)
    let key = offset + 8..<offset + 8 + keyByteCount
    guard key.upperBound <= header.pageSize else {
      add("page \(page.number), node \(index): its key has \(keyByteCount) bytes")
      return nil
    }
    if !isBranch || index > 0 { checkOrder(of: key, page, index, isBranch: isBranch) }
    return Node(low: low, flags: flags, data: key.upperBound)
  }

  private mutating func check(_ node: Node, of page: Page, _ index: Int) {
    report.entries += 1
    let byteCount = Int(node.low)
    guard node.flags & ~0x01 == 0 else {
      add("page \(page.number), node \(index): flags \(node.flags)")
      return
    }
    if node.flags == 0 {
      guard node.data + byteCount <= header.pageSize else {
        add("page \(page.number), node \(index): its value has \(byteCount) bytes")
        return
      }
      guard keysAreNumbers, isWhole, var entry = freeEntry(byteCount) else { return }
      unsafe take(
        UnsafeRawBufferPointer(rebasing: page.bytes[node.data..<node.data + byteCount]), &entry)
      return
    }
    guard node.data + 8 <= header.pageSize else {
      add("page \(page.number), node \(index): the number of its value's page is cut off")
      return
    }
    if isWhole { checkOverflow(page.load(node.data), byteCount: byteCount) }
  }

  private mutating func checkOverflow(_ first: UInt64, byteCount: Int) {
    guard take(first), let bytes = unsafe fetch(first, 0) else { return }
    let start = unsafe Page(number: first, bytes: bytes, nodeCount: 0, upper: 0)
    let own: UInt64 = start.load(0)
    let flags: UInt16 = start.load(10)
    let pages = UInt64(start.load(12) as UInt32)
    let needed = (Self.pageHeaderByteCount + byteCount + header.pageSize - 1) / header.pageSize
    guard own == first, flags == Kind.overflow.rawValue, pages == needed else {
      add("page \(first) is not the start of a value of \(byteCount) bytes")
      return
    }
    report.overflowPages += Int(pages)
    var entry = keysAreNumbers ? freeEntry(byteCount) : nil
    var rest = byteCount
    for number in first..<first + pages {
      if number > first { guard take(number), unsafe fetch(number, 0) != nil else { return } }
      let from = number == first ? Self.pageHeaderByteCount : 0
      let count = min(rest, header.pageSize - from)
      rest -= count
      guard entry != nil else { continue }
      unsafe take(UnsafeRawBufferPointer(rebasing: memory[0][from..<from + count]), &entry!)
    }
  }

  private mutating func freeEntry(_ byteCount: Int) -> FreeEntry? {
    if byteCount >= 8, byteCount % 8 == 0 { return FreeEntry(byteCount: byteCount) }
    add("an entry of the free list has \(byteCount) bytes")
    return nil
  }

  /// Takes the next words of an entry of the free list.
  private mutating func take(_ words: UnsafeRawBufferPointer, _ entry: inout FreeEntry) {
    for offset in stride(from: 0, to: words.count, by: 8) {
      let word = unsafe words.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
      guard !entry.isDamaged, entry.found < entry.count ?? 1 else { return }
      guard let count = entry.count else {
        entry.count = word
        guard word <= UInt64(entry.byteCount / 8 - 1) else {
          add("an entry of the free list holds \(word) pages in \(entry.byteCount) bytes")
          entry.isDamaged = true
          return
        }
        continue
      }
      guard entry.found < count, word < entry.above, word >= 2, word <= header.lastPage else {
        add("the free list names page \(word) out of order")
        entry.isDamaged = true
        return
      }
      entry.above = word
      entry.found += 1
      report.freePages += 1
      if word < pagesThere { _ = take(word) } else { freePagesBeyondEnd += 1 }
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
      let transaction: UInt64 = page.load(key.lowerBound)
      guard (1...max(1, header.transactionID)).contains(transaction) else {
        add("page \(page.number), node \(index): pages that transaction \(transaction) freed")
        return
      }
    }
    let bytes = unsafe UnsafeRawBufferPointer(rebasing: page.bytes[key])
    let order = hasPreviousKey ? unsafe orderAfterPrevious(bytes) : 1
    // A separator in a branch may equal the first key below it, never the last key before it.
    if order <= 0, !(isFromBranch && !isBranch) {
      add("page \(page.number), node \(index): its key is not above the one before it")
    } else if order < 0 {
      add("page \(page.number), node \(index): its key is below its branch's")
    }
    previousKey.removeAll(keepingCapacity: true)
    unsafe previousKey.append(contentsOf: bytes)
    hasPreviousKey = true
    isFromBranch = isBranch
  }

  /// Positive if the key comes after the previous one.
  private func orderAfterPrevious(_ key: UnsafeRawBufferPointer) -> Int {
    unsafe previousKey.withUnsafeBytes { previous in
      if keysAreNumbers {
        let (left, right) = unsafe (
          previous.loadUnaligned(as: UInt64.self), key.loadUnaligned(as: UInt64.self)
        )
        return left < right ? 1 : left == right ? 0 : -1
      }
      let order = unsafe memcmp(
        key.baseAddress!, previous.baseAddress!, min(key.count, previous.count))
      return order != 0 ? Int(order) : key.count - previous.count
    }
  }

  private mutating func add(_ problem: String) {
    if report.problems.count < Self.problemsMax { report.problems.append(problem) }
  }
}

extension PageWalker.Page {
  /// The caller has checked that the bytes are inside the page.
  fileprivate func load<T: BitwiseCopyable>(_ offset: Int) -> T {
    unsafe bytes.loadUnaligned(fromByteOffset: offset, as: T.self)
  }
}
