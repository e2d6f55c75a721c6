/// Writes the pages of a changed sequence. Loaded chunks are packed again, adjacent ones together;
/// unchanged pages stay where they are.
struct SequenceWriter {
  private let sequence: WorkingSequence
  private let large: LargeSequence
  private let edits: SequenceEdits
  /// The default distance between labels.
  private static let stride: Int64 = 1 << 32

  /// Adjacent new pages between two old ones.
  private struct Run {
    var pages: [(bytes: [UInt8], count: Int)]
    /// Labels of the pages that they replace.
    var old: [PageLabel]
    /// The old pages around them, nil at an end.
    var before: PageLabel?
    var after: PageLabel?
  }

  init(_ sequence: WorkingSequence, _ large: LargeSequence, _ edits: SequenceEdits) {
    self.sequence = sequence
    self.large = large
    self.edits = edits
  }

  func write(_ transaction: borrowing WriteTransaction) throws(StorageError) {
    guard let chunks = sequence.chunks else { return }
    let runs = try runs(of: chunks.outline)
    var labels: [[PageLabel]] = []
    for run in runs {
      guard let fitting = Self.labels(for: run) else {
        return try writeAnew(chunks.all(), runs, transaction)
      }
      labels.append(fitting)
    }
    var rows: [PageLabel: Int] = [:]
    for label in chunks.droppedLabels { rows[label] = 0 }
    for run in runs { for label in run.old { rows[label] = 0 } }
    for (run, labels) in zip(runs, labels) {
      for (page, label) in zip(run.pages, labels) { rows[label] = page.count }
    }
    for (label, count) in rows where count == 0 { try delete(label, transaction) }
    for (run, labels) in zip(runs, labels) {
      for (page, label) in zip(run.pages, labels) { try put(page.bytes, label, transaction) }
    }
    let changes = rows.map { RowCount(first: $0.key, rows: $0.value) }
    try RowCounts(pagesOf: large.id)
      .apply(changes.sorted { $0.first < $1.first }, in: transaction)
  }

  private func runs(
    of chunks: [SequenceChunks.Chunk]
  ) throws(StorageError) -> [Run] {
    var runs: [Run] = []
    var index = 0
    var before: PageLabel?
    while index < chunks.count {
      guard chunks[index].body != nil else {
        before = chunks[index].label
        index += 1
        continue
      }
      var parts: [SequenceElements] = []
      var old: [PageLabel] = []
      while index < chunks.count, let body = chunks[index].body {
        parts.append(large.hasOutside ? edits.shortened(body.elements) : body.elements)
        if let label = chunks[index].label { old.append(label) }
        index += 1
      }
      let after = index < chunks.count ? chunks[index].label : nil
      let pages = try SequencePacker.pack(parts, sequence.shape, isEnd: after == nil)
      runs.append(Run(pages: pages, old: old, before: before, after: after))
    }
    return runs
  }

  // MARK: - Labels

  /// Labels for the pages of a run: its old ones, and others next to them; nil without room.
  private static func labels(for run: Run) -> [PageLabel]? {
    let extra = run.pages.count - run.old.count
    if extra <= 0 { return Array(run.old.prefix(run.pages.count)) }
    guard let after = run.after else {
      guard let last = run.old.last ?? run.before else {
        return (0..<extra).map { PageLabel(Int64($0) * stride) }
      }
      guard last.rawValue < Int64.max - Int64(extra) * stride else { return nil }
      return run.old + (1...extra).map { PageLabel(last.rawValue + Int64($0) * stride) }
    }
    guard let before = run.before else {
      let first = run.old.first ?? after
      guard first.rawValue > Int64.min + Int64(extra) * stride else { return nil }
      return (1...extra).reversed().map { PageLabel(first.rawValue - Int64($0) * stride) } + run.old
    }
    if let fitting = spread(extra, between: run.old.last ?? before, and: after) {
      return run.old + fitting
    }
    return spread(run.pages.count, between: before, and: after)
  }

