/// The changes of an open write in one class: its clusters, its counters, its index deltas.
///
/// A cluster's boundary is the least key that it can contain. The class's first cluster has the
/// least possible boundary, so every key has a cluster at or before it.
final class ClassEdit {
  let schema: ClassSchema

  // The fields that each change of a property or each new row uses are not checked for exclusive
  // access: no access to one of them runs code that uses the edit.

  @safe @exclusivity(unchecked) private(set) var nextKey: Int64
  @safe @exclusivity(unchecked) var rowCount: Int
  var hasInserted = false
  /// The file's rows no longer count: the class was emptied in this write.
  @safe @exclusivity(unchecked) private(set) var isCleared = false
  /// The class's record before the write.
  private let record: ClassRecord
  /// Clusters of the file under edit, by their boundary in the file.
  @safe @exclusivity(unchecked) private(set) var opened = OpenedClusters()
  /// Clusters that this write created, in the order of their boundaries.
  @safe @exclusivity(unchecked) private(set) var made: [EditedCluster] = []
  /// Deltas by column index; nil for a column without an index or without a change. Empty without
  /// any.
  private var indexes: [IndexDelta?] = []
  /// An upper bound of the class's keys; nil while unknown.
  @safe @exclusivity(unchecked) private var largestKey: ObjectKey?
  /// The class's last cluster once `largestKey` is known, unless the class is empty.
  @safe @exclusivity(unchecked) private var last: EditedCluster?
  /// The last cluster of the file that was opened or found.
  @safe @exclusivity(unchecked) private var recent: EditedCluster?

  /// Whether the class's record must be written.
  var changesRecord: Bool {
    isCleared || nextKey != record.nextKey.rawValue || rowCount != record.rowCount
  }

  /// The position of a key's row, if it exists.
  enum Found {
    case stored(SnapshotReader.FoundCluster)
    case edited(EditedCluster)
  }

  init(_ schema: ClassSchema, _ reader: SnapshotReader) throws(StorageError) {
    self.schema = schema
    record = try reader.record(of: schema.id)
    nextKey = record.nextKey.rawValue
    rowCount = record.rowCount
  }

  /// The same edit with copies of its clusters. Cached values are found again.
  init(copying other: ClassEdit, opened: OpenedClusters, made: [EditedCluster]) {
    schema = other.schema
    record = other.record
    nextKey = other.nextKey
    rowCount = other.rowCount
    hasInserted = other.hasInserted
    self.opened = opened
    self.made = made
    indexes = other.indexes.map { $0.map { IndexDelta(copying: $0) } }
  }

  /// The delta of a column's index, if the write has changed that.
  func index(_ column: ColumnID) -> IndexDelta? {
    column.index < indexes.count ? indexes[column.index] : nil
  }

  /// The columns whose indexes the write has changed, and the deltas.
  var changedIndexes: [(column: ColumnID, delta: IndexDelta)] {
    indexes.enumerated().compactMap { index, delta in
      delta.map { (ColumnID(UInt16(index)), $0) }
    }
  }

  func setIndex(_ column: ColumnID, _ delta: IndexDelta?) {
    if indexes.isEmpty {
      if delta == nil { return }
      indexes = Array(repeating: nil, count: schema.columns.count)
    }
    indexes[column.index] = delta
  }

  // MARK: - Finding

  func find(_ key: ObjectKey, _ reader: SnapshotReader) throws(StorageError) -> Found? {
    let mine = madeCluster(atOrBefore: key)
    guard !isCleared, let found = try reader.cluster(for: key, in: schema.id) else {
      return mine.map { .edited($0) }
    }
    if let mine, mine.boundary > found.boundary { return .edited(mine) }
    if let recent, recent.boundary == found.boundary { return .edited(recent) }
    guard let cluster = opened[found.boundary] else { return .stored(found) }
    recent = cluster
    return .edited(cluster)
  }

  private func madeCluster(atOrBefore key: ObjectKey) -> EditedCluster? {
    let index = made.firstIndex(after: key)
    return index > 0 ? made[index - 1] : nil
  }

  /// True if the key is known to be larger than all others.
  func isBeyondAll(_ key: ObjectKey) -> Bool {
    guard let largestKey else { return false }
    return largestKey < key
  }

