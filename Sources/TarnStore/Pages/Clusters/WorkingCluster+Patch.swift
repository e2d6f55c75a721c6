import CTarn

// Writes a value into the copied image, if it fits in the old one's bytes, or a string's bytes if
// the image has room. Each function returns false without a change if the value does not fit or the
// image has the column in another form.
extension WorkingCluster {
  /// The column's descriptor if the image has its values.
  @inline(__always)
  private func patchable(_ index: Int, _ kind: Int) -> tarn_column? {
    guard unsafe columns[index].state == .image, let memory = unsafe imageMemory else { return nil }
    let column = unsafe tarn_cluster_column(memory, UInt32(index))
    return Int(column.kind) == kind ? column : nil
  }

  /// Marks the row as having a value, and the image as changed.
  private func didPatch(_ column: tarn_column, _ slot: Int) {
    imageIsPatched = true
    if column.nulls != 0 { setBit(Int(column.nulls), slot, false) }
  }

  private func setBit(_ bitmap: Int, _ slot: Int, _ on: Bool) {
    let byte = unsafe (imageMemory! + bitmap + slot >> 3).assumingMemoryBound(to: UInt8.self)
    let mask = UInt8(1) << UInt8(slot & 7)
    unsafe byte.pointee = on ? byte.pointee | mask : byte.pointee & ~mask
  }

  private func putPacked(_ value: UInt64, _ data: Int, _ width: Int, _ slot: Int) {
    let p = unsafe imageMemory! + data + slot * width
    switch width {
    case 0: break
    case 1: unsafe Little.put(UInt8(truncatingIfNeeded: value), p, 0)
    case 2: unsafe Little.put(UInt16(truncatingIfNeeded: value), p, 0)
    case 4: unsafe Little.put(UInt32(truncatingIfNeeded: value), p, 0)
    default: unsafe Little.put(value, p, 0)
    }
  }

  func patchInt(_ index: Int, _ slot: Int, _ value: Int64) -> Bool {
    guard let column = patchable(index, Int(TARN_KIND_INT)) else { return false }
    let base = unsafe Int64(bitPattern: Little.u64(imageMemory!, Int(column.aux)))
    let offset = UInt64(bitPattern: value &- base)
    let width = Int(column.width)
    guard Little.width(of: offset) <= width else { return false }
    putPacked(offset, Int(column.data), width, slot)
    didPatch(column, slot)
    return true
  }

  func patchBool(_ index: Int, _ slot: Int, _ value: Bool) -> Bool {
    guard let column = patchable(index, Int(TARN_KIND_BOOL)) else { return false }
    setBit(Int(column.data), slot, value)
    didPatch(column, slot)
    return true
  }

  @inline(__always)
  func patchFixed(_ index: Int, _ slot: Int, _ put: (UnsafeMutableRawPointer) -> Void) -> Bool {
    guard let column = patchable(index, Int(TARN_KIND_FIXED)) else { return false }
    unsafe put(imageMemory! + Int(column.data) + slot * Int(column.width))
    didPatch(column, slot)
    return true
  }

  func patchDate(_ index: Int, _ slot: Int, _ value: Timestamp) -> Bool {
    guard let column = patchable(index, Int(TARN_KIND_DATE)) else { return false }
    let aux = unsafe UnsafeRawPointer(imageMemory! + Int(column.aux))
    let base = unsafe Int64(bitPattern: Little.u64(aux, 0))
    let offset = UInt64(bitPattern: value.seconds &- base)
    let fineBase = unsafe aux.loadUnaligned(fromByteOffset: 8, as: Int32.self)
    let fineWidth = Int(column.width >> 4)
    let width = Int(column.width & 15)
    guard Little.width(of: offset) <= width, fineWidth == 4 || value.nanoseconds == fineBase
    else { return false }
    putPacked(offset, Int(column.data), width, slot)
    let fine = UInt32(bitPattern: value.nanoseconds &- fineBase)
    putPacked(UInt64(fine), Int(column.aux) + 12, fineWidth, slot)
    didPatch(column, slot)
    return true
  }

