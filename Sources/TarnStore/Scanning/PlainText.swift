import CTarn

/// The bytes of a plain string or data column, checked as a whole.
@safe struct PlainText {
  /// u16 a row and one more, counted from `data`.
  let ends: UnsafeRawPointer
  let data: UnsafeRawPointer
  /// Bytes behind `data` that may belong to rows. Sixteen more can be read.
  let room: Int

  /// Nil if the column is held otherwise or some values lie elsewhere.
  init?(_ image: ClusterImage, _ column: ColumnID) {
    let descriptor = image.descriptor(column)
    guard Int32(descriptor.kind) == Int32(TARN_KIND_BYTES), descriptor.width == 0 else {
      return nil
    }
    unsafe ends = image.base + Int(descriptor.data)
    unsafe data = image.base + Int(descriptor.aux)
    room = unsafe image.bytes.count - ClusterFormat.paddingBytes - Int(descriptor.aux)
    // The ends, and behind them the bytes of short values.
    unsafe tarn_prefetch(ends, min(room + 2 * image.rowCount, 16 * image.rowCount))
  }

  @inline(__always)
  func end(_ index: Int) -> Int { unsafe Little.u16(ends, 2 &* index) }

  /// True if no row's bytes begin behind their end or end outside.
  func areEndsInside(_ rows: Int) -> Bool {
    unsafe ClusterImage.ascend(ends, rows) && end(rows) <= room
  }

  /// The length of every row's bytes if they have one in common, and none end outside.
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