  private static func spread(
    _ count: Int, between low: PageLabel, and high: PageLabel
  ) -> [PageLabel]? {
    let room = UInt64(bitPattern: high.rawValue &- low.rawValue)
    let step = room / UInt64(count + 1)
    guard step > 0 else { return nil }
    return (1...count).map { PageLabel(low.rawValue &+ Int64(step) &* Int64($0)) }
  }

  /// Gives every page a new label.
  private func writeAnew(
    _ chunks: [SequenceChunks.Chunk], _ runs: [Run], _ transaction: borrowing WriteTransaction
  ) throws(StorageError) {
    try transaction.deleteAll(.sequencePage, of: large.id)
    try transaction.deleteAll(.sequenceRowCounts, of: large.id)
    var entries: [RowCount] = []
    func add(
      _ bytes: UnsafeRawBufferPointer, _ count: Int, _ transaction: borrowing WriteTransaction
    ) throws(StorageError) {
      let label = PageLabel(Int64(entries.count) * Self.stride)
      try unsafe put(bytes, label, transaction)
      entries.append(RowCount(first: label, rows: count))
    }
    var nextRun = 0
    var wasLoaded = false
    for chunk in chunks {
      defer { wasLoaded = chunk.body != nil }
      guard chunk.body != nil else {
        // The page is still in the snapshot.
        let page = try sequence.base.page(chunk.label!, count: chunk.count)
        try unsafe add(page.image.bytes, chunk.count, transaction)
        continue
      }
      if wasLoaded { continue }
      for page in runs[nextRun].pages {
        unsafe try withBytes(of: page.bytes) { bytes throws(StorageError) in
          try unsafe add(bytes, page.count, transaction)
        }
      }
      nextRun += 1
    }
    try RowCounts(pagesOf: large.id).apply(entries, in: transaction)
  }

  // MARK: - Pages

  private func put(
    _ bytes: [UInt8], _ label: PageLabel, _ transaction: borrowing WriteTransaction
  ) throws(StorageError) {
    unsafe try withBytes(of: bytes) { bytes throws(StorageError) in
      unsafe try put(bytes, label, transaction)
    }
  }

  private func put(
    _ bytes: UnsafeRawBufferPointer, _ label: PageLabel, _ transaction: borrowing WriteTransaction
  ) throws(StorageError) {
    unsafe try TreeKey.sequencePage(large.id, label: label).withBytes { key throws(StorageError) in
      unsafe try transaction.put(bytes, forKey: key)
    }
  }

  private func delete(
    _ label: PageLabel, _ transaction: borrowing WriteTransaction
  ) throws(StorageError) {
    _ = unsafe try TreeKey.sequencePage(large.id, label: label).withBytes {
      key throws(StorageError) in
      unsafe try transaction.delete(key)
    }
  }
}

extension WorkingSequence {
  /// Every element of a sequence that is about to be small.
  func allElements() throws(StorageError) -> SequenceElements {
    var elements = SequenceElements()
    for position in 0..<count {
      if shape.isMap { elements.keys.append(try keyElement(at: position)) }
      elements.values.append(try element(at: position))
    }
    return elements
  }

  /// If a few changed elements remain between unchanged pages, includes the page next to them, so
  /// that pages which lost most of their elements do not stay.
  func joinSparse() throws(StorageError) {
    guard let chunks else { return }
    let list = chunks.outline
    var start = 0
    var index = 0
    while index < list.count {
      guard list[index].body != nil else {
        start += list[index].count
        index += 1
        continue
      }
      let first = index
      var count = 0
      while index < list.count, list[index].body != nil {
        count += list[index].count
        index += 1
      }
      if index < list.count, count < list[index].count / 4 {
        try unpack(at: start + count)
      } else if first > 0, list[first - 1].body == nil, count < list[first - 1].count / 4 {
        try unpack(at: start - 1)
      }
      start += count
    }
  }
}
