/// The elements of a sequence under edit, in chunks: an untouched page of the file is only its
/// label and its number of elements; a loaded one has its elements here, each with its position
/// before the write.
///
/// Chunks are grouped in blocks whose numbers of elements are known, so finding a position reads
/// the numbers of the blocks, and of the chunks in one block. The chunk used last is cached. A
/// block is open once one of its positions was returned.
struct SequenceChunks {
  /// A loaded chunk with more elements is split, because an insertion moves all later elements in
  /// it.
  static let elementsMax = 256
  static let chunksMax = 256

  private(set) var count = 0
  private(set) var blocks: ContiguousArray<Block> = []
  /// The number of elements of each block, adjacent for the search.
  private var blockCounts: ContiguousArray<Int> = []
  /// Labels of pages without chunks.
  private(set) var droppedLabels: [PageLabel] = []
  private var recent: Location?

  /// Loaded elements.
  final class Body {
    var elements: SequenceElements
    var origins: ContiguousArray<Origin>

    init(_ elements: SequenceElements, _ origins: ContiguousArray<Origin>) {
      self.elements = elements
      self.origins = origins
    }
  }

  /// The position of an element before the write, and whether it was set since.
  struct Origin: Equatable {
    private var bits: Int
    static let fresh = Origin(bits: -1)
    private init(bits: Int) { self.bits = bits }
    init(old position: Int) { bits = position << 1 }
    var isFresh: Bool { bits < 0 }
    var position: Int { bits >> 1 }
    var isModified: Bool { bits & 1 != 0 }
    mutating func modify() { bits |= 1 }

    /// True if neither was set, and the other was that many positions behind this one.
    func isFollowed(by other: Origin, after distance: Int) -> Bool {
      bits >= 0 && bits & 1 == 0 && other.bits == bits + 2 * distance
    }
  }

  /// A chunk, and the position of its first element.
  struct Location {
    var block: Int
    var chunk: Int
    var start: Int
  }

  // MARK: - Creating

  init() {}

  /// The pages of the file, from those of the row counts.
  init(_ pages: ContiguousArray<RowCountPage>) {
    for page in pages {
      blocks.append(Block(page, oldStart: count))
      blockCounts.append(page.rows)
      count += page.rows
    }
  }

  /// The elements of a small sequence.
  init(_ elements: SequenceElements) {
    let origins = Self.origins(from: 0, elements.count)
    blocks = [Block([Chunk(count: elements.count, body: Body(elements, origins))])]
    count = elements.count
    blockCounts = [count]
  }

  // MARK: - Finding

  func blockCount(_ block: Int) -> Int { blockCounts[block] }

  /// The chunk used last.
  var recentLocation: Location? { recent }

  /// The chunk with that element.
  mutating func location(of position: Int) throws(StorageError) -> Location {
    if let recent {
      let offset = position - recent.start
      if offset >= 0, offset < blocks[recent.block].chunks[recent.chunk].count { return recent }
    }
    let found = try search(position)
    recent = found
    return found
  }

  private func search(_ position: Int) throws(StorageError) -> Location {
    require(position >= 0 && position < count, "no such element")
    var start = 0
    var block = 0
    while position - start >= blockCounts[block] {
      start += blockCounts[block]
      block += 1
    }
    try blocks[block].open()
    let counts = blocks[block].counts
    var chunk = 0
    while position - start >= counts[chunk] {
      start += counts[chunk]
      chunk += 1
    }
    return Location(block: block, chunk: chunk, start: start)
  }

  /// The last chunk for which `isBefore` is true; it is true for all earlier ones.
  mutating func lastLocation(
    where isBefore: (Chunk) throws(StorageError) -> Bool
  ) throws(StorageError) -> Location? {
    let block =
      try blocks.partitioningIndex { block throws(StorageError) in
        try !isBefore(block.first)
      } - 1
    guard block >= 0 else { return nil }
    try blocks[block].open()
    let chunks = blocks[block].chunks
    let chunk =
      try chunks.partitioningIndex { chunk throws(StorageError) in try !isBefore(chunk) } - 1
    let start =
      blockCounts[..<block].reduce(0, +) + blocks[block].counts[..<chunk].reduce(0, +)
    recent = Location(block: block, chunk: chunk, start: start)
    return recent
  }

