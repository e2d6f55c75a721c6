import TarnStore

/// Verifies what a file says against itself: pages, checksums, rows, counts, indexes, collections,
/// owners, change records, and that nothing lies in the tree that belongs nowhere.
/// Finds what is wrong; changes nothing.
struct StoreCheck {
  private static let problemsMax = 100

  private(set) var problems: [String] = []
  /// Whether something is wrong that `tarn reindex` does not mend.
  private var hasOthers = false
  /// True if nothing is wrong but indexes.
  var areOnlyIndexesWrong: Bool { !problems.isEmpty && !hasOthers }
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
    hasOthers = !problems.isEmpty
    let reader = try SnapshotReader(snapshot)
    for schema in snapshot.schema.schema.classes { check(schema, reader) }
    let collections = SequenceCheck(reader)
    sequences = collections.sequences
    elements = collections.elements
    for problem in collections.problems { note(problem) }
    for problem in OwnerCheck(reader).problems { note(problem) }
    let tree = TreeCheck(reader)
    for problem in tree.indexProblems { noteMendable(problem) }
    for problem in tree.problems { note(problem) }
    for problem in ChangeLog.problems(in: snapshot) { note(problem) }
  }

  private mutating func note(_ problem: String) {
    hasOthers = true
    if problems.count < Self.problemsMax { problems.append(problem) }
  }

  private mutating func noteMendable(_ problem: String) {
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
      let indexes = try IndexCheck(schema, reader)
      indexEntries += indexes.entries
      for problem in indexes.problems { noteMendable(problem) }
      for problem in indexes.broken { note(problem) }
    } catch {
      note("class \(schema.name): \(error)")
    }
  }
}