  /// Writes a string's or data's bytes into a column whose values are all in the image: a code if
  /// the column is a dictionary that has them, otherwise in place of the old bytes, shifting the
  /// bytes after them if the length differs. Not for bytes that are in this very image.
  func patchBytes(_ index: Int, _ slot: Int, _ bytes: UnsafeRawBufferPointer) -> Bool {
    guard bytes.count <= ClusterFormat.inlineBytesMax, let memory = unsafe imageMemory,
      unsafe columns[index].state == .image
    else { return false }
    let column = unsafe tarn_cluster_column(memory, UInt32(index))
    if Int(column.kind) == Int(TARN_KIND_DICTIONARY) {
      return unsafe patchCode(ColumnID(UInt16(truncatingIfNeeded: index)), column, slot, bytes)
    }
    guard Int(column.kind) == Int(TARN_KIND_BYTES), column.width == 0 else { return false }
    let total = unsafe Little.u16(memory, 6)
    if let source = bytes.baseAddress, unsafe source >= memory && source < memory + total {
      return false
    }
    let ends = Int(column.data) + 2 * slot
    let start = unsafe Int(column.aux) + Little.u16(memory, ends)
    let end = unsafe Int(column.aux) + Little.u16(memory, ends + 2)
    let change = bytes.count - (end - start)
    if change != 0 {
      guard total + change <= ClusterFormat.imageBytesMax else { return false }
      moveBytes(from: end, by: change, total)
      for row in slot..<count {
        let position = Int(column.data) + 2 * row + 2
        let moved = unsafe Little.u16(memory, position) + change
        unsafe Little.put(UInt16(truncatingIfNeeded: moved), memory, position)
      }
      moveColumns(after: index, by: change)
    }
    if let source = bytes.baseAddress {
      unsafe (memory + start).copyMemory(from: source, byteCount: bytes.count)
    }
    didPatch(column, slot)
    return true
  }

  /// Moves the bytes of the image from an offset on, and its end.
  private func moveBytes(from start: Int, by change: Int, _ total: Int) {
    guard let memory = unsafe imageMemory else { return }
    unsafe (memory + start + change).copyMemory(
      from: memory + start, byteCount: total - start)
    unsafe Little.put(UInt16(truncatingIfNeeded: total + change), memory, 6)
  }

  /// Corrects the descriptors of later columns, whose parts follow those of earlier ones.
  private func moveColumns(after index: Int, by change: Int) {
    guard let memory = unsafe imageMemory else { return }
    let moved = UInt16(truncatingIfNeeded: change)
    for later in index + 1..<max(image.columnCount, index + 1) {
      var column = unsafe tarn_cluster_column(memory, UInt32(later))
      switch ClusterColumnKind(rawValue: column.kind) {
      case .absent, .key, nil: continue
      case .int, .date, .bytes, .dictionary: column.aux &+= moved
      case .bool, .fixed: break
      }
      column.data &+= moved
      if column.nulls != 0 { column.nulls &+= moved }
      unsafe Little.put(
        column, memory, ClusterFormat.headerBytes + later * ClusterFormat.descriptorBytes)
    }
  }

  private func patchCode(
    _ id: ColumnID, _ column: tarn_column, _ slot: Int, _ bytes: UnsafeRawBufferPointer
  ) -> Bool {
    guard let dictionary = image.dictionary(id) else { return false }
    for code in 0..<dictionary.count {
      // The rows were checked when the image was copied, so this cannot fail.
      guard let entry = unsafe try? dictionary.entry(code) else { return false }
      guard unsafe entry.count == bytes.count && compareBytes(entry, bytes) == 0 else { continue }
      unsafe Little.put(UInt8(truncatingIfNeeded: code), imageMemory!, Int(column.data) + slot)
      didPatch(column, slot)
      return true
    }
    return false
  }

  /// Strings are decoded instead: removing one may drop a long value.
  func patchNull(_ index: Int, _ slot: Int) -> Bool {
    guard unsafe columns[index].storage != .bytes, let memory = unsafe imageMemory else {
      return false
    }
    let column = unsafe tarn_cluster_column(memory, UInt32(index))
    guard column.nulls != 0 else { return false }
    setBit(Int(column.nulls), slot, true)
    imageIsPatched = true
    return true
  }
}
