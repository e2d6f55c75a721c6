/// A list, set or map in one snapshot.
///
/// The number of elements is known from the start; pages are read on demand, and the last one is
/// cached. Confined to one thread at a time. Retains its snapshot.
///
/// Throws `.corrupted` if the file's bytes are inconsistent. The caller checks positions; one that
/// is out of bounds traps.
package final class StoredSequence {
  package let count: Int
  package let shape: SequenceShape
  let snapshot: Snapshot
  let cell: CollectionCell
  /// The page that was read last, and the position of its first element.
  private var current: SequencePage?
  private var currentStart = 0
  /// All pages, once several were searched for.
  private var list: SequencePageList?
  /// The pages read so far, by their index.
  private var pages: ContiguousArray<SequencePage?> = []
  /// The prefixes of their first elements; that of null while unknown. Adjacent, so that a search
  /// among a million elements does not touch a page at each step.
  private var firsts: ContiguousArray<(high: UInt64, low: UInt64)> = []
  private var searches = 0
  private static let searchesMax = 4
  /// A larger number of elements in a cell is checked with the counts of the pages, because
  /// callers reserve memory for it before they read.
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
    guard try RowCounts(pagesOf: large.id).count(&cursor) == count else {
      throw SequenceShape.damaged("its row counts list a wrong number of elements")
    }
  }

  var large: LargeSequence? {
    if case .large(let large) = cell { return large }
    return nil
  }

  // MARK: - Reading

  /// The element at that position; for a map the value.
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

  /// A mixed element may be an object of a class that does not exist.
  @inline(__always)
  private func checked(_ element: TaggedValue) throws(StorageError) -> TaggedValue {
    shape.type == .any ? try snapshot.schema.checked(element) : element
  }

  func keyElement(at position: Int) throws(StorageError) -> TaggedValue {
    require(position >= 0 && position < count, "no such key")
    // A value that claims to be a map may refer to a list.
    guard shape.isMap else { throw SequenceShape.damaged("a map is not stored as one") }
    if case .small(let elements) = cell { return elements.keys[position] }
    let slot = try turn(to: position)
    return try current!.key(slot)
  }

  /// The value of the element; a long one is read.
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

  /// Makes the page with that position the current one, and returns the slot in it.
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

  /// Finds a page by the row counts, for a single access.
  private func find(
    _ position: Int
  ) throws(StorageError) -> (label: PageLabel, start: Int, count: Int) {
    guard let large else { trap("only a large sequence has pages") }
    var cursor = try Cursor(snapshot.transaction)
    let counts = RowCounts(pagesOf: large.id)
    guard let found = try counts.select(position, &cursor) else {
      throw SequenceShape.damaged("its row counts list too few elements")
    }
    return (found.first, position - found.offset, found.rows)
  }

  /// All pages in order.
  func pageList() throws(StorageError) -> SequencePageList {
    if let list { return list }
    var made = SequencePageList()
    if let large {
      var cursor = try Cursor(snapshot.transaction)
      try RowCounts(pagesOf: large.id).forEach(&cursor) { entry throws(StorageError) in
        guard entry.rows > 0 else { throw SequenceShape.damaged("a page has no elements") }
        made.append(entry.first, entry.rows)
        return true
      }
    }
    guard made.elementCount == (large?.count ?? 0) else {
      throw SequenceShape.damaged("its row counts list a wrong number of elements")
    }
    list = made
    return made
  }

  /// The pages of the row counts in order. Valid as long as the snapshot.
  func countPages() throws(StorageError) -> ContiguousArray<RowCountPage> {
    guard let large else { return [] }
    var pages: ContiguousArray<RowCountPage> = []
    var cursor = try Cursor(snapshot.transaction)
    try RowCounts(pagesOf: large.id).forEachPage(&cursor) { page throws(StorageError) in
      pages.append(page)
      return true
    }
    guard pages.reduce(0, { $0 + $1.rows }) == large.count else {
      throw SequenceShape.damaged("its row counts list a wrong number of elements")
    }
    return pages
  }

  /// The page at that index of the list. Cached, so that the next access is almost free.
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
      firsts = ContiguousArray(repeating: (0, 0), count: list.labels.count)
    }
    let count = list.starts[number + 1] - list.starts[number]
    let found = try page(list.labels[number], count: count)
    pages[number] = found
    if let prefix = try found.firstPrefix() { firsts[number] = (prefix.high, prefix.low) }
    return found
  }

  /// True or false if the cached prefix of a page's first element decides the comparison with
  /// `sought`; nil if more must be read.
  @inline(__always)
  func precedes(_ number: Int, _ sought: OrderPrefix) -> Bool? {
    guard number < firsts.count else { return nil }
    let first = firsts[number]
    if first.high != sought.high { return first.low == 0 ? nil : first.high < sought.high }
    return first.low == 0 || first.low == sought.low ? nil : first.low < sought.low
  }

  /// The page with that label. Valid as long as the snapshot.
  func page(_ label: PageLabel, count: Int) throws(StorageError) -> SequencePage {
    guard let large else { trap("only a large sequence has pages") }
    let key = TreeKey.sequencePage(large.id, label: label)
    let bytes = unsafe try key.withBytes { key throws(StorageError) in
      unsafe try snapshot.transaction.value(forKey: key)
    }
    guard let bytes = unsafe bytes else { throw SequenceShape.damaged("a page is missing") }
    return try unsafe SequencePage(validating: bytes, shape, count: count)
  }

  /// Calls `body` with each page of the range, the slots in the range, and the position of the
  /// first of them, until it returns false. Never for a small sequence.
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

  /// Calls `body` with every element in the range, in order, until it returns false.
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

/// The pages of a sequence: their labels and start positions.
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
  /// The collection at that place, nil if its owner or the value that contains it does not exist.
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

  /// The nested list or map with that id; nil if it does not exist.
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

/// Reading a collection, stored or under edit.
package protocol SequenceReading: AnyObject {
  var shape: SequenceShape { get }
  var count: Int { get }
  func value(at index: Int) throws(StorageError) -> Value
  /// For maps: the key at a position.
  func key(at index: Int) throws(StorageError) -> String
  /// For sets: the position of a value, or where it would be inserted.
  func find(_ value: Value) throws(StorageError) -> (index: Int, isFound: Bool)
  /// For maps: the position of a key, or where it would be inserted.
  func find(key: String) throws(StorageError) -> (index: Int, isFound: Bool)
  /// Every element in the range, for a map the values, until `body` returns false.
  func forEach(
    in range: Range<Int>, _ body: (Value) throws(StorageError) -> Bool
  ) throws(StorageError)
  /// The numbers of a large sequence page by page; nil for other sequences.
  var numberPages: NumberPages? { get }
}

extension StoredSequence: SequenceReading {}
extension WorkingSequence: SequenceReading {}
