/// Verifies that a file is consistent: pages, checksums, rows, counts, indexes, collections, owners
/// and change records, and that every entry of the tree belongs to something. Reports problems;
/// changes nothing.
package struct StoreCheck {
  private static let problemsMax = 100

  package private(set) var problems: [String] = []
  /// Whether there is a problem that `tarn reindex` does not repair.
  private var hasOthers = false
  /// True if nothing is wrong but indexes.
  package var areOnlyIndexesWrong: Bool { !problems.isEmpty && !hasOthers }
  package private(set) var clusters = 0
  package private(set) var rows = 0
  package private(set) var indexEntries = 0
  /// The number of lists, sets and maps, and of their elements.
  package private(set) var sequences = 0
  package private(set) var elements = 0
  package let pages: PageReport

  /// Only walks the pages, for a file that may be too damaged to open.
  package init(pagesOf path: String) throws(StorageError) {
    pages = try Environment.verifyPages(path: path)
    problems = pages.problems
  }

  /// - Parameter pages: the result of a walk over the pages of the snapshot's file.
  package init(_ snapshot: Snapshot, pages: PageReport) throws(StorageError) {
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
      var listing: [RowCount] = []
      var last: ObjectKey?
      try reader.forEachCluster(in: schema.id) { cluster throws(StorageError) in
        images += 1
        found += cluster.image.rowCount
        listing.append(RowCount(first: cluster.boundary, rows: cluster.image.rowCount))
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
        try RowCounts(schema.id).problem(listing: listing, &cursor)
      }
      if let problem { note("the row counts of class \(schema.name): \(problem)") }
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
