import CTarn

// Writing a value into the copied image, where it fits its old place. Each returns false, having
// changed nothing, if it does not fit or the image does not have the column in that form.
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

  /// Strings are decoded instead: taking one away may drop a long value.
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
