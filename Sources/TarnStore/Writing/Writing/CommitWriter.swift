/// The commit of one write: all of its changes in one LMDB transaction, which begins and ends
/// inside one call.
///
/// The order of events, with the fault points of the crash tests:
///
///     commit.begun      LMDB transaction open; the head record is still that of the base version
///     commit.rows       clusters, row counts, indexes, long values, class records are written
///     commit.record     the change record is written, unneeded records are pruned
///     commit.head       the head record is written: version + 1
///     commit.done       LMDB has committed; with durability .full it is on disk
///     commit.shown      the writer's own snapshot is at exactly that version
///     commit.counted    the shared counter is raised: other processes that check it see it
///     commit.released   the write lock is free for the next writer
///     commit.woken      one write to the signal file has woken the watchers
///
/// Before `commit.done` a crash leaves the version before, from then on the version after. From
/// there to `commit.woken` a crash delays other processes at most by their watcher's timeout: the
/// kernel closes the dead writer's files, watchers see that, and compare the head record.
struct CommitWriter: ~Copyable {
  let session: WriteSession
  private var rowCounts: [RowCount] = []

  init(_ session: WriteSession) {
    self.session = session
  }

  /// Writes the write's rows into `transaction`.
  mutating func putRows(_ transaction: borrowing WriteTransaction) throws(StorageError) {
    try session.madeSequences?.write(transaction)
    for edit in session.classes.all {
      if edit.isCleared { try removeAll(of: edit.schema, transaction) }
      try putClusters(edit, transaction)
      if !rowCounts.isEmpty {
        try RowCounts(edit.schema.id).apply(rowCounts, in: transaction)
        rowCounts.removeAll(keepingCapacity: true)
      }
      try putIndexes(edit, transaction)
      try putRecord(edit, transaction)
    }
    try session.madeLongValues?.apply(transaction)
    try session.madeLinkCounts?.apply(transaction)
    if !session.replicaRecords.isEmpty { try session.replicaRecords.put(transaction) }
  }

  // MARK: - Clusters

  private mutating func putClusters(
    _ edit: ClassEdit, _ transaction: borrowing WriteTransaction
  ) throws(StorageError) {
    let emitLong = unsafe session.keepLong(edit.schema.id)
    if edit.made.isEmpty, let only = edit.opened.only {
      return unsafe try put(only, of: edit, emitLong, transaction)
    }
    var clusters = edit.made
    clusters.append(contentsOf: edit.opened.all)
    clusters.sort { $0.boundary < $1.boundary }
    for cluster in clusters { unsafe try put(cluster, of: edit, emitLong, transaction) }
  }

  private mutating func put(
    _ cluster: EditedCluster, of edit: ClassEdit, _ emitLong: WorkingCluster.EmitLong,
    _ transaction: borrowing WriteTransaction
  ) throws(StorageError) {
    switch cluster.state {
    case .sealed(let sealed):
      unsafe try put(
        edit, cluster, cluster.boundary, sealed.image.rowCount,
        UnsafeRawBufferPointer(sealed.bytes), transaction)
    case .working(let working):
      session.dropLong(working, edit.schema.id)
      if working.rowCount == 0 {
        try remove(cluster, of: edit, transaction)
      } else {
        unsafe try pack(working, cluster, edit, emitLong, transaction)
      }
    }
  }

  /// The first image keeps the cluster's boundary, so that a key below its first row still finds
  /// it; others start at their first row.
  private mutating func pack(
    _ working: WorkingCluster, _ cluster: EditedCluster, _ edit: ClassEdit,
    _ emitLong: WorkingCluster.EmitLong, _ transaction: borrowing WriteTransaction
  ) throws(StorageError) {
    var isFirst = true
    unsafe try working.encode(emitLong: emitLong) { firstKey, rows, bytes throws(StorageError) in
      let boundary = isFirst ? cluster.boundary : firstKey
      isFirst = false
      unsafe try put(edit, cluster, boundary, rows, bytes, transaction)
    }
  }

  /// Updates that keep the number of rows do not change the pages of row counts.
  private mutating func put(
    _ edit: ClassEdit, _ cluster: EditedCluster, _ boundary: ObjectKey, _ rows: Int,
    _ bytes: UnsafeRawBufferPointer, _ transaction: borrowing WriteTransaction
  ) throws(StorageError) {
    unsafe try TreeKey.cluster(edit.schema.id, first: boundary).withBytes {
      key throws(StorageError) in
      unsafe try transaction.put(bytes, forKey: key)
    }
    if cluster.stored == boundary, cluster.storedRowCount == rows { return }
    rowCounts.append(RowCount(first: boundary, rows: rows))
  }

  private mutating func remove(
    _ cluster: EditedCluster, of edit: ClassEdit, _ transaction: borrowing WriteTransaction
  ) throws(StorageError) {
    guard let stored = cluster.stored else { return }
    _ = unsafe try TreeKey.cluster(edit.schema.id, first: stored).withBytes {
      key throws(StorageError) in
      unsafe try transaction.delete(key)
    }
    rowCounts.append(RowCount(first: stored, rows: 0))
  }

  /// Removes everything that the file stores for a class's objects.
  private func removeAll(
    of described: ClassSchema, _ transaction: borrowing WriteTransaction
  ) throws(StorageError) {
    for tag in [TreeKey.Tag.cluster, .rowCounts, .index, .longValue, .linkCount, .unique] {
      try transaction.deleteAll(tag, of: described.id)
    }
  }

  // MARK: - Indexes and counters

  private func putIndexes(
    _ edit: ClassEdit, _ transaction: borrowing WriteTransaction
  ) throws(StorageError) {
    for (column, delta) in edit.changedIndexes {
      try PackedIndex(edit.schema.id, column).apply(delta.sorted(), in: transaction)
    }
  }

  private func putRecord(
    _ edit: ClassEdit, _ transaction: borrowing WriteTransaction
  ) throws(StorageError) {
    guard edit.changesRecord else { return }
    var record = ClassRecord()
    record.nextKey = ObjectKey(edit.nextKey)
    record.rowCount = edit.rowCount
    unsafe try record.withEncoded { bytes throws(StorageError) in
      unsafe try TreeKey.classRecord(edit.schema.id).withBytes { key throws(StorageError) in
        unsafe try transaction.put(bytes, forKey: key)
      }
    }
  }
}