  /// All chunks in their order, without opening blocks; see `Block.outline`.
  var outline: [Chunk] { blocks.flatMap(\.outline) }

  /// All chunks in order.
  func all() throws(StorageError) -> [Chunk] {
    for block in blocks { try block.open() }
    return blocks.flatMap(\.chunks)
  }

  subscript(location: Location) -> Chunk { blocks[location.block].chunks[location.chunk] }

  // MARK: - Changing

  /// Loads the chunk with that element.
  mutating func load(_ position: Int, of base: StoredSequence) throws(StorageError) {
    let location = try location(of: position)
    let chunk = self[location]
    guard chunk.body == nil, let label = chunk.label else { return }
    let page = try base.page(label, count: chunk.count)
    try page.verify()
    var made: ContiguousArray<Chunk> = []
    for slots in Self.parts(of: chunk.count) {
      let elements = try page.elements(in: slots)
      if base.shape.type == .any {
        for element in elements.values { _ = try base.snapshot.schema.checked(element) }
      }
      let origins = Self.origins(from: chunk.oldStart + slots.lowerBound, slots.count)
      made.append(
        Chunk(
          count: slots.count, label: slots.lowerBound == 0 ? label : nil,
          oldStart: chunk.oldStart, body: Body(elements, origins)))
    }
    replace(location, with: made)
  }

  /// Those of adjacent elements that were not set.
  private static func origins(from position: Int, _ count: Int) -> ContiguousArray<Origin> {
    unsafe ContiguousArray(unsafeUninitializedCapacity: count) { origins, filled in
      for index in 0..<count {
        unsafe origins.initializeElement(at: index, to: Origin(old: position + index))
      }
      filled = count
    }
  }

  /// The parts of a chunk that is too long; all of it if it is not.
  private static func parts(of total: Int, atEnd: Bool = false) -> [Range<Int>] {
    let pieces = (total + elementsMax - 1) / elementsMax
    let size = atEnd ? elementsMax : (total + pieces - 1) / pieces
    return stride(from: 0, to: total, by: size).map { $0..<min($0 + size, total) }
  }

  /// Replaces a chunk by its parts.
  private mutating func replace(_ location: Location, with parts: ContiguousArray<Chunk>) {
    let block = blocks[location.block]
    block.replace(location.chunk, with: parts)
    // A block as the file has it may have more chunks; it is divided when it gets others.
    guard parts.count > 1 else { return }
    recent = nil
    if block.chunks.count > Self.chunksMax { cut(block: location.block) }
  }

  /// Inserts elements before the one at `position`, in the chunk of the element before it, or the
  /// first. Without a chunk, one is created.
  mutating func insert(
    _ elements: SequenceElements, _ origins: ContiguousArray<Origin>, at position: Int,
    of base: StoredSequence
  ) throws(StorageError) {
    let (location, body) = try locationForInserting(at: position, of: base)
    let offset = position - location.start
    body.elements.values.insert(contentsOf: elements.values, at: offset)
    if !elements.keys.isEmpty { body.elements.keys.insert(contentsOf: elements.keys, at: offset) }
    body.origins.insert(contentsOf: origins, at: offset)
    didInsert(elements.count, location, at: position)
  }

  /// The same for one element.
  mutating func insert(
    _ element: TaggedValue, key: TaggedValue?, _ origin: Origin, at position: Int,
    of base: StoredSequence
  ) throws(StorageError) {
    let (location, body) = try locationForInserting(at: position, of: base)
    let offset = position - location.start
    body.elements.values.insert(element, at: offset)
    if let key { body.elements.keys.insert(key, at: offset) }
    body.origins.insert(origin, at: offset)
    didInsert(1, location, at: position)
  }

