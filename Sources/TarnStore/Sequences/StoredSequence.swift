/// A list, set or map as one snapshot has it.
///
/// The number of elements is known from the beginning; pages are looked at when they are asked
/// for, and the one asked last is kept. Belongs to one thread at a time. Keeps its snapshot alive.
///
/// Throws `.corrupted` where the file's bytes contradict each other. Positions are checked by the
/// caller; one that is not there traps.
package final class StoredSequence {
  package let count: Int
  package let shape: SequenceShape
  let snapshot: Snapshot
  let cell: CollectionCell
  /// The page that was read last, and the position of its first element.
  private var current: SequencePage?
  private var currentStart = 0
  /// All pages, once several were looked for.
  private var list: SequencePageList?
  /// Those of them that were read, by their numbers.
  private var pages: ContiguousArray<SequencePage?> = []
  /// What the first elements of those are compared by first; zero where that is not known. Side by
  /// side, so that a search among a million elements does not touch a page of each step.
  private var firsts: ContiguousArray<UInt64> = []
  private var searches = 0
  private static let searchesMax = 4
  /// As many elements as a cell may claim to have without a look at the directory of their pages:
  /// people make room for them before they read any.
  private static let trustedCount = 1 << 16

  init(
    _ cell: CollectionCell, _ shape: SequenceShape, _ snapshot: Snapshot
  ) throws(StorageError) {
    self.cell = cell
    self.shape = shape
    self.snapshot = snapshot
    switch cell {
    case .empty: count = 0
    case .small(let elements): count = elements.count
    case .large(let large):
      count = large.count
      if count > Self.trustedCount { try checkCount(large) }
    }
  }

  private func checkCount(_ large: LargeSequence) throws(StorageError) {
    var cursor = try Cursor(snapshot.transaction)
    guard try ClassDirectory(pagesOf: large.id).count(&cursor) == count else {
      throw SequenceShape.damaged("its directory lists a wrong number of elements")
    }
  }

  var large: LargeSequence? {
    if case .large(let large) = cell { return large }
    return nil
  }

  // MARK: - Reading

  /// The element at that position; of a map the value.
  package func value(at position: Int) throws(StorageError) -> Value {
    try resolve(element(at: position))
  }

  /// The key at that position of a map.
  package func key(at position: Int) throws(StorageError) -> String {
    try text(keyElement(at: position))
  }

  func element(at position: Int) throws(StorageError) -> TaggedValue {
    require(position >= 0 && position < count, "no such element")
    if case .small(let elements) = cell { return try checked(elements.values[position]) }
    let slot = try turn(to: position)
    return try checked(current!.element(slot))
  }

  /// An element of any type may be an object of a class that does not exist.
  @inline(__always)
  private func checked(_ element: TaggedValue) throws(StorageError) -> TaggedValue {
    shape.type == .any ? try snapshot.schema.checked(element) : element
  }

  func keyElement(at position: Int) throws(StorageError) -> TaggedValue {
    require(position >= 0 && position < count, "no such key")
    // A value may lead to a list although it says that it is a map.
    guard shape.isMap else { throw SequenceShape.damaged("a map is not stored as one") }
    if case .small(let elements) = cell { return elements.keys[position] }
    let slot = try turn(to: position)
    return try current!.key(slot)
  }

  /// What the element stands for: a long one is read.
  func resolve(_ element: TaggedValue) throws(StorageError) -> Value {
    switch element {
    case .value(let value): return value
    case .long(let id, let byteCount, let isString):
      var cursor = try Cursor(snapshot.transaction)
      let bytes = try Pieces.element(id).read(byteCount: byteCount, &cursor)
      return isString ? .string(String(decoding: bytes, as: UTF8.self)) : .data(bytes)
    }
  }

  func text(_ key: TaggedValue) throws(StorageError) -> String {
    guard case .string(let text) = try resolve(key) else {
      throw SequenceShape.damaged("a key is not a string")
    }
    return text
  }

  // MARK: - Pages

  /// Makes the page with that position the current one, and answers the slot in it.
  @inline(__always)
  private func turn(to position: Int) throws(StorageError) -> Int {
    let slot = position - currentStart
    if slot >= 0, let current, slot < current.count { return slot }
    return try load(position)
  }

  @inline(never)
  private func load(_ position: Int) throws(StorageError) -> Int {
    searches += 1
    if list != nil || searches > Self.searchesMax {
      let number = try pageList().index(of: position)
      current = try page(number)
      currentStart = list!.starts[number]
    } else {
      let found = try find(position)
      current = try page(found.label, count: found.count)
      currentStart = found.start
    }
    return position - currentStart
  }

  /// Looks a page up in the directory, for those who will not look for many.
  private func find(
    _ position: Int
  ) throws(StorageError) -> (label: PageLabel, start: Int, count: Int) {
    guard let large else { trap("only a large sequence has pages") }
    var cursor = try Cursor(snapshot.transaction)
    let directory = ClassDirectory(pagesOf: large.id)
    guard let found = try directory.select(position, &cursor) else {
      throw SequenceShape.damaged("its directory lists too few elements")
    }
    return (found.first, position - found.offset, found.rows)
  }

  /// All pages in their order.
  func pageList() throws(StorageError) -> SequencePageList {
    if let list { return list }
    var made = SequencePageList()
    if let large {
      var cursor = try Cursor(snapshot.transaction)
      try ClassDirectory(pagesOf: large.id).forEach(&cursor) { entry throws(StorageError) in
        guard entry.rows > 0 else { throw SequenceShape.damaged("a page has no elements") }
        made.append(entry.first, entry.rows)
        return true
      }
    }
    guard made.elementCount == (large?.count ?? 0) else {
      throw SequenceShape.damaged("its directory lists a wrong number of elements")
    }
    list = made
    return made
  }

  /// The pages of the directory in their order. Valid as long as the snapshot is.
  func directoryPages() throws(StorageError) -> ContiguousArray<DirectoryPage> {
    guard let large else { return [] }
    var pages: ContiguousArray<DirectoryPage> = []
    var cursor = try Cursor(snapshot.transaction)
    try ClassDirectory(pagesOf: large.id).forEachPage(&cursor) { page throws(StorageError) in
      pages.append(page)
      return true
    }
    guard pages.reduce(0, { $0 + $1.rows }) == large.count else {
      throw SequenceShape.damaged("its directory lists a wrong number of elements")
    }
    return pages
  }

  /// The page of that number in the list. Kept, so that the next look at it costs next to nothing.
  @inline(__always)
  func page(_ number: Int) throws(StorageError) -> SequencePage {
    if number < pages.count, let known = pages[number] { return known }
    return try readPage(number)
  }

  @inline(never)
  private func readPage(_ number: Int) throws(StorageError) -> SequencePage {
    let list = try pageList()
    if pages.isEmpty {
      pages = ContiguousArray(repeating: nil, count: list.labels.count)
      firsts = ContiguousArray(repeating: 0, count: list.labels.count)
    }
    let count = list.starts[number + 1] - list.starts[number]
    let found = try page(list.labels[number], count: count)
    pages[number] = found
    if let prefix = try found.firstPrefix() { firsts[number] = prefix }
    return found
  }

  /// True and false where the beginning of the first element of a page that was read tells it apart
  /// from `sought`; nil where more must be looked at.
  @inline(__always)
  func precedes(_ number: Int, _ sought: UInt64) -> Bool? {
    guard number < firsts.count, firsts[number] != 0, firsts[number] != sought else {
      return nil
    }
    return firsts[number] < sought
  }

  /// The page under that label. Valid as long as the snapshot is.
  func page(_ label: PageLabel, count: Int) throws(StorageError) -> SequencePage {
    guard let large else { trap("only a large sequence has pages") }
    let key = TreeKey.sequencePage(large.id, label: label)
    let bytes = unsafe try key.withBytes { key throws(StorageError) in
      unsafe try snapshot.transaction.value(forKey: key)
    }
    guard let bytes = unsafe bytes else { throw SequenceShape.damaged("a page is missing") }
    return try unsafe SequencePage(validating: bytes, shape, count: count)
  }

  /// Calls `body` with the pages that hold those positions, the slots that are meant, and the
  /// position of the first of these, until it returns false. For a small sequence never.
  package func forEachPage(
    in range: Range<Int>,
    _ body: (SequencePage, Range<Int>, Int) throws(StorageError) -> Bool
  ) throws(StorageError) {
    guard large != nil, !range.isEmpty else { return }
    require(range.lowerBound >= 0 && range.upperBound <= count, "no such elements")
    let list = try pageList()
    var index = list.index(of: range.lowerBound)
    var position = range.lowerBound
    while position < range.upperBound {
      let start = list.starts[index]
      let end = min(list.starts[index + 1], range.upperBound)
      let page = try page(list.labels[index], count: list.starts[index + 1] - start)
      guard try body(page, (position - start)..<(end - start), position) else { return }
      position = end
      index += 1
    }
  }

  /// Calls `body` with every element there, in order, until it returns false.
  func forEachElement(
    in range: Range<Int>, _ body: (TaggedValue) throws(StorageError) -> Bool
  ) throws(StorageError) {
    if case .small(let elements) = cell {
      for position in range {
        guard try body(checked(elements.values[position])) else { return }
      }
      return
    }
    try forEachPage(in: range) { page, slots, _ throws(StorageError) in
      for slot in slots {
        guard try body(checked(page.element(slot))) else { return false }
      }
      return true
    }
  }
}

