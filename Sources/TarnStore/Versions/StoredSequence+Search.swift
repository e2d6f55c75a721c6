extension StoredSequence {
  /// Where that element of a set is, or would go.
  package func find(_ value: Value) throws(StorageError) -> (index: Int, isFound: Bool) {
    try search { element throws(StorageError) in
      SequenceOrder.compare(try resolve(element), value)
    }
  }

  /// Where that key of a map is, or would go.
  package func find(key: String) throws(StorageError) -> (index: Int, isFound: Bool) {
    try search { element throws(StorageError) in
      SequenceOrder.compare(try text(element), key)
    }
  }

  /// Halving: first over the pages' first elements, then within a page.
  private func search(
    _ order: (TaggedValue) throws(StorageError) -> Int
  ) throws(StorageError) -> (index: Int, isFound: Bool) {
    guard large != nil else {
      return try Self.halve(0, count) { position throws(StorageError) in
        try order(sortElement(at: position))
      }
    }
    let list = try pageList()
    // The last page whose first element is not behind the value.
    var low = 0
    var high = list.labels.count
    while low < high {
      let middle = (low + high) >> 1
      let found = try order(firstSortElement(middle, list))
      if found == 0 { return (list.starts[middle], true) }
      if found < 0 { low = middle + 1 } else { high = middle }
    }
    guard low > 0 else { return (0, false) }
    return try Self.halve(list.starts[low - 1], list.starts[low]) { position throws(StorageError) in
      try order(sortElement(at: position))
    }
  }

  /// `order` tells how the element at a position stands to what is searched.
  static func halve(
    _ first: Int, _ end: Int, _ order: (Int) throws(StorageError) -> Int
  ) throws(StorageError) -> (index: Int, isFound: Bool) {
    var low = first
    var high = end
    while low < high {
      let middle = (low + high) >> 1
      let found = try order(middle)
      if found == 0 { return (middle, true) }
      if found < 0 { low = middle + 1 } else { high = middle }
    }
    return (low, false)
  }

  /// Calls `body` with every element there, in order, until it returns false; of a map with the
  /// values.
  package func forEach(
    in range: Range<Int>, _ body: (Value) throws(StorageError) -> Bool
  ) throws(StorageError) {
    guard large != nil, shape.type == .int, !shape.isOptional else {
      return try forEachElement(in: range) { element throws(StorageError) in
        try body(resolve(element))
      }
    }
    try unsafe forEachInts(in: range) { numbers throws(StorageError) in
      for index in 0..<numbers.count {
        guard try unsafe body(.int(numbers[index])) else { return false }
      }
      return true
    }
  }

  /// Calls `body` with the numbers of the pages there, one page after the other, until it returns
  /// false. For sequences of numbers or links without nulls that are large; their rows as stored.
  package func forEachInts(
    in range: Range<Int>,
    _ body: (UnsafeBufferPointer<Int64>) throws(StorageError) -> Bool
  ) throws(StorageError) {
    var capacity = ClusterFormat.rowsMax
    var buffer = UnsafeMutablePointer<Int64>.allocate(capacity: capacity)
    defer { unsafe buffer.deallocate() }
    let column = shape.valueColumn
    try forEachPage(in: range) { page, slots, _ throws(StorageError) in
      if page.count > capacity {
        unsafe buffer.deallocate()
        capacity = page.count
        unsafe buffer = .allocate(capacity: capacity)
      }
      unsafe page.image.decodeInts(column, into: buffer)
      return try unsafe body(
        UnsafeBufferPointer(start: buffer + slots.lowerBound, count: slots.count))
    }
  }
}
