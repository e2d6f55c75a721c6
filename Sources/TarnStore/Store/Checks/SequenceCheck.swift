/// Verifies the stored lists, sets and maps of a file: that every page, piece and record belongs to
/// exactly one of them, that the counts add up, and that sets and maps are in order. Reports
/// problems; changes nothing.
package struct SequenceCheck: SnapshotCheck {
  package internal(set) var problems: [String] = []
  package private(set) var sequences = 0
  package private(set) var elements = 0

  private let reader: SnapshotReader
  /// Referenced pages, numbers of pieces, and records, by their ids.
  private var pages: [CollectionID: Set<PageLabel>] = [:]
  private var longs: [CollectionID: Int] = [:]
  private var nested: Set<CollectionID> = []
  /// Nested collections that remain to be checked.
  private var pending: [(id: CollectionID, kind: CollectionKind, owner: String)] = []

  package init(_ reader: SnapshotReader) {
    self.reader = reader
    for described in reader.schema.schema.classes { check(described) }
    while let next = pending.popLast() { checkNested(next.id, next.kind, next.owner) }
    attempt("the tree") { check throws(StorageError) in try check.findOrphans() }
  }

  // MARK: - Owners

  private mutating func check(_ described: ClassSchema) {
    let columns = reader.schema.holding(in: described.id)
    if columns.isEmpty { return }
    var keys: [ObjectKey] = []
    attempt("class \(described.name)") { check throws(StorageError) in
      try check.reader.forEachCluster(in: described.id) { found throws(StorageError) in
        for slot in 0..<found.image.rowCount { keys.append(found.image.key(at: slot)) }
        return true
      }
    }
    for key in keys {
      for column in columns {
        attempt("\(described.name).\(column.name) of object \(key.rawValue)") {
          check throws(StorageError) in try check.check(column, key, described)
        }
      }
    }
  }

  private mutating func check(
    _ column: ColumnSchema, _ key: ObjectKey, _ described: ClassSchema
  ) throws(StorageError) {
    let name = "\(described.name).\(column.name) of object \(key.rawValue)"
    if column.collection == .none {
      let value = try reader.value(of: column.id, at: key, in: described.id)
      if let value { add(.value(value), name) }
      return
    }
    let place = SequencePlace(classID: described.id, key: key, column: column.id)
    if let sequence = try reader.sequence(at: place) { try check(sequence, name) }
  }

  private mutating func checkNested(_ id: CollectionID, _ kind: CollectionKind, _ owner: String) {
    let name = "the collection \(id.rawValue) in \(owner)"
    attempt(name) { check throws(StorageError) in
      guard let sequence = try check.reader.nestedSequence(id) else {
        return check.note("\(name) is missing")
      }
      if sequence.shape.kind != kind { check.note("\(name) has another kind than its value says") }
      try check.check(sequence, name)
    }
  }

  // MARK: - One sequence

  private mutating func check(
    _ sequence: StoredSequence, _ name: String
  ) throws(StorageError) {
    sequences += 1
    elements += sequence.count
    var last: Value?
    var found = 0
    var hasOutside = false
    func take(
      _ key: TaggedValue?, _ element: TaggedValue, _ check: inout SequenceCheck
    ) throws(StorageError) {
      found += 1
      for part in [key, element] {
        guard let part else { continue }
        if part.isOutside { hasOutside = true }
        if part.isTooLong { check.note("\(name) has an element that is too long to be stored") }
        check.add(part, name)
      }
      guard sequence.shape.kind != .list else { return }
      let value = try sequence.resolve(key ?? element)
      if let last, SequenceOrder.compare(last, value) >= 0 {
        check.note("\(name) is out of order at \(found - 1)")
      }
      last = value
    }
    switch sequence.cell {
    case .empty: break
    case .small(let elements):
      for index in 0..<elements.count {
        let key = elements.keys.isEmpty ? nil : elements.keys[index]
        try take(key, elements.values[index], &self)
      }
    case .large(let large):
      try claimPages(of: sequence, large, name)
      try sequence.forEachPage(in: 0..<sequence.count) { page, _, _ throws(StorageError) in
        try page.verify()
        for slot in 0..<page.count {
          try take(page.shape.isMap ? page.key(slot) : nil, page.element(slot), &self)
        }
        return true
      }
      if hasOutside, !large.hasOutside {
        note("\(name) has long elements or collections, but its cell says otherwise")
      }
    }
    if found != sequence.count { note("\(name) has \(found) elements of \(sequence.count)") }
  }

  private mutating func claimPages(
    of sequence: StoredSequence, _ large: LargeSequence, _ name: String
  ) throws(StorageError) {
    claim(large.id, name)
    if pages[large.id] != nil { note("\(name) shares its pages with another collection") }
    let list = try sequence.pageList()
    pages[large.id] = Set(list.labels)
    let listing = list.labels.indices.map { index in
      RowCount(first: list.labels[index], rows: list.starts[index + 1] - list.starts[index])
    }
    var cursor = try Cursor(reader.snapshot.transaction)
    let problem = try RowCounts(pagesOf: large.id).problem(listing: listing, &cursor)
    if let problem { note("the row counts of \(name): \(problem)") }
  }

  private mutating func claim(_ id: CollectionID, _ name: String) {
    if id >= reader.snapshot.head.nextCollectionID {
      note("\(name) has the id \(id.rawValue), which was never assigned")
    }
  }

  private mutating func add(_ element: TaggedValue, _ name: String) {
    switch element {
    case .long(let id, let byteCount, _):
      claim(id, name)
      if longs.updateValue(.max, forKey: id) != nil {
        note("\(name) shares a long element with another collection")
      }
      attempt(name) { check throws(StorageError) in
        var cursor = try Cursor(check.reader.snapshot.transaction)
        check.longs[id] = try Pieces.element(id).check(byteCount: byteCount, &cursor)
      }
    case .value(.list(let id)), .value(.map(let id)):
      claim(id, name)
      guard nested.insert(id).inserted else {
        return note("\(name) shares a collection within a value with another")
      }
      if case .value(.list) = element {
        pending.append((id, .list, name))
      } else {
        pending.append((id, .map, name))
      }
    case .value(let value):
      attempt(name) { check throws(StorageError) in _ = try check.reader.schema.checked(value) }
    }
  }

  // MARK: - Orphans

  /// Checks that every entry under the keys of collections belongs to one that was found.
  private mutating func findOrphans() throws(StorageError) {
    var cursor = try Cursor(reader.snapshot.transaction)
    let start = TreeKey.sequencePage(CollectionID(0), label: .smallest)
    var isAtKey = try unsafe start.withBytes { key throws(StorageError) in
      try unsafe cursor.seek(atOrAfter: key)
    }
    while isAtKey {
      let key = unsafe cursor.key
      switch unsafe TreeKey.tag(of: key) {
      case .sequencePage:
        if let parsed = unsafe TreeKey.parseSequencePage(key),
          pages[parsed.id]?.contains(parsed.label) == true
        {
        } else {
          note("a page of elements does not belong to a collection")
        }
      case .sequenceRowCounts:
        if let parsed = unsafe TreeKey.parseSequenceRowCounts(key), pages[parsed.id] != nil {
        } else {
          note("a page of row counts does not belong to a collection")
        }
      case .longElement:
        if let parsed = unsafe TreeKey.parseLongElement(key), let count = longs[parsed.id],
          Int(parsed.piece) < count
        {
        } else {
          note("a piece of a long element does not belong to an element")
        }
      case .nested:
        if let id = unsafe TreeKey.parseNested(key), nested.contains(id) {
        } else {
          note("a nested collection does not belong to a value")
        }
      case .linkCount: break
      default: return
      }
      isAtKey = try cursor.next()
    }
  }
}
