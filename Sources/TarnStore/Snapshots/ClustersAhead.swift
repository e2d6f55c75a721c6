import CTarn

/// Walks clusters in the order of keys and begins to fetch them before they are reached.
///
/// The clusters of a class lie anywhere in the file, and testing one takes less time than memory
/// needs to answer: a scan that asked for each when it came there would mostly wait. So the cursor
/// is some clusters ahead. Of the farthest the beginning is fetched, which says where its columns
/// lie; half the way there, the columns that the scan reads.
@safe struct ClustersAhead: ~Copyable {
  /// Where the cursor was. The bytes stay valid as long as the cursor's transaction does.
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
  /// The place of a number is where its remainder says.
  private var places = unsafe InlineArray<8, Place>(repeating: Place())
  /// How many places were found, had their columns fetched, and were handed out.
  private var (found, fetched, taken) = (0, 0, 0)
  /// Grows with every step: a scan that ends soon has not gone far.
  private var distance = 0
  private var isAtEnd: Bool

  /// - Parameter isAtRow: false if the cursor is nowhere, so that there is nothing to walk.
  /// - Parameter columns: what is read of most of the clusters.
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
