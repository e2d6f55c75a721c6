import CTarn

// Rows under edit, column by column, in memory.
//
// 1. A cluster starts empty, or from an image whose bytes it copies. Nothing is decoded yet; reads
//    use the copy.
// 2. A value that fits in place of the old one is written into the copy, and so are a string's
//    bytes as long as the image has room. Then the image is the result, and encoding it is a
//    checksum.
// 3. A value that does not fit decodes its column, and only that. The others' bytes are copied when
//    the cluster is encoded.
// 4. Inserting or removing a row decodes all columns: the image no longer has the same rows.
// 5. Encoding measures every column's smallest form and, if the whole exceeds an image, splits the
//    rows into several. If rows were added at the end, full images are made, because the next rows
//    will be added there, too; otherwise the halves get equal bytes.
//
// Long values: a string over the inline limit stays in memory until `encode` passes it on to be
// stored in pieces; the row keeps its length. One that was read from an image is only that length.
// Unneeded pieces are listed in `droppedLongValues`.

/// Rows of a class in a range of keys, for editing. Not thread safe. Slots are positions in key
/// order; inserting and removing moves later ones. Keep it below a few thousand rows
/// (`sealFullImages`, `split(at:)`): an insertion in the middle moves all later rows.
@safe package final class WorkingCluster {
  package let schema: ClassSchema
  let columns: UnsafeMutablePointer<ColumnBuffer>
  let columnCount: Int
  var count: Int
  /// The number of rows that the memory has room for.
  var capacity: Int
  /// Keys of the rows; used once the image no longer has them.
  var keys: UnsafeMutablePointer<Int64>?
  /// The cluster's own copy of the image it was made from, or an empty one.
  let image: ClusterImage
  let imageMemory: UnsafeMutableRawPointer?
  /// The rows are those of `image`: same keys at the same slots.
  var isBacked: Bool
  /// Values were written into `image`, so its checksum is wrong.
  var imageIsPatched = false
  /// Some column is loaded, so `image` does not have all values.
  var hasLoaded = false
  var hasAppended = false
  var hasInsertedInside = false
  /// The number of rows of the last full image, where the search for the next split begins.
  var rowsPerImage: Int
  var scratch = EncodingScratch()

  /// Long values in the file that are no longer referenced: replaced by another value, or of a
  /// removed row. The owner deletes their pieces before it stores those that `encode` passes on,
  /// which may be of the same row and column, and then empties the list. Values of removed columns
  /// are not included.
  package var droppedLongValues: [(key: ObjectKey, column: ColumnID)] = []

  /// The number of rows at which a cluster that grows only at its end should be sealed: enough for
  /// about four images, by the density of the last one.
  package private(set) var targetRows: Int

  /// A cluster without rows.
  package init(_ schema: ClassSchema) {
    self.schema = schema
    columnCount = schema.columns.count
    unsafe columns = Self.makeColumns(schema)
    count = 0
    capacity = 0
    image = .empty
    unsafe imageMemory = nil
    isBacked = false
    rowsPerImage = 64
    targetRows = 256
  }

  /// The rows of an image, whose bytes are copied. Throws `.corrupted` if a row is damaged or the
  /// image does not match the schema; the checksum is not verified.
  package init(_ image: ClusterImage, _ schema: ClassSchema) throws(StorageError) {
    self.schema = schema
    columnCount = schema.columns.count
    let columns = unsafe Self.makeColumns(schema)
    do {
      try image.checkRows(columnCount: columnCount) { unsafe columns[$0].storage }
    } catch {
      unsafe columns.deallocate()
      throw error
    }
    unsafe self.columns = unsafe columns
    let bytes = unsafe image.bytes
    // Room for the longest image: a longer string may replace a shorter one.
    let room = max(bytes.count, ClusterFormat.imageBytesMax)
    let memory = UnsafeMutableRawPointer.allocate(byteCount: room, alignment: 16)
    unsafe memory.copyMemory(from: bytes.baseAddress!, byteCount: bytes.count)
    unsafe imageMemory = unsafe memory
    self.image = unsafe ClusterImage(trusting: memory)
    count = image.rowCount
    capacity = image.rowCount + 16
    isBacked = true
    rowsPerImage = max(1, image.rowCount * ClusterFormat.imageBytesMax / bytes.count)
    targetRows = 256
    for index in 0..<min(columnCount, image.columnCount) {
      let kind = unsafe tarn_cluster_column(memory, UInt32(index)).kind
      if unsafe kind != 0 && columns[index].stride > 0 {
        unsafe columns[index].state = .image
      }
    }
  }

  private static func makeColumns(_ schema: ClassSchema) -> UnsafeMutablePointer<ColumnBuffer> {
    let columns = UnsafeMutablePointer<ColumnBuffer>.allocate(capacity: schema.columns.count)
    let key = schema.keyIsPrimary ? schema.primaryKey!.index : -1
    // Through a pointer, which copies no descriptions.
    unsafe schema.columns.withUnsafeBufferPointer { described in
      for index in described.indices {
        unsafe (columns + index)
          .initialize(to: ColumnBuffer(described[index], isKey: index == key))
      }
    }
    return unsafe columns
  }

  deinit {
    for index in 0..<columnCount { unsafe columns[index].deallocate() }
    unsafe columns.deallocate()
    unsafe keys?.deallocate()
    unsafe imageMemory?.deallocate()
    scratch.deallocate()
  }

  package var rowCount: Int { count }

  func updateTarget(rowsPerImage rows: Int) {
    rowsPerImage = rows
    targetRows = min(2 * ClusterFormat.rowsMax, max(32, 4 * rows))
  }

  /// All rows fit one image: sealing is not worth trying before there are twice as many.
  func delaySealing() { targetRows = min(2 * ClusterFormat.rowsMax, max(targetRows, 2 * count)) }

  /// Decodes the column, or gives every row the default in memory.
  func load(_ index: Int) {
    if unsafe columns[index].state == .image {
      let id = ColumnID(UInt16(truncatingIfNeeded: index))
      unsafe columns[index].load(image, id, capacity: capacity)
    } else {
      unsafe columns[index].materialize(count: count, capacity: capacity)
    }
    hasLoaded = true
  }

  /// Decodes everything that is only in the image, including keys.
  func loadAll() {
    guard isBacked else { return }
    for index in 0..<columnCount where unsafe columns[index].state == .image {
      load(index)
    }
    unsafe keys = UnsafeMutablePointer<Int64>.allocate(capacity: capacity)
    unsafe image.decodeKeys(into: keys!)
    isBacked = false
    hasLoaded = true
  }
}

extension WorkingCluster {
  /// Traps if the cluster is inconsistent. For tests.
  package func checkInvariants() {
    require(count >= 0 && count <= capacity)
    require(!isBacked || image.rowCount == count)
    for slot in 1..<max(count, 1) { require(key(at: slot - 1) < key(at: slot)) }
    for index in 0..<columnCount {
      let column = unsafe columns[index]
      require(isBacked || column.state != .image)
      column.checkInvariants(rows: count)
    }
  }
}

extension ColumnBuffer {
  fileprivate func checkInvariants(rows: Int) {
    require(unsafe (cells != nil) == (state == .loaded))
    guard state == .loaded, let cells = unsafe cells else { return }
    for row in 0..<rows {
      let mark = unsafe nulls?[row] ?? 0
      require(mark <= 1)
      let cell = unsafe UnsafeRawBufferPointer(start: cells + row * stride, count: stride)
      require(unsafe mark == 0 || cell.allSatisfy { $0 == 0 })
    }
    guard storage == .bytes else { return }
    for row in 0..<rows {
      let cell = unsafe byteCells[row]
      require(!cell.isInMemory || cell.offset + cell.length <= arena.count)
      require(mayHaveLong || !cell.isLong)
    }
  }
}