  // MARK: - Opening and creating clusters

  /// Opens a cluster of the file for editing.
  func open(_ found: SnapshotReader.FoundCluster) throws(StorageError) -> EditedCluster {
    let cluster = EditedCluster(
      boundary: found.boundary, stored: found.boundary, storedRowCount: found.image.rowCount,
      .working(try WorkingCluster(found.image, schema)))
    opened.insert(cluster)
    recent = cluster
    return cluster
  }

  /// The key of a new row: the given one, or the next of the counter, which never goes back, not
  /// even when the class is emptied.
  func claim(_ key: ObjectKey?) throws(StorageError) -> ObjectKey {
    if let key { return key }
    guard nextKey < .max else {
      throw StorageError(
        .limitExceeded, operation: "add object", path: "",
        detail: "Class \(schema.name) has no object key left.")
    }
    defer { nextKey += 1 }
    return ObjectKey(nextKey)
  }

  func damaged(_ detail: String) -> StorageError {
    StorageError(
      .corrupted, operation: "change objects", path: "",
      detail: "The record of class \(schema.name) is damaged: \(detail).")
  }

  /// From now on the counter gives keys larger than `key`.
  func continueKeys(after key: ObjectKey) { nextKey = max(nextKey, key.rawValue + 1) }

  /// The cluster for a new row with this key, with room for it.
  ///
  /// - Parameter isCounted: the key is the counter's, so it is larger than all others.
  func clusterForInserting(
    _ key: ObjectKey, isCounted: Bool, _ session: WriteSession
  ) throws(StorageError) -> EditedCluster {
    try learnLargestKey(session)
    if isCounted, let largestKey, largestKey >= key {
      throw damaged("its next key is \(key.rawValue), but larger ones exist")
    }
    if let largestKey, largestKey < key, let last {
      self.largestKey = key
      let working = try last.working(schema)
      guard working.rowCount >= working.targetRows else { return last }
      return try seal(last, working, session) ?? make(boundary: key)
    }
    if largestKey == nil || largestKey! < key { largestKey = key }
    let cluster: EditedCluster
    switch try find(key, session.reader) {
    case .edited(let edited):
      cluster = edited
      // Unpacking releases the image that its rows are read from.
      if case .sealed = edited.state { session.rowsMoved() }
    case .stored(let found):
      cluster = try open(found)
      session.rowsMoved()
    case nil: return make(boundary: ObjectKey(.min))
    }
    let working = try cluster.working(schema)
    guard working.rowCount >= working.targetRows else { return cluster }
    let upper = split(working, session)
    return key < upper.boundary ? cluster : upper
  }

  private func learnLargestKey(_ session: WriteSession) throws(StorageError) {
    guard largestKey == nil else { return }
    switch try find(ObjectKey(.max), session.reader) {
    case nil: return
    case .edited(let edited):
      last = edited
      // It may have lost its rows. Then all others are in earlier clusters.
      largestKey = edited.largestKey ?? edited.boundary.predecessor
    case .stored(let found):
      last = try open(found)
      largestKey = found.image.lastKey
      session.rowsMoved()
    }
  }

  private func make(boundary: ObjectKey) -> EditedCluster {
    let cluster = EditedCluster(
      boundary: boundary, stored: nil, .working(WorkingCluster(schema)))
    insertMade(cluster)
    return cluster
  }

  private func insertMade(_ cluster: EditedCluster) {
    made.insert(cluster, at: made.firstIndex(after: cluster.boundary))
    if last == nil || last!.boundary < cluster.boundary { last = cluster }
  }

