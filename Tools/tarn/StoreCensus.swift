import TarnStore

/// The contents of a file's tree, counted in one walk, and the processes that use the file.
struct StoreCensus {
  struct Tally {
    var entries = 0
    var bytes = 0

    mutating func add(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
      entries += 1
      bytes += key.count + value.count
    }
  }

  struct ClassTally {
    var clusters = Tally()
    var indexes = Tally()
    var longValues = Tally()
    var rowCounts = Tally()
    var bytes: Int { clusters.bytes + indexes.bytes + longValues.bytes + rowCounts.bytes }
  }

  private(set) var classes: [ClassTally]
  private(set) var changes = Tally()
  /// Elements of lists, sets and maps, except those stored in their object's cell.
  struct CollectionTally {
    var pages = Tally()
    var rowCounts = Tally()
    /// Chunks of elements that are too long for a page.
    var longElements = Tally()
    /// Cells of lists and maps within mixed values.
    var nested = Tally()
    /// Counts of how often an object links to another.
    var linkCounts = Tally()

    private var all: [Tally] { [pages, rowCounts, longElements, nested, linkCounts] }
    var entries: Int { all.reduce(0) { $0 + $1.entries } }
    var bytes: Int { all.reduce(0) { $0 + $1.bytes } }
  }

  private(set) var collections = CollectionTally()
  /// The versions that have change records.
  private(set) var records: ClosedRange<Version>?
  /// The states that other processes read, the oldest first.
  let readers: [PinnedState]

  init(_ snapshot: Snapshot, _ store: Store) throws {
    classes = Array(repeating: ClassTally(), count: snapshot.schema.schema.classes.count)
    readers = try store.pinnedStates(ofOthers: true)
    var cursor = try Cursor(snapshot.transaction)
    var isAtEntry = try cursor.first()
    while isAtEntry {
      try count(cursor.key, cursor.value)
      isAtEntry = try cursor.next()
    }
  }

  private mutating func count(
    _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer
  ) throws {
    func add(to path: WritableKeyPath<ClassTally, Tally>, _ id: ClassID?) {
      guard let id, id.rawValue < UInt32(classes.count) else { return }
      classes[Int(id.rawValue)][keyPath: path].add(key, value)
    }
    switch TreeKey.tag(of: key) {
    case .cluster: add(to: \.clusters, TreeKey.parseCluster(key)?.classID)
    case .rowCounts: add(to: \.rowCounts, TreeKey.parseRowCounts(key)?.classID)
    case .longValue: add(to: \.longValues, TreeKey.parseLongValue(key)?.classID)
    case .sequencePage: collections.pages.add(key, value)
    case .sequenceRowCounts: collections.rowCounts.add(key, value)
    case .longElement: collections.longElements.add(key, value)
    case .nested: collections.nested.add(key, value)
    case .linkCount: collections.linkCounts.add(key, value)
    case .index, .unique:
      // The class is in the four bytes after the tag, most significant first.
      let id = key.dropFirst().prefix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
      add(to: \.indexes, ClassID(id))
    case .change:
      changes.add(key, value)
      guard let parsed = TreeKey.parseChange(key) else { return }
      records = min(records?.lowerBound ?? parsed.version, parsed.version)...parsed.version
    case .oldValue: changes.add(key, value)
    case .head, .schema, .classRecord, .feed, .replica, nil: break
    }
  }
}
