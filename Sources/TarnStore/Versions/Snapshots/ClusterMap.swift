/// The clusters of a class in one snapshot as a list: a row is found by binary search in memory, in
/// about a quarter of the time of a search in the tree. Worth building for many look-ups in random
/// order; takes some 40 bytes per cluster.
struct ClusterMap {
  /// Building the list costs about one look-up in the tree per that many rows.
  static let rowsPerLookup = 500

  let classID: ClassID
  private var boundaries: ContiguousArray<Int64> = []
  private var images: ContiguousArray<ClusterImage> = []

  init(_ id: ClassID, _ reader: SnapshotReader) throws(StorageError) {
    classID = id
    var boundaries: ContiguousArray<Int64> = []
    var images: ContiguousArray<ClusterImage> = []
    try reader.forEachCluster(in: id) { found throws(StorageError) in
      boundaries.append(found.boundary.rawValue)
      images.append(found.image)
      return true
    }
    self.boundaries = boundaries
    self.images = images
  }

  /// The last cluster whose boundary is at or before `key`; nil without one.
  func cluster(for key: ObjectKey) -> SnapshotReader.FoundCluster? {
    let index = unsafe boundaries.withUnsafeBufferPointer { boundaries in
      (0..<boundaries.count).partitioningIndex { unsafe boundaries[$0] > key.rawValue }
    }
    guard index > 0 else { return nil }
    return SnapshotReader.FoundCluster(
      boundary: ObjectKey(boundaries[index - 1]), image: images[index - 1])
  }
}
