import CTarn

// Turns the sort values of a cluster's rows into prefixes: whole columns at a time if the column is
// the row's own and of a common type, otherwise row by row.

extension SortBuffer {
  /// Appends the prefixes of the rows of `mask` for a term.
  func extract(
    _ index: Int, _ image: ClusterImage, _ mask: UnsafeMutablePointer<UInt64>
  ) throws(StorageError) {
    let term = order.terms[index]
    let path = term.path
    if path.links.isEmpty && !path.isOptional && term.collator == nil {
      switch path.type {
      case .int:
        unsafe image.decodeInts(path.column, into: scratch.ints)
        unsafe extractInts(index, image, mask)
        return
      case .double:
        let values = unsafe UnsafeMutableRawPointer(scratch.ints)
          .assumingMemoryBound(to: Double.self)
        unsafe image.decodeDoubles(path.column, into: values)
        for slot in 0..<image.rowCount {
          // In place: the number with the double's order, in the form of an Int64.
          let ordered = unsafe values[slot].treeOrder ^ (1 << 63)
          unsafe scratch.ints[slot] = Int64(bitPattern: ordered)
        }
        unsafe extractInts(index, image, mask)
        return
      case .string, .data:
        try unsafe extractText(index, image, mask)
        return
      default: break
      }
    }
    try unsafe Bitmap.forEach(mask, image.bitmapWords) { (slot) throws(StorageError) in
      columns[index].append(try source.orderPrefix(image, slot, term))
    }
  }

  /// The numbers in `scratch.ints`, as high words.
  private func extractInts(
    _ index: Int, _ image: ClusterImage, _ mask: UnsafeMutablePointer<UInt64>
  ) {
    let flip: UInt64 = order.terms[index].isAscending ? 1 << 63 : ~(1 << 63)
    let values = unsafe scratch.ints
    let count = unsafe Bitmap.compact(values, mask, image.bitmapWords)
    for row in 0..<count { unsafe values[row] ^= Int64(bitPattern: flip) }
    let words = unsafe UnsafeMutableRawPointer(values).assumingMemoryBound(to: UInt64.self)
    unsafe columns[index].highs.append(
      contentsOf: UnsafeBufferPointer(start: words, count: count))
  }

  /// Strings in the cluster are read sixteen bytes at a time, which the padding of images allows.
  private func extractText(
    _ index: Int, _ image: ClusterImage, _ mask: UnsafeMutablePointer<UInt64>
  ) throws(StorageError) {
    let term = order.terms[index]
    let isReversed = !term.isAscending
    // Moved out of the array while it grows, which avoids a uniqueness check each time.
    var column = columns[index]
    columns[index].highs = []
    columns[index].lows = []
    defer { columns[index] = column }
    try unsafe Bitmap.forEach(mask, image.bitmapWords) { (slot) throws(StorageError) in
      let found = unsafe tarn_cluster_bytes(
        image.base, UInt32(term.path.column.rawValue), UInt32(truncatingIfNeeded: slot))
      guard found.state == TARN_STATE_VALUE else {
        column.append(try source.orderPrefix(image, slot, term))
        return
      }
      let length = Int(truncatingIfNeeded: found.length)
      let words = unsafe tarn_small_bytes(found.bytes, UInt32(min(length, 15)))
      let prefix = OrderPrefix(
        first: words.low.bigEndian, second: words.high.bigEndian, length: length)
      column.append(prefix.reversed(if: isReversed))
    }
  }
}