/// The pages of a sequence: their labels, and where each begins.
struct SequencePageList {
  private(set) var labels: ContiguousArray<PageLabel> = []
  /// One more than labels.
  private(set) var starts: ContiguousArray<Int> = [0]

  var elementCount: Int { starts[starts.count - 1] }

  mutating func append(_ label: PageLabel, _ count: Int) {
    labels.append(label)
    starts.append(elementCount + count)
  }

  /// The page with that position.
  func index(of position: Int) -> Int {
    labels.indices.partitioningIndex { starts[$0] > position } - 1
  }
}

// MARK: - Finding in snapshots

extension SnapshotReader {
  /// The collection there, nil if its owner is gone, or the value that it was in.
  package func sequence(at place: SequencePlace) throws(StorageError) -> StoredSequence? {
    if let nested = place.nested {
      try place.checkDepth()
      return try nestedSequence(nested)
    }
    let column = schema[place.classID][place.column]
    guard let (image, slot) = try row(place.key, in: place.classID) else { return nil }
    let shape = SequenceShape(column)
    let cell: CollectionCell
    switch try image.bytes(place.column, slot) {
    case .null: cell = .empty
    case .inline(let bytes): cell = try unsafe CollectionCell(decoding: bytes, shape)
    case .long:
      let bytes = try longBytes(of: place.column, at: place.key, in: place.classID)
      cell = try CollectionCell(bytes, shape)
    }
    return try StoredSequence(cell, shape, snapshot)
  }

  /// The list or map within a value, nil if there is none of that id.
  func nestedSequence(_ id: CollectionID) throws(StorageError) -> StoredSequence? {
    let bytes = unsafe try TreeKey.nested(id).withBytes { key throws(StorageError) in
      unsafe try snapshot.transaction.value(forKey: key)
    }
    guard let bytes = unsafe bytes else { return nil }
    let (shape, cell) = try unsafe NestedRecord.decode(bytes)
    return try StoredSequence(cell, shape, snapshot)
  }
}

extension CollectionCell {
  init(_ bytes: [UInt8], _ shape: SequenceShape) throws(StorageError) {
    self = try unsafe withBytes(of: bytes) { bytes throws(StorageError) in
      try unsafe CollectionCell(decoding: bytes, shape)
    }
  }
}
