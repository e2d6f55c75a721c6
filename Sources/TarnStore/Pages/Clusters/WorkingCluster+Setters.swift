import CTarn

// Setting values. Each function first tries to leave the column undecoded: a default in a column of
// defaults changes nothing, and a value that fits in the image is written there.
extension WorkingCluster {
  /// Sets a cell of a decoded column; `undecoded` may handle the value before the column is
  /// decoded.
  @inline(__always)
  private func store<T>(
    _ column: ColumnID, _ slot: Int, _ value: T, undecoded: (Int) -> Bool
  ) {
    assert(slot >= 0 && slot < count && column.index < columnCount)
    let buffer = unsafe columns + column.index
    if unsafe buffer.pointee.state != .loaded {
      if undecoded(column.index) { return }
      load(column.index)
    }
    unsafe buffer.pointee.typed(T.self)[slot] = value
    unsafe buffer.pointee.nulls?[slot] = 0
  }

  /// True if every row already has the zero to be set.
  @inline(__always)
  private func isAllZero(_ index: Int) -> Bool {
    unsafe columns[index].state == .absent && !columns[index].isOptional
  }

  package func setInt(_ column: ColumnID, _ slot: Int, _ value: Int64) {
    store(column, slot, value) { index in
      if unsafe columns[index].storage == .key {
        require(value == key(at: slot).rawValue, "a row's key cannot be changed")
        return true
      }
      return value == 0 && isAllZero(index) || patchInt(index, slot, value)
    }
  }

  package func setBool(_ column: ColumnID, _ slot: Int, _ value: Bool) {
    store(column, slot, value ? 1 : 0 as UInt8) { index in
      !value && isAllZero(index) || patchBool(index, slot, value)
    }
  }

  package func setFloat(_ column: ColumnID, _ slot: Int, _ value: Float) {
    store(column, slot, value) { index in
      unsafe value.bitPattern == 0 && isAllZero(index)
        || patchFixed(index, slot) { p in unsafe Little.put(value, p, 0) }
    }
  }

  package func setDouble(_ column: ColumnID, _ slot: Int, _ value: Double) {
    store(column, slot, value) { index in
      unsafe value.bitPattern == 0 && isAllZero(index)
        || patchFixed(index, slot) { p in unsafe Little.put(value, p, 0) }
    }
  }

  package func setDate(_ column: ColumnID, _ slot: Int, _ value: Timestamp) {
    store(column, slot, value) { index in
      value.seconds == 0 && value.nanoseconds == 0 && isAllZero(index)
        || patchDate(index, slot, value)
    }
  }

  package func setBytes12(_ column: ColumnID, _ slot: Int, _ value: Bytes12) {
    let index = column.index
    assert(slot >= 0 && slot < count && index < columnCount)
    let (high, low) = (value.high.bigEndian, value.low.bigEndian)
    func put(_ p: UnsafeMutableRawPointer) {
      unsafe Little.put(high, p, 0)
      unsafe Little.put(low, p, 8)
    }
    if unsafe columns[index].state != .loaded {
      if high == 0 && low == 0 && isAllZero(index) { return }
      if unsafe patchFixed(index, slot, put) { return }
      load(index)
    }
    unsafe put(columns[index].cells! + 12 * slot)
    unsafe columns[index].nulls?[slot] = 0
  }

  package func setBytes16(_ column: ColumnID, _ slot: Int, _ value: Bytes16) {
    store(column, slot, (value.high.bigEndian, value.low.bigEndian)) { index in
      unsafe value.high == 0 && value.low == 0 && isAllZero(index)
        || patchFixed(index, slot) { p in
          unsafe Little.put(value.high.bigEndian, p, 0)
          unsafe Little.put(value.low.bigEndian, p, 8)
        }
    }
  }

  /// Sets a string's UTF-8 or a data's bytes, of any length. The bytes are copied, and may be ones
  /// that this cluster returned.
  package func setBytes(_ column: ColumnID, _ slot: Int, _ bytes: UnsafeRawBufferPointer) {
    let index = column.index
    assert(slot >= 0 && slot < count && index < columnCount)
    let buffer = unsafe columns + index
    if unsafe buffer.pointee.state != .loaded {
      if unsafe bytes.isEmpty && isAllZero(index) || patchBytes(index, slot, bytes) { return }
      load(index)
    }
    if unsafe buffer.pointee.mayHaveLong { dropLong(index, slot) }
    let offset = unsafe buffer.pointee.arena.append(bytes)
    let cell = ByteCell(offset: offset, length: bytes.count)
    unsafe buffer.pointee.byteCells[slot] = cell
    unsafe buffer.pointee.nulls?[slot] = 0
    if cell.isLong { unsafe buffer.pointee.mayHaveLong = true }
    if unsafe buffer.pointee.arena.wantsCompaction { unsafe buffer.pointee.compact(count: count) }
  }

  package func setString(_ column: ColumnID, _ slot: Int, _ string: String) {
    var string = string
    string.withUTF8 { unsafe setBytes(column, slot, UnsafeRawBufferPointer($0)) }
  }

  /// Removes the value. Only for optional columns.
  package func setNull(_ column: ColumnID, _ slot: Int) {
    let index = column.index
    assert(slot >= 0 && slot < count && index < columnCount)
    let buffer = unsafe columns + index
    require(unsafe buffer.pointee.isOptional, "the column must have a value")
    if unsafe buffer.pointee.state != .loaded {
      if unsafe buffer.pointee.state == .absent || patchNull(index, slot) { return }
      load(index)
    }
    if unsafe buffer.pointee.mayHaveLong { dropLong(index, slot) }
    let stride = unsafe buffer.pointee.stride
    unsafe (buffer.pointee.cells! + slot * stride)
      .initializeMemory(as: UInt8.self, repeating: 0, count: stride)
    unsafe buffer.pointee.nulls![slot] = 1
  }

  /// Sets a value of the column's type. Traps if it is of another type.
  package func set(_ column: ColumnID, _ slot: Int, _ value: Value) {
    let type = schema[column].collection == .none ? schema[column].type : .data
    switch (type, value) {
    case (.any, .null): unsafe setBytes(column, slot, UnsafeRawBufferPointer(start: nil, count: 0))
    case (.any, _):
      unsafe value.taggedBytes.withUnsafeBytes { unsafe setBytes(column, slot, $0) }
    case (_, .null): setNull(column, slot)
    case (.int, .int(let value)): setInt(column, slot, value)
    case (.link, .link(let key)): setInt(column, slot, key.rawValue)
    case (.bool, .bool(let value)): setBool(column, slot, value)
    case (.float, .float(let value)): setFloat(column, slot, value)
    case (.double, .double(let value)): setDouble(column, slot, value)
    case (.date, .date(let value)): setDate(column, slot, value)
    case (.objectID, .objectID(let value)): setBytes12(column, slot, value)
    case (.uuid, .uuid(let value)): setBytes16(column, slot, value)
    case (.decimal, .decimal(let value)): setBytes16(column, slot, value)
    case (.string, .string(let value)): setString(column, slot, value)
    case (.data, .data(let value)):
      unsafe value.withUnsafeBytes { unsafe setBytes(column, slot, $0) }
    default: trap("a \(type) column cannot hold \(value)")
    }
  }

  /// Records the pieces of a row's value, if there are any, as unneeded.
  func dropLong(_ index: Int, _ slot: Int) {
    if unsafe columns[index].byteCells[slot].isStored {
      let column = ColumnID(UInt16(truncatingIfNeeded: index))
      droppedLongValues.append((key: key(at: slot), column: column))
    }
  }
}
