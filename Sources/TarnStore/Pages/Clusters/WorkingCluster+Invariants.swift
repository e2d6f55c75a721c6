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
