/// One open write transaction: edits in memory over a snapshot, nothing in LMDB yet.
///
/// LMDB binds a write transaction to the thread that began it, and loses acknowledged writes when
/// that thread ends. So a write here is memory only: copies of the clusters that it changes, deltas
/// of their indexes, and the recorder's notes. `commit` applies all of it in one LMDB transaction
/// inside one call. A session may move between threads (one at a time), and releasing it cancels
/// the write.
///
/// Rows are searched in this order: clusters created by this write, clusters of the file that it
/// edits, the snapshot.
package final class WriteSession {
  package let reader: SnapshotReader
  package let recorder: ChangeRecorder
  /// The schema of the write's rows: the snapshot's, except in a migration.
  package let schema: SchemaView

  // Every change and every commit reads these fields. They are not checked for exclusive access:
  // no access to one of them runs code that uses the session.

  /// The schema changes of a migration, applied by the commit.
  @safe @exclusivity(unchecked) package var schemaChange: SchemaChange?
  @safe @exclusivity(unchecked) var classes = ClassEdits()
  /// Nil as long as the write has no long values.
  @safe @exclusivity(unchecked) private(set) var madeLongValues: LongValueEdits?
  /// Nil as long as the write has not used a collection.
  @safe @exclusivity(unchecked) private(set) var madeSequences: SequenceEdits?
  /// Nil as long as the write has not changed how often objects link to others.
  @safe @exclusivity(unchecked) private(set) var madeLinkCounts: LinkCounts?
  /// Embedded objects that lost their owner in the current change.
  @safe @exclusivity(unchecked) var abandoned: [ObjectRef] = []
  @safe @exclusivity(unchecked) var changeDepth = 0
  /// Nested collections that are removed and still to be processed.
  var dropping: [(id: CollectionID, place: SequencePlace)] = []
  var isDropping = false
  /// The name of the program for the commit's note; nil for that of the process.
  @safe @exclusivity(unchecked) package var origin: String?
  /// The numbers of the cursors that the commit belongs to.
  @safe @exclusivity(unchecked) package var cursorsOfCommit: [UInt32] = []
  /// The acknowledgements that are part of the commit.
  @safe @exclusivity(unchecked) package var acknowledgements: [CursorAcknowledgement] = []
  /// Records that a replica keeps in addition to the objects, as part of the commit.
  @safe @exclusivity(unchecked) package var replicaRecords = ReplicaRecords()
  /// Called when cached positions of rows may have become invalid.
  @safe @exclusivity(unchecked) package var rowsMoved: () -> Void

  package var base: Snapshot { reader.snapshot }

  /// Begins a write over the reader's snapshot. `rowsMoved` is called when rows found before may
  /// have moved: at the first edit of a cluster and when rows are added to or removed from it.
  package init(_ reader: SnapshotReader, rowsMoved: @escaping () -> Void) {
    self.reader = reader
    self.rowsMoved = rowsMoved
    schema = reader.schema
    recorder = ChangeRecorder()
  }

  /// Begins a write with rows of `schema`, which has all ids of the reader's schema.
  init(
    _ reader: SnapshotReader, schema: SchemaView, recorder: ChangeRecorder = ChangeRecorder(),
    rowsMoved: @escaping () -> Void = {}
  ) {
    self.reader = reader
    self.rowsMoved = rowsMoved
    self.schema = schema
    self.recorder = recorder
  }

  var longValues: LongValueEdits {
    get {
      if let madeLongValues { return madeLongValues }
      let made = LongValueEdits()
      madeLongValues = made
      return made
    }
    set { madeLongValues = newValue }
  }

  var sequences: SequenceEdits {
    get {
      if let madeSequences { return madeSequences }
      let made = SequenceEdits(nextID: base.head.nextCollectionID)
      madeSequences = made
      return made
    }
    set { madeSequences = newValue }
  }

  var linkCounts: LinkCounts {
    get {
      if let madeLinkCounts { return madeLinkCounts }
      let made = LinkCounts()
      madeLinkCounts = made
      return made
    }
    set { madeLinkCounts = newValue }
  }

  /// True if nothing was changed.
  package var isEmpty: Bool { recorder.isEmpty }

  /// True if this write has added an object to the class, even if it was deleted again.
  package func hasInserted(into id: ClassID) -> Bool {
    classes[id]?.hasInserted ?? false
  }

  // MARK: - Rows

  /// The position of a row in this write; nil if the object does not exist.
  package func location(
    of key: ObjectKey, in id: ClassID
  ) throws(StorageError) -> (cluster: RowCluster, slot: Int)? {
    guard let edit = classes[id] else {
      guard let row = try reader.row(key, in: id) else { return nil }
      return (.image(row.image), row.slot)
    }
    switch try edit.find(key, reader) {
    case nil: return nil
    case .stored(let found):
      guard let slot = found.image.slot(of: key) else { return nil }
      return (.image(found.image), slot)
    case .edited(let cluster):
      switch cluster.state {
      case .sealed(let sealed):
        guard let slot = sealed.image.slot(of: key) else { return nil }
        return (.image(sealed.image), slot)
      case .working(let working):
        guard let slot = working.slot(of: key) else { return nil }
        return (.working(working), slot)
      }
    }
  }

  /// The row for setting a property, which is recorded as touched; nil if the object does not
  /// exist.
  package func edit(
    _ column: ColumnID, at key: ObjectKey, in id: ClassID
  ) throws(StorageError) -> (cluster: WorkingCluster, slot: Int)? {
    guard let row = try edit(key, in: id) else { return nil }
    recorder.touch(id, key, column)
    return row
  }

  /// The row for editing; nil if the object does not exist. Records nothing.
  func edit(
    _ key: ObjectKey, in id: ClassID
  ) throws(StorageError) -> (cluster: WorkingCluster, slot: Int)? {
    let edit = try classEdit(id)
    switch try edit.find(key, reader) {
    case nil: return nil
    case .stored(let found):
      guard found.image.slot(of: key) != nil else { return nil }
      let cluster = try edit.open(found)
      rowsMoved()
      let working = try cluster.working(edit.schema)
      guard let slot = working.slot(of: key) else { return nil }
      return (working, slot)
    case .edited(let cluster):
      if case .sealed = cluster.state { rowsMoved() }
      let working = try cluster.working(edit.schema)
      guard let slot = working.slot(of: key) else { return nil }
      return (working, slot)
    }
  }

  /// Adds a row with the default in every column and returns its position. With `key` nil it gets
  /// the next free key. The caller has checked that a given key is free.
  package func insert(
    _ key: ObjectKey?, in id: ClassID
  ) throws(StorageError) -> (key: ObjectKey, cluster: WorkingCluster, slot: Int) {
    let edit = try classEdit(id)
    let isCounted = key == nil
    let key = try edit.claim(key)
    let cluster = try edit.clusterForInserting(key, isCounted: isCounted, self)
    let working = try cluster.working(edit.schema)
    let appends = working.rowCount == 0 || working.key(at: working.rowCount - 1) < key
    let slot = working.insert(key)
    if !appends { rowsMoved() }
    edit.rowCount += 1
    edit.hasInserted = true
    recorder.insert(id, key)
    return (key, working, slot)
  }

  /// Removes the row and its long values from the class. The caller updates links and indexes.
  func removeRow(_ key: ObjectKey, in id: ClassID) throws(StorageError) {
    guard let (working, slot) = try edit(key, in: id) else { return }
    working.remove(at: slot)
    rowsMoved()
    let edit = try classEdit(id)
    guard edit.rowCount > 0 else { throw edit.damaged("its count of objects is too small") }
    edit.rowCount -= 1
    recorder.delete(id, key)
  }

  func classEdit(_ id: ClassID) throws(StorageError) -> ClassEdit {
    if let edit = classes[id] { return edit }
    let edit = try ClassEdit(schema[id], reader)
    classes.insert(edit)
    return edit
  }

  /// Keeps the long values of packed clusters until the commit writes them.
  func keepLong(_ id: ClassID) -> WorkingCluster.EmitLong {
    { [self] key, column, bytes throws(StorageError) in
      unsafe longValues.keep(LongValueID(classID: id, key: key, column: column), bytes)
    }
  }

  /// Records the long values in the file that a cluster's rows no longer refer to.
  func dropLong(_ working: WorkingCluster, _ id: ClassID) {
    if working.droppedLongValues.isEmpty { return }
    for dropped in working.droppedLongValues {
      longValues.drop(LongValueID(classID: id, key: dropped.key, column: dropped.column))
    }
    working.droppedLongValues.removeAll()
  }

  /// The number of objects of the class in this write.
  package func rowCount(of id: ClassID) throws(StorageError) -> Int {
    if let edit = classes[id] { return edit.rowCount }
    return try reader.record(of: id).rowCount
  }

  /// Every cluster of the class in the order of keys, edits included, until `body` returns false.
  ///
  /// - Parameter keys: clusters outside this range of keys may be skipped.
  /// - Parameter columns: those that `body` reads in most clusters.
  package func forEachImage(
    in id: ClassID, holding keys: ClosedRange<ObjectKey> = .smallest ... .largest,
    reading columns: [ColumnID] = [],
    _ body: (ClusterImage) throws(StorageError) -> Bool
  ) throws(StorageError) {
    guard let edit = classes[id] else {
      return try reader.forEachCluster(in: id, holding: keys, reading: columns) {
        (found) throws(StorageError) in try body(found.image)
      }
    }
    try edit.forEachImage(self, body)
  }
}
