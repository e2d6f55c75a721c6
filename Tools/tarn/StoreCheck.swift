import TarnStore

/// Verifies what a file says against itself: pages, checksums, rows, counts, indexes, collections,
/// owners, change records, and that nothing lies in the tree that belongs nowhere.
/// Finds what is wrong; changes nothing.
struct StoreCheck {
  private static let problemsMax = 100

  private(set) var problems: [String] = []
  private(set) var clusters = 0
  private(set) var rows = 0
  private(set) var indexEntries = 0
  /// Lists, sets and maps, and the elements in them.
  private(set) var sequences = 0
  private(set) var elements = 0
  let pages: PageReport

  /// Walks the pages alone, for a file that may be too damaged to be opened.
  init(pagesOf path: String) throws {
    pages = try Environment.verifyPages(path: path)
    problems = pages.problems
  }

  /// - Parameter pages: what a walk over the pages of the snapshot's file has found.
  init(_ snapshot: Snapshot, pages: PageReport) throws {
    self.pages = pages
    problems = pages.problems
    let reader = try SnapshotReader(snapshot)
    for schema in snapshot.schema.schema.classes { check(schema, reader) }
    let collections = SequenceCheck(reader)
    sequences = collections.sequences
    elements = collections.elements
    for problem in collections.problems { note(problem) }
    for problem in OwnerCheck(reader).problems { note(problem) }
    for problem in TreeCheck(reader).problems { note(problem) }
    for problem in ChangeLog.problems(in: snapshot) { note(problem) }
  }

  private mutating func note(_ problem: String) {
    if problems.count < Self.problemsMax { problems.append(problem) }
  }

  private mutating func check(_ schema: ClassSchema, _ reader: SnapshotReader) {
    do throws(StorageError) {
      var found = 0
      var bad: [String] = []
      var images = 0
      var listing: [DirectoryEntry] = []
      var last: ObjectKey?
      try reader.forEachCluster(in: schema.id) { cluster throws(StorageError) in
        images += 1
        found += cluster.image.rowCount
        listing.append(DirectoryEntry(first: cluster.boundary, rows: cluster.image.rowCount))
        do throws(StorageError) {
          try cluster.image.verifyChecksum()
          try cluster.image.checkRows(schema)
          let first = cluster.image.key(at: 0)
          if first < cluster.boundary || last.map({ $0 >= cluster.boundary }) == true {
            bad.append(
              "class \(schema.name), cluster at \(cluster.boundary.rawValue): rows are outside "
                + "its range")
          }
          last = cluster.image.lastKey
        } catch {
          bad.append("class \(schema.name), cluster at \(cluster.boundary.rawValue): \(error)")
        }
        return true
      }
      clusters += images
      rows += found
      for problem in bad { note(problem) }
      let record = try reader.record(of: schema.id)
      if record.rowCount != found {
        note("class \(schema.name) says it has \(record.rowCount) objects, but there are \(found)")
      }
      if let last, !schema.keyIsPrimary, record.nextKey <= last {
        note("class \(schema.name) would reuse an existing key for a new object")
      }
      let problem = try reader.withCursor { cursor throws(StorageError) in
        try ClassDirectory(schema.id).problem(listing: listing, &cursor)
      }
      if let problem { note("the directory of class \(schema.name): \(problem)") }
      guard bad.isEmpty else { return }
      for column in reader.schema.indexed(in: schema.id) { try check(column, schema, reader) }
      let rules = try UniqueCheck(schema, reader)
      indexEntries += rules.entries
      for problem in rules.problems { note(problem) }
    } catch {
      note("class \(schema.name): \(error)")
    }
  }

  /// Every row's value is indexed, and nothing else is.
  private mutating func check(
    _ column: ColumnSchema, _ schema: ClassSchema, _ reader: SnapshotReader
  ) throws(StorageError) {
    let index = PackedIndex(schema.id, column.id)
    let name = "the index over \(schema.name).\(column.name)"
    var expected = 0
    var missing = 0
    let mayRepeat = column.collection != .none || column.type == .any
    var cursor = try Cursor(reader.snapshot.transaction)
    try reader.forEachCluster(in: schema.id) { cluster throws(StorageError) in
      for slot in 0..<cluster.image.rowCount {
        let key = cluster.image.key(at: slot)
        if mayRepeat {
          for (target, count) in try reader.links(from: column, at: key, in: schema.id) {
            let link = LinkName(
              classID: schema.id, column: column.id, owner: key, target: target)
            expected += 1
            if try reader.linkCount(link) != count { missing += 1 }
          }
          continue
        }
        let value = try reader.value(of: column.id, at: key, in: schema.id) ?? .null
        // Links that lead nowhere are not indexed.
        if value == .null, column.type == .link { continue }
        expected += 1
        guard let order = OrderKey(value, type: column.type) else { continue }
        if try !index.contains(order, key, &cursor) { missing += 1 }
      }
      return true
    }
    if let problem = try index.problem(&cursor) { note("\(name): \(problem)") }
    let found = try index.count(&cursor)
    indexEntries += found
    if missing > 0 {
      note("\(name) lacks \(missing) of \(expected) entries, or has them with wrong counts")
    }
    if found != expected { note("\(name) has \(found) entries instead of \(expected)") }
  }
}
