import CTarn

extension ColumnBuffer {
  /// Decodes the column from an image whose rows were checked.
  mutating func load(_ image: ClusterImage, _ column: ColumnID, capacity: Int) {
    let count = image.rowCount
    materialize(count: 0, capacity: capacity)
    loadNulls(image, column, capacity: capacity)
    switch storage {
    case .none, .key:
      break
    case .int:
      unsafe image.decodeInts(column, into: typed(Int64.self))
    case .bool:
      for slot in 0..<count {
        unsafe typed(UInt8.self)[slot] = image.bool(column, slot) ? 1 : 0
      }
    case .float, .double, .bytes12, .bytes16:
      let data = unsafe image.base + Int(image.descriptor(column).data)
      unsafe cells!.copyMemory(from: data, byteCount: count * stride)
    case .date:
      for slot in 0..<count { unsafe typed(Timestamp.self)[slot] = image.date(column, slot) }
    case .bytes:
      loadBytes(image, column)
    }
    clearNullCells(count)
  }

  private mutating func loadNulls(_ image: ClusterImage, _ column: ColumnID, capacity: Int) {
    let descriptor = image.descriptor(column)
    if descriptor.nulls != 0 { ensureNulls(capacity: capacity) }
    guard let nulls = unsafe nulls else { return }
    if descriptor.nulls == 0 {
      unsafe nulls.initialize(repeating: 0, count: image.rowCount)
    } else {
      let bits = unsafe (image.base + Int(descriptor.nulls)).assumingMemoryBound(to: UInt8.self)
      for slot in 0..<image.rowCount {
        unsafe nulls[slot] = UInt8(truncatingIfNeeded: tarn_bit(bits, UInt32(slot)))
      }
    }
  }

  private mutating func loadBytes(_ image: ClusterImage, _ column: ColumnID) {
    let descriptor = image.descriptor(column)
    // One copy of all bytes from `aux` on; the cells of a dictionary share an entry's bytes.
    let parts = image.parts(descriptor)
    let data = unsafe image.base + Int(descriptor.aux)
    _ = unsafe arena.append(
      UnsafeRawBufferPointer(start: data, count: parts.end - Int(descriptor.aux)))
    for slot in 0..<image.rowCount {
      let found = unsafe tarn_cluster_bytes(
        image.base, UInt32(column.rawValue), UInt32(truncatingIfNeeded: slot))
      var cell = ByteCell()
      if found.state == TARN_STATE_VALUE {
        let offset = unsafe UnsafeRawPointer(found.bytes!) - data
        cell = ByteCell(offset: offset, length: Int(found.length))
      } else if found.state == TARN_STATE_LONG {
        cell = .elsewhere(length: Int(found.length & (.max >> 2)))
        mayHaveLong = true
      }
      unsafe byteCells[slot] = cell
    }
  }

  /// A row without a value has a cell of zeros, whatever the image contains.
  private func clearNullCells(_ count: Int) {
    guard let nulls = unsafe nulls, let cells = unsafe cells else { return }
    for slot in 0..<count where unsafe nulls[slot] != 0 {
      unsafe (cells + slot * stride).initializeMemory(
        as: UInt8.self, repeating: 0, count: stride)
    }
  }
}
