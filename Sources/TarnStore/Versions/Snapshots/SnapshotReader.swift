/// Finds rows in a snapshot. Has a cursor, so it is confined to one thread at a time; an instance
/// has one and moves it from snapshot to snapshot.
package final class SnapshotReader {
  /// Not checked for exclusive access, because every look-up reads it: only `move` sets it, and
  /// releasing the former one runs no code that uses the reader.
  @safe @exclusivity(unchecked) package private(set) var snapshot: Snapshot
  private var cursor: Cursor
  /// The last cluster found, because the next row is mostly in the same one.
  private var recent: FoundCluster?
  private var recentClass = ClassID(.max)
  /// A list of a class's clusters, once many look-ups have made it worthwhile.
  private var map: ClusterMap?
  /// Look-ups through the tree in the class used last.
  private var treeLookups = 0
  /// The number of these look-ups at which building the list is considered again.
  private var nextLook = SnapshotReader.firstLook
  private static let firstLook = 256
  /// The number of clusters read so far, including those that scans visited.
  package private(set) var clustersRead = 0

  /// A cluster in the file: its key and its bytes, which are valid as long as the snapshot.
  package struct FoundCluster {
    package var boundary: ObjectKey
    package var image: ClusterImage
  }

  package init(_ snapshot: Snapshot) throws(StorageError) {
    self.snapshot = snapshot
    cursor = try Cursor(snapshot.transaction)
  }

  /// Moves to another snapshot. Earlier results are valid only as long as the old one.
  package func move(to snapshot: Snapshot) throws(StorageError) {
    try cursor.renew(snapshot.transaction)
    self.snapshot = snapshot
    recent = nil
    recentClass = ClassID(.max)
    map = nil
    forgetLookups()
  }

  package var schema: SchemaView { snapshot.schema }

  /// The cluster whose range contains `key`: the last one whose boundary is at or before it. Nil
  /// without one.
  package func cluster(
    for key: ObjectKey, in id: ClassID
  ) throws(StorageError) -> FoundCluster? {
    if recentClass == id, let recent, recent.boundary <= key,
      key <= recent.image.lastKey
    {
      return recent
    }
    let found: FoundCluster?
    if let map = try map(in: id) {
      found = map.cluster(for: key)
    } else {
      found = try seek(atOrBefore: key, in: id)
    }
    recent = found
    recentClass = id
    return found
  }

  /// Announces about that many look-ups of rows of the class, in random order.
  package func expect(lookups: Int, in id: ClassID) {
    if recentClass != id { forgetLookups() }
    recentClass = id
    recent = nil
    treeLookups += lookups
  }

  private func forgetLookups() {
    treeLookups = 0
    nextLook = Self.firstLook
  }

  /// The list of the class's clusters, if it exists or building it has become worthwhile: when the
  /// look-ups in the tree so far have cost about as much.
  private func map(in id: ClassID) throws(StorageError) -> ClusterMap? {
    if let map, map.classID == id { return map }
    if recentClass != id { forgetLookups() }
    treeLookups += 1
    guard treeLookups >= nextLook else { return nil }
    let rows = try record(of: id).rowCount
    guard treeLookups * ClusterMap.rowsPerLookup >= rows else {
      nextLook = treeLookups * 2
      return nil
    }
    let made = try ClusterMap(id, self)
    map = made
    return made
  }

  /// The position of the row with that key; nil if it does not exist.
  package func row(
    _ key: ObjectKey, in id: ClassID
  ) throws(StorageError) -> (image: ClusterImage, slot: Int)? {
    guard let found = try cluster(for: key, in: id) else { return nil }
    guard let slot = found.image.slot(of: key) else { return nil }
    return (found.image, slot)
  }

  /// Calls `body` with every cluster of the class in the order of keys, until it returns false.
  /// Uses a separate cursor, so that `body` may look up rows meanwhile.
  ///
  /// - Parameter keys: clusters outside this range of keys are skipped.
  /// - Parameter columns: those that `body` reads in most clusters, for prefetching.
  package func forEachCluster(
    in id: ClassID, holding keys: ClosedRange<ObjectKey> = .smallest ... .largest,
    reading columns: [ColumnID] = [],
    _ body: (FoundCluster) throws(StorageError) -> Bool
  ) throws(StorageError) {
    var scan = try Cursor(snapshot.transaction)
    let first = keys.lowerBound == .smallest ? nil : try seek(atOrBefore: keys.lowerBound, in: id)
    let isAtRow = unsafe try TreeKey.cluster(id, first: first?.boundary ?? .smallest).withBytes {
      bytes throws(StorageError) in
      unsafe try scan.seek(atOrAfter: bytes)
    }
    var clusters = ClustersAhead(scan, isAtRow: isAtRow, columns: columns)
    while let place = unsafe try clusters.next(),
      let found = unsafe try cluster(at: place.key, place.value, in: id)
    {
      guard found.boundary <= keys.upperBound else { return }
      guard try body(found) else { return }
    }
  }

  /// The same from the last cluster to the first. `body` may look up rows meanwhile.
  func forEachClusterBackwards(
    in id: ClassID, holding keys: ClosedRange<ObjectKey>,
    _ body: (FoundCluster) throws(StorageError) -> Bool
  ) throws(StorageError) {
    var probe = keys.upperBound
    while let found = try seek(atOrBefore: probe, in: id) {
      guard try body(found), found.boundary > keys.lowerBound else { return }
      probe = found.boundary.predecessor
    }
  }

  /// The smallest or greatest key of the class's objects; nil without objects.
  package func end(of id: ClassID, isLast: Bool) throws(StorageError) -> ObjectKey? {
    if isLast { return try seek(atOrBefore: .largest, in: id)?.image.lastKey }
    var first: ObjectKey?
    try forEachCluster(in: id) { (found) throws(StorageError) in
      first = found.image.key(at: 0)
      return false
    }
    return first
  }

  /// The class's record: its number of objects and its next object key.
  package func record(of id: ClassID) throws(StorageError) -> ClassRecord {
    guard id.rawValue < UInt32(schema.schema.classes.count) else { return ClassRecord() }
    let bytes = unsafe try TreeKey.classRecord(id).withBytes { bytes throws(StorageError) in
      unsafe try snapshot.transaction.value(forKey: bytes)
    }
    guard let bytes = unsafe bytes else { return ClassRecord() }
    return unsafe try ClassRecord(decoding: bytes)
  }

  /// Lends the cursor to `body`, for records other than clusters.
  package func withCursor<R>(
    _ body: (inout Cursor) throws(StorageError) -> R
  ) throws(StorageError) -> R {
    try body(&cursor)
  }

  private func seek(
    atOrBefore key: ObjectKey, in id: ClassID
  ) throws(StorageError) -> FoundCluster? {
    let hit = unsafe try TreeKey.cluster(id, first: key).withBytes { bytes throws(StorageError) in
      unsafe try cursor.seek(atOrBefore: bytes)
    }
    return hit ? unsafe try cluster(at: cursor.key, cursor.value, in: id) : nil
  }

  /// The cluster at a cursor, nil if it is not the class's.
  private func cluster(
    at key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, in id: ClassID
  ) throws(StorageError) -> FoundCluster? {
    clustersRead += 1
    guard let parsed = unsafe TreeKey.parseCluster(key), parsed.classID == id else { return nil }
    let image = unsafe try ClusterImage(validating: value)
    guard image.rowCount > 0 else { throw ClusterImage.corrupted("it has no rows") }
    return FoundCluster(boundary: parsed.first, image: image)
  }
}

extension ClusterImage {
  /// The largest key in the cluster, which has at least one row.
  package var lastKey: ObjectKey { key(at: rowCount - 1) }
}

/// The clusters of a class in one snapshot as a list: a row is found by binary search in memory,
/// about four times faster than in the tree. Worth building for many look-ups in random order;
/// takes some 40 bytes per cluster.
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
