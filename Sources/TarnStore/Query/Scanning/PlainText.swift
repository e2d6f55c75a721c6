import CTarn

/// The bytes of a plain string or data column, checked as a whole.
@safe struct PlainText {
  /// One more u16 than rows, counted from `data`.
  let ends: UnsafeRawPointer
  let data: UnsafeRawPointer
  /// The bytes after `data` that may belong to rows. Sixteen more can be read.
  let room: Int

  /// Nil if the column has another kind, or if some values are stored elsewhere.
  init?(_ image: ClusterImage, _ column: ColumnID) {
    let descriptor = image.descriptor(column)
    guard Int32(descriptor.kind) == Int32(TARN_KIND_BYTES), descriptor.width == 0 else {
      return nil
    }
    unsafe ends = image.base + Int(descriptor.data)
    unsafe data = image.base + Int(descriptor.aux)
    room = unsafe image.bytes.count - ClusterFormat.paddingBytes - Int(descriptor.aux)
    // The ends, followed by the bytes of short values.
    unsafe tarn_prefetch(ends, min(room + 2 * image.rowCount, 16 * image.rowCount))
  }

  @inline(__always)
  func end(_ index: Int) -> Int { unsafe Little.u16(ends, 2 &* index) }

  /// True if no row's bytes begin after their end, or end outside.
  func areEndsInside(_ rows: Int) -> Bool {
    unsafe ClusterImage.ascend(ends, rows) && end(rows) <= room
  }

  /// The common length of every row's bytes, if they have one and none end outside.
  func commonLength(_ rows: Int) -> Int? {
    let (first, last) = (end(0), end(rows))
    let length = end(1) - first
    guard length >= 0, first + length * rows == last, last <= room else { return nil }
    let ends = unsafe self.ends
    let step = UInt16(length)
    var differences: UInt16 = 0
    for slot in 0..<rows {
      let start = unsafe ends.loadUnaligned(fromByteOffset: 2 &* slot, as: UInt16.self)
      let end = unsafe ends.loadUnaligned(fromByteOffset: 2 &* slot &+ 2, as: UInt16.self)
      differences |= (end &- start) ^ step
    }
    return differences == 0 ? length : nil
  }
}
