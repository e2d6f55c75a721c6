import CTarn

/// Walks clusters in the order of keys and prefetches them.
///
/// The clusters of a class are scattered in the file, and testing one takes less time than a memory
/// access: a scan without prefetching would mostly wait. So the cursor is some clusters ahead. The
/// start of the farthest cluster is prefetched, which has the positions of its columns; halfway
/// there, the columns that the scan reads.
@safe struct ClustersAhead: ~Copyable {
  /// A position of the cursor. The bytes stay valid as long as the cursor's transaction.
  @unsafe struct Place {
    var key = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
    var value = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
  }

  /// How many clusters the cursor is ahead at most.
  private static var distanceMax: Int { 8 }
  /// The header of a cluster and the descriptors of its first dozen columns.
  private static var beginningBytes: Int { 128 }

  private var cursor: Cursor
  private let columns: [ColumnID]
  /// A ring buffer: a place is stored at its number modulo the size.
  private var places = unsafe InlineArray<8, Place>(repeating: Place())
  /// How many places were found, had their columns prefetched, and were returned.
  private var (found, fetched, taken) = (0, 0, 0)
  /// Grows with every step, so that a short scan prefetches little.
  private var distance = 0
  private var isAtEnd: Bool

  /// - Parameter isAtRow: false if the cursor has no position, so that there is nothing to walk.
  /// - Parameter columns: those that are read in most of the clusters.
  init(_ cursor: consuming Cursor, isAtRow: Bool, columns: [ColumnID]) {
    self.cursor = cursor
    self.columns = columns
    isAtEnd = !isAtRow
    if isAtRow { note() }
  }

  /// The next place, or nil at the end of the file.
  mutating func next() throws(StorageError) -> Place? {
    distance = min(distance + 1, Self.distanceMax)
    while !isAtEnd && found < taken + distance {
      if try cursor.next() { note() } else { isAtEnd = true }
    }
    if taken == found { return nil }
    while fetched < min(found, taken + distance / 2 + 1) { fetchColumns() }
    defer { taken += 1 }
    return unsafe places[taken % Self.distanceMax]
  }

  private mutating func note() {
    unsafe places[found % Self.distanceMax] = unsafe Place(key: cursor.key, value: cursor.value)
    found += 1
    guard let start = unsafe cursor.value.baseAddress else { return }
    unsafe tarn_prefetch(start, Self.beginningBytes)
  }

  private mutating func fetchColumns() {
    let value = unsafe places[fetched % Self.distanceMax].value
    fetched += 1
    guard let start = value.baseAddress else { return }
    for column in columns {
      unsafe tarn_cluster_prefetch(start, value.count, UInt32(column.rawValue))
    }
  }
}