  /// Packs the full part of a cluster that grows at its end, so that a bulk insert holds images and
  /// not unpacked rows. Returns the cluster of the remaining rows; nil without any.
  private func seal(
    _ cluster: EditedCluster, _ working: WorkingCluster, _ session: WriteSession
  ) throws(StorageError) -> EditedCluster? {
    var images: [SealedImage] = []
    let emitLong = unsafe session.keepLong(schema.id)
    session.dropLong(working, schema.id)
    unsafe try working.sealFullImages(emitLong: emitLong) { first, _, bytes throws(StorageError) in
      images.append(unsafe try SealedImage(firstKey: first, copying: bytes))
    }
    session.rowsMoved()
    guard let first = images.first else { return cluster }
    cluster.replace(with: .sealed(first))
    for image in images.dropFirst() {
      insertMade(EditedCluster(boundary: image.firstKey, stored: nil, .sealed(image)))
    }
    guard working.rowCount > 0 else { return nil }
    let rest = EditedCluster(boundary: working.key(at: 0), stored: nil, .working(working))
    insertMade(rest)
    return rest
  }

  /// Moves the upper half of a cluster's rows into a new one, and returns it.
  private func split(_ working: WorkingCluster, _ session: WriteSession) -> EditedCluster {
    let upper = working.split(at: working.rowCount / 2)
    let made = EditedCluster(boundary: upper.key(at: 0), stored: nil, .working(upper))
    insertMade(made)
    session.rowsMoved()
    return made
  }

  /// Drops all rows. The commit removes them from the file.
  func clear() {
    isCleared = true
    opened = OpenedClusters()
    made = []
    last = nil
    recent = nil
    largestKey = nil
    rowCount = 0
    indexes = []
  }

  // MARK: - Scanning

  /// Every image of the class in the order of keys, until `body` returns false.
  func forEachImage(
    _ session: WriteSession, _ body: (ClusterImage) throws(StorageError) -> Bool
  ) throws(StorageError) {
    let emitLong = unsafe session.keepLong(schema.id)
    var next = 0
    var goesOn = true
    func visit(_ cluster: EditedCluster) throws(StorageError) {
      if case .working(let working) = cluster.state { session.dropLong(working, schema.id) }
      for sealed in unsafe try cluster.images(emitLong: emitLong) where goesOn {
        goesOn = try body(sealed.image)
      }
    }
    if !isCleared {
      try session.reader.forEachCluster(in: schema.id) { found throws(StorageError) in
        while goesOn, next < made.count, made[next].boundary < found.boundary {
          try visit(made[next])
          next += 1
        }
        guard goesOn else { return false }
        if let cluster = opened[found.boundary] {
          try visit(cluster)
        } else {
          goesOn = try body(found.image)
        }
        return goesOn
      }
    }
    while goesOn, next < made.count {
      try visit(made[next])
      next += 1
    }
  }
}

extension ClassEdit {
  /// The smallest or greatest key of the rows in this write; nil without rows.
  func end(isLast: Bool, _ reader: SnapshotReader) throws(StorageError) -> ObjectKey? {
    isLast ? try lastKey(reader) : try firstKey(reader)
  }

  private func lastKey(_ reader: SnapshotReader) throws(StorageError) -> ObjectKey? {
    var probe = ObjectKey.largest
    while let found = try find(probe, reader) {
      switch found {
      case .stored(let cluster): return cluster.image.lastKey
      case .edited(let cluster):
        if let key = cluster.largestKey { return key }
        // It has lost its rows.
        guard cluster.boundary > .smallest else { return nil }
        probe = cluster.boundary.predecessor
      }
    }
    return nil
  }

  private func firstKey(_ reader: SnapshotReader) throws(StorageError) -> ObjectKey? {
    var (first, next): (ObjectKey?, Int) = (nil, 0)
    func look(atMadeBefore boundary: ObjectKey?) {
      while first == nil, next < made.count, boundary.map({ made[next].boundary < $0 }) ?? true {
        first = made[next].smallestKey
        next += 1
      }
    }
    if !isCleared {
      try reader.forEachCluster(in: schema.id) { found in
        look(atMadeBefore: found.boundary)
        guard first == nil else { return false }
        let edited = opened[found.boundary]
        first = edited == nil ? found.image.key(at: 0) : edited?.smallestKey
        return first == nil
      }
    }
    look(atMadeBefore: nil)
    return first
  }
}

extension [EditedCluster] {
  /// The position of the first cluster whose boundary is larger than `key`.
  fileprivate func firstIndex(after key: ObjectKey) -> Int {
    if let last, last.boundary <= key { return count }
    return partitioningIndex { $0.boundary > key }
  }
}
