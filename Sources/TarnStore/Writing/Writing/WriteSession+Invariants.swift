extension WriteSession {
  /// Traps if the write is inconsistent: overlapping clusters, wrong numbers of rows, inconsistent
  /// collections. For tests.
  package func checkInvariants() throws(StorageError) {
    for edit in classes.all { try edit.checkInvariants(reader) }
    try madeSequences?.checkInvariants()
    require(changeDepth == 0 && abandoned.isEmpty && dropping.isEmpty && !isDropping)
  }
}

extension ClassEdit {
  fileprivate func checkInvariants(_ reader: SnapshotReader) throws(StorageError) {
    var clusters = try clusterSpans(reader)
    clusters.sort { $0.boundary < $1.boundary }
    var rows = 0
    for (index, cluster) in clusters.enumerated() {
      rows += cluster.rows
      require(cluster.rows == 0 || cluster.boundary <= cluster.keys.lowerBound)
      guard index + 1 < clusters.count else { continue }
      require(cluster.boundary < clusters[index + 1].boundary, "two clusters have one boundary")
      require(cluster.rows == 0 || cluster.keys.upperBound < clusters[index + 1].boundary)
    }
    require(rows == rowCount)
  }

  private struct Span {
    var boundary: ObjectKey
    var rows: Int
    /// From the first to the last.
    var keys: ClosedRange<ObjectKey>
  }

  /// All clusters of the class in this write.
  private func clusterSpans(_ reader: SnapshotReader) throws(StorageError) -> [Span] {
    var spans: [Span] = []
    for cluster in opened.all {
      require(cluster.stored == cluster.boundary && opened[cluster.boundary] === cluster)
      spans.append(span(cluster))
    }
    for cluster in made {
      require(cluster.stored == nil)
      spans.append(span(cluster))
    }
    if isCleared { return spans }
    try reader.forEachCluster(in: schema.id) { found in
      if opened[found.boundary] == nil {
        spans.append(
          Span(
            boundary: found.boundary, rows: found.image.rowCount,
            keys: found.image.key(at: 0)...found.image.lastKey))
      }
      return true
    }
    return spans
  }

  private func span(_ cluster: EditedCluster) -> Span {
    switch cluster.state {
    case .sealed(let sealed):
      return Span(
        boundary: cluster.boundary, rows: sealed.image.rowCount,
        keys: sealed.image.key(at: 0)...sealed.image.lastKey)
    case .working(let working):
      working.checkInvariants()
      let last = working.rowCount - 1
      let keys =
        last < 0
        ? cluster.boundary...cluster.boundary : working.key(at: 0)...working.key(at: last)
      return Span(boundary: cluster.boundary, rows: working.rowCount, keys: keys)
    }
  }
}
