extension WorkingCluster {
  package func key(at slot: Int) -> ObjectKey {
    require(slot >= 0 && slot < count, "no such row")
    return unsafe isBacked ? image.key(at: slot) : ObjectKey(keys![slot])
  }

  /// The first slot whose key is not less than `key`; `rowCount` without one.
  package func slot(atOrAfter key: ObjectKey) -> Int {
    if isBacked { return image.slot(atOrAfter: key) }
    guard count > 0, let keys = unsafe keys else { return 0 }
    if unsafe keys[count - 1] < key.rawValue { return count }
    return (0..<count - 1).partitioningIndex { unsafe keys[$0] >= key.rawValue }
  }

  /// The slot of the row with that key, or nil.
  package func slot(of key: ObjectKey) -> Int? {
    let slot = slot(atOrAfter: key)
    return slot < count && self.key(at: slot) == key ? slot : nil
  }

  /// Adds a row with null in optional columns and zero in the others, and returns its slot. Traps
  /// if a row with that key exists. Fastest for a key above all others.
  @discardableResult
  package func insert(_ key: ObjectKey) -> Int {
    loadAll()
    if count == capacity { grow(to: max(64, 2 * capacity)) }
    guard let keys = unsafe keys else { trap("rows without memory for keys") }
    let slot = slot(atOrAfter: key)
    if slot < count {
      require(unsafe keys[slot] != key.rawValue, "a row with that key exists")
      hasInsertedInside = true
      unsafe UnsafeMutableRawPointer(keys + slot + 1)
        .copyMemory(from: keys + slot, byteCount: (count - slot) * 8)
    } else {
      hasAppended = true
    }
    unsafe keys[slot] = key.rawValue
    for index in 0..<columnCount { unsafe columns[index].openRow(at: slot, count: count) }
    count += 1
    return slot
  }

  /// Adds rows with adjacent keys after all others, in a cluster whose only column has integers or
  /// links.
  ///
  /// - Parameter numbers: the values, as many as there are rows to add.
  func append(_ numbers: UnsafeBufferPointer<Int64>, from first: ObjectKey) {
    let column = ColumnID(0)
    require(columnCount == 1, "rows of one column")
    loadAll()
    if count + numbers.count > capacity { grow(to: max(64, 2 * capacity, count + numbers.count)) }
    if unsafe columns[0].state != .loaded { load(column.index) }
    guard numbers.count > 0, let keys = unsafe keys else { return }
    require(unsafe columns[0].storage == .int, "a column of numbers")
    require(unsafe count == 0 || keys[count - 1] < first.rawValue, "rows are added at the end")
    for index in 0..<numbers.count { unsafe keys[count + index] = first.rawValue + Int64(index) }
    unsafe (columns[0].typed(Int64.self) + count)
      .initialize(from: numbers.baseAddress!, count: numbers.count)
    unsafe columns[0].nulls?.advanced(by: count).initialize(repeating: 0, count: numbers.count)
    count += numbers.count
    hasAppended = true
  }

  /// Removes a row; the slots of later ones decrease by one.
  package func remove(at slot: Int) {
    require(slot >= 0 && slot < count, "no such row")
    loadAll()
    for index in 0..<columnCount where unsafe columns[index].mayHaveLong {
      dropLong(index, slot)
    }
    removeRows(at: slot, removed: 1)
  }

  /// Moves the rows from `slot` on into a new cluster. Both must then be encoded; the list of
  /// dropped long values stays with this one.
  package func split(at slot: Int) -> WorkingCluster {
    require(slot >= 0 && slot <= count, "no such row")
    loadAll()
    let other = WorkingCluster(schema)
    let moved = count - slot
    other.grow(to: moved + 16)
    other.count = moved
    other.updateTarget(rowsPerImage: rowsPerImage)
    if let source = unsafe keys {
      unsafe other.keys!.initialize(from: source + slot, count: moved)
    }
    for index in 0..<columnCount {
      unsafe other.columns[index].take(
        columns[index], from: slot, count: moved, capacity: other.capacity)
    }
    other.hasLoaded = true
    removeRows(at: slot, removed: moved)
    return other
  }

  /// Removes rows without recording their long values.
  func removeRows(at slot: Int, removed: Int) {
    guard removed > 0, let keys = unsafe keys else { return }
    unsafe UnsafeMutableRawPointer(keys + slot)
      .copyMemory(from: keys + slot + removed, byteCount: (count - slot - removed) * 8)
    for index in 0..<columnCount {
      unsafe columns[index].closeRows(at: slot, removed: removed, count: count)
    }
    count -= removed
    for index in 0..<columnCount where unsafe columns[index].arena.wantsCompaction {
      unsafe columns[index].compact(count: count)
    }
  }

  func grow(to rows: Int) {
    let new = UnsafeMutablePointer<Int64>.allocate(capacity: rows)
    if let old = unsafe keys {
      unsafe new.initialize(from: old, count: count)
      unsafe old.deallocate()
    }
    unsafe keys = unsafe new
    for index in 0..<columnCount {
      unsafe columns[index].grow(count: count, capacity: rows)
    }
    capacity = rows
  }
}
