/// Returning to an earlier moment of a write, for commits that share one transaction: each can be
/// undone without those before it.
extension WriteSession {
  /// With more clusters under edit, no copy is made.
  private static let copiedClustersMax = 64

  /// A copy of the write in its present state, to continue with if later changes are undone. Rows
  /// under edit are packed for it.
  ///
  /// - Returns: nil for a write that is large, or changes collections or the schema: a copy would
  ///   cost more than a separate transaction. Also for one that belongs to a cursor or acknowledges
  ///   a batch: the cursor does not report that commit, so it must not have other changes.
  package func savepoint() throws(StorageError) -> WriteSession? {
    guard schemaChange == nil, changeDepth == 0, abandoned.isEmpty, dropping.isEmpty,
      madeSequences?.isUnchanged ?? true, cursorsOfCommit.isEmpty, acknowledgements.isEmpty
    else { return nil }
    let copy = WriteSession(reader, schema: schema, recorder: recorder.copy())
    var left = Self.copiedClustersMax
    for edit in classes.all {
      guard let copied = try copied(edit, &left) else { return nil }
      copy.classes.insert(copied)
    }
    copy.origin = origin
    // After the clusters, which pass long values on when they are packed.
    if let madeLongValues { copy.longValues = madeLongValues.copy(without: []) }
    if let madeLinkCounts { copy.linkCounts = madeLinkCounts.copy() }
    if let madeSequences { copy.sequences = SequenceEdits(nextID: madeSequences.nextID) }
    return copy
  }

  /// A savepoint for reading only, independent of the write's own reader.
  package func kept() throws(StorageError) -> WriteSession {
    let kept = WriteSession(
      try SnapshotReader(reader.snapshot), schema: schema, recorder: recorder)
    kept.classes = classes
    kept.longValues = longValues
    kept.linkCounts = linkCounts
    return kept
  }

  private func copied(
    _ edit: ClassEdit, _ left: inout Int
  ) throws(StorageError) -> ClassEdit? {
    left -= edit.opened.count + edit.made.count
    guard !edit.isCleared, left >= 0 else { return nil }
    var opened = OpenedClusters()
    for cluster in edit.opened.all {
      guard let copy = try copied(cluster, edit.schema.id) else { return nil }
      opened.insert(copy)
    }
    var made: [EditedCluster] = []
    for cluster in edit.made {
      guard let copy = try copied(cluster, edit.schema.id) else { return nil }
      made.append(copy)
    }
    return ClassEdit(copying: edit, opened: opened, made: made)
  }

  /// A cluster with the same rows; nil if they do not fit in one image.
  private func copied(
    _ cluster: EditedCluster, _ id: ClassID
  ) throws(StorageError) -> EditedCluster? {
    let image: SealedImage
    switch cluster.state {
    case .sealed(let sealed): image = sealed
    case .working(let working):
      dropLong(working, id)
      let images = unsafe try SealedImage.pack(working, emitLong: keepLong(id))
      guard images.count == 1 else { return nil }
      image = images[0]
    }
    return EditedCluster(
      boundary: cluster.boundary, stored: cluster.stored, storedRowCount: cluster.storedRowCount,
      .sealed(image))
  }
}