  private mutating func locationForInserting(
    at position: Int, of base: StoredSequence
  ) throws(StorageError) -> (Location, Body) {
    require(position >= 0 && position <= count, "a position past the end")
    if blocks.isEmpty {
      let body = Body(SequenceElements(), [])
      blocks = [Block([Chunk(count: 0, body: body)])]
      blockCounts = [0]
      return (Location(block: 0, chunk: 0, start: 0), body)
    }
    let before = max(0, position - 1)
    try load(before, of: base)
    let location = try location(of: before)
    guard let body = self[location].body else { trap("the chunk is not loaded") }
    return (location, body)
  }

  private mutating func didInsert(_ added: Int, _ location: Location, at position: Int) {
    changeCount(location, by: added)
    recent = location
    if self[location].count > Self.elementsMax { cut(location, atEnd: position + added == count) }
  }

  private mutating func changeCount(_ location: Location, by delta: Int) {
    blocks[location.block].changeCount(location.chunk, by: delta)
    blockCounts[location.block] += delta
    count += delta
  }

  /// Splits a chunk that became too long. At the end of the sequence full chunks are left, because
  /// more elements will be added there.
  private mutating func cut(_ location: Location, atEnd: Bool) {
    let chunk = self[location]
    guard let body = chunk.body else { return }
    var made: ContiguousArray<Chunk> = []
    for range in Self.parts(of: body.elements.count, atEnd: atEnd) {
      let part = Body(body.elements[range], ContiguousArray(body.origins[range]))
      made.append(
        Chunk(
          count: range.count, label: range.lowerBound == 0 ? chunk.label : nil,
          oldStart: chunk.oldStart, body: part))
    }
    replace(location, with: made)
  }

  private mutating func cut(block index: Int) {
    let chunks = blocks[index].chunks
    let half = Self.chunksMax / 2
    let made = stride(from: 0, to: chunks.count, by: half).map {
      Block(ContiguousArray(chunks[$0..<min($0 + half, chunks.count)]))
    }
    blocks.replaceSubrange(index...index, with: made)
    blockCounts.replaceSubrange(index...index, with: made.map(\.count))
  }

  /// Removes elements in one chunk: all of it, or some of a loaded one.
  mutating func remove(_ range: Range<Int>, in location: Location) {
    let chunk = self[location]
    let offsets = (range.lowerBound - location.start)..<(range.upperBound - location.start)
    changeCount(location, by: -range.count)
    if offsets.count == chunk.count {
      if let label = chunk.label { droppedLabels.append(label) }
      blocks[location.block].replace(location.chunk, with: [])
      if blocks[location.block].chunks.isEmpty {
        blocks.remove(at: location.block)
        blockCounts.remove(at: location.block)
      }
      recent = nil
      return
    }
    guard let body = chunk.body else { trap("the chunk is not loaded") }
    body.elements.values.removeSubrange(offsets)
    if !body.elements.keys.isEmpty { body.elements.keys.removeSubrange(offsets) }
    body.origins.removeSubrange(offsets)
    recent = location
  }

  /// Drops all elements. The caller removes the pages.
  mutating func removeAll() {
    count = 0
    blocks = []
    blockCounts = []
    droppedLabels = []
    recent = nil
  }
}

extension SequenceElements {
  subscript(range: Range<Int>) -> SequenceElements {
    SequenceElements(
      keys: keys.isEmpty ? [] : ContiguousArray(keys[range]),
      values: values.part(range))
  }
}

extension ContiguousArray<SequenceChunks.Origin> {
  /// Calls `body` with the first of adjacent elements that were adjacent before and were not set,
  /// and with their number; with 1 for others.
  func forEachRun(_ body: (SequenceChunks.Origin, Int) -> Void) {
    unsafe withUnsafeBufferPointer { origins in
      var first = 0
      while first < origins.count {
        let origin = unsafe origins[first]
        var end = first + 1
        while end < origins.count,
          unsafe origin.isFollowed(by: origins[end], after: end - first)
        { end += 1 }
        body(origin, end - first)
        first = end
      }
    }
  }
}
