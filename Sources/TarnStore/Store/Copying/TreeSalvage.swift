/// Collects what can be read of a tree in a damaged file, in the order of its keys, and the ranges
/// of keys that are lost.
struct TreeSalvage {
  struct Entry {
    let key: [UInt8]
    /// The page of the node, or the first page of the value.
    let page: UInt64
    /// Where the value begins in it.
    let offset: Int
    let byteCount: Int
  }

  /// Keys from the first one on, and before the second one if there is one.
  struct Lost {
    let from: [UInt8]
    let to: [UInt8]?
    let reason: String
  }

  private static let depthMax = 40

  private let file: SalvagedFile
  private let isSound: (_ key: [UInt8], _ value: ArraySlice<UInt8>) -> Bool
  private(set) var entries: [Entry] = []
  private(set) var lost: [Lost] = []
  /// Where a lost range begins that has no end yet, and why it is lost.
  private var open: (from: [UInt8], reason: String)?

  /// - Parameter isSound: decides whether a value is what its key says.
  init(
    _ file: SalvagedFile, root: UInt64,
    isSound: @escaping (_ key: [UInt8], _ value: ArraySlice<UInt8>) -> Bool
  ) {
    self.file = file
    self.isSound = isSound
    guard root != StoreHeader.noPage else { return }
    visit(root, depth: 1, from: [], to: nil)
    close(at: nil)
  }

  static func comesBefore(_ a: [UInt8], _ b: [UInt8]) -> Bool { a.lexicographicallyPrecedes(b) }

  // MARK: - Pages

  private mutating func visit(_ number: UInt64, depth: Int, from: [UInt8], to: [UInt8]?) {
    guard depth <= Self.depthMax, file.see(number) else {
      return lose(from, "page \(number) is outside the file, or used twice")
    }
    guard let bytes = file.bytes(ofPage: number), let page = SalvagedPage(bytes, number: number)
    else { return lose(from, "page \(number) is damaged or cannot be read") }
    if page.isBranch {
      visitChildren(of: page, number, depth, from, to)
    } else {
      take(page, number, from, to)
    }
  }

  private mutating func visitChildren(
    of page: SalvagedPage, _ number: UInt64, _ depth: Int, _ from: [UInt8], _ to: [UInt8]?
  ) {
    for (index, node) in page.nodes.enumerated() {
      guard let node, let child = node.page else {
        lose(afterLast: from, "page \(number), node \(index), leaves its page")
        continue
      }
      // The first key of a branch is not used.
      let low = index == 0 ? from : node.key
      let next = page.nodes[(index + 1)...].lazy.compactMap { $0?.key }.first
      visit(child, depth: depth + 1, from: low, to: next ?? to)
    }
  }

  private mutating func take(
    _ page: SalvagedPage, _ number: UInt64, _ from: [UInt8], _ to: [UInt8]?
  ) {
    for (index, node) in page.nodes.enumerated() {
      guard let node, !Self.comesBefore(node.key, from),
        to.map({ Self.comesBefore(node.key, $0) }) ?? true,
        entries.last.map({ Self.comesBefore($0.key, node.key) }) ?? true
      else {
        lose(afterLast: from, "page \(number), node \(index), is damaged or out of order")
        continue
      }
      let (entry, value) = find(node, of: page, number)
      guard let entry, let value, isSound(node.key, value) else {
        lose(node.key, "page \(number), node \(index): its value is damaged")
        continue
      }
      close(at: node.key)
      entries.append(entry)
    }
  }

  private func find(
    _ node: SalvagedPage.Node, of page: SalvagedPage, _ number: UInt64
  ) -> (Entry?, ArraySlice<UInt8>?) {
    Self.find(node, of: page, number, in: file) { file.see($0) }
  }

  /// The value of a node.
  ///
  /// - Parameter mayUse: whether a page of values may be the node's.
  static func find(
    _ node: SalvagedPage.Node, of page: SalvagedPage, _ number: UInt64, in file: SalvagedFile,
    _ mayUse: (UInt64) -> Bool
  ) -> (Entry?, ArraySlice<UInt8>?) {
    guard let first = node.page else {
      let entry = Entry(
        key: node.key, page: number, offset: node.value.lowerBound, byteCount: node.byteCount)
      return (entry, page.bytes[node.value])
    }
    let header = PageWalker.pageHeaderByteCount
    let count = (header + node.byteCount + file.pageSize - 1) / file.pageSize
    guard let bytes = file.bytes(ofPage: first, count: count), mayUse(first),
      isStart(bytes, first, count)
    else { return (nil, nil) }
    let entry = Entry(key: node.key, page: first, offset: header, byteCount: node.byteCount)
    return (entry, bytes[header..<header + node.byteCount])
  }

  private static func isStart(_ bytes: [UInt8], _ number: UInt64, _ count: Int) -> Bool {
    unsafe bytes.withUnsafeBytes {
      let own = unsafe $0.loadUnaligned(fromByteOffset: 0, as: UInt64.self)
      let flags = unsafe $0.loadUnaligned(fromByteOffset: 10, as: UInt16.self)
      let pages = unsafe $0.loadUnaligned(fromByteOffset: 12, as: UInt32.self)
      return own == number && flags == 4 && pages == UInt32(count)
    }
  }

  // MARK: - Lost ranges

  private mutating func lose(_ from: [UInt8], _ reason: String) {
    if open == nil { open = (from, reason) }
  }

  /// The beginning is not known: it is behind the last key, or the beginning of the page.
  private mutating func lose(afterLast from: [UInt8], _ reason: String) {
    let last = entries.last.map { $0.key + [0] } ?? []
    lose(Self.comesBefore(last, from) ? from : last, reason)
  }

  private mutating func close(at key: [UInt8]?) {
    guard let begun = open else { return }
    lost.append(Lost(from: begun.from, to: key, reason: begun.reason))
    open = nil
  }
}
