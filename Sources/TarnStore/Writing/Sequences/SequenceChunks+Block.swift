extension SequenceChunks {
  struct Chunk {
    var count: Int
    /// The page of the file that it replaces; nil for a new one.
    var label: PageLabel?
    /// The position of the page's first element before the write.
    var oldStart = 0
    /// Nil while the page is unchanged.
    var body: Body?
  }

  /// Adjacent chunks. A block of a large sequence starts as a page of its row counts, which is read
  /// only for changes in it: a commit of one insert reads one page, however many there are.
  final class Block {
    /// Nil once it was read. Valid as long as the write's snapshot.
    private var unread: RowCountPage?
    private let oldStart: Int
    /// Empty until the block is opened.
    private(set) var chunks: ContiguousArray<Chunk> = []
    /// The number of elements of each chunk, adjacent for the search.
    private(set) var counts: ContiguousArray<Int> = []
    private(set) var count: Int

    init(_ chunks: ContiguousArray<Chunk>) {
      self.chunks = chunks
      counts = ContiguousArray(chunks.map(\.count))
      count = counts.reduce(0, +)
      oldStart = 0
    }

    init(_ page: RowCountPage, oldStart: Int) {
      unread = page
      count = page.rows
      self.oldStart = oldStart
    }

    /// The old elements that it represents; nil once it was opened.
    var untouched: Range<Int>? { unread == nil ? nil : oldStart..<oldStart + count }

    /// Reads the page of row counts.
    func open() throws(StorageError) {
      guard let page = unread else { return }
      try page.verify()
      chunks.reserveCapacity(page.count)
      counts.reserveCapacity(page.count)
      var start = oldStart
      for index in 0..<page.count {
        let rows = page.rows(index)
        guard rows > 0 else { throw SequenceShape.damaged("a page has no elements") }
        chunks.append(Chunk(count: rows, label: page.first(index), oldStart: start))
        counts.append(rows)
        start += rows
      }
      unread = nil
    }

    /// The first chunk, without reading the others.
    var first: Chunk {
      guard let page = unread else { return chunks[0] }
      return Chunk(count: page.rows(0), label: page.first(0), oldStart: oldStart)
    }

    /// The chunks; for a block that was not opened, the first and last one, and those between them
    /// as one without a label.
    var outline: ContiguousArray<Chunk> {
      guard let page = unread else { return chunks }
      if page.count == 1 { return [first] }
      let last = page.count - 1
      let end = Chunk(
        count: page.rows(last), label: page.first(last),
        oldStart: oldStart + count - page.rows(last))
      let between = Chunk(
        count: count - first.count - end.count, oldStart: oldStart + first.count)
      return between.count > 0 ? [first, between, end] : [first, end]
    }

    // MARK: - Changing an open block

    func changeCount(_ chunk: Int, by delta: Int) {
      chunks[chunk].count += delta
      counts[chunk] += delta
      count += delta
    }

    func replace(_ chunk: Int, with new: ContiguousArray<Chunk>) {
      chunks.replaceSubrange(chunk...chunk, with: new)
      counts.replaceSubrange(chunk...chunk, with: new.map(\.count))
      count = counts.reduce(0, +)
    }
  }
}
