extension StoredSequence {
  /// The position of that element of a set, or where it would be inserted.
  package func find(_ value: Value) throws(StorageError) -> (index: Int, isFound: Bool) {
    try find(SearchKey(value, shape))
  }

  /// The position of that key of a map, or where it would be inserted.
  package func find(key: String) throws(StorageError) -> (index: Int, isFound: Bool) {
    try find(SearchKey(key: key))
  }

  /// Binary search: first over the pages' first elements, then within a page.
  private func find(_ sought: SearchKey) throws(StorageError) -> (index: Int, isFound: Bool) {
    switch cell {
    case .empty: return (0, false)
    case .small(let elements):
      return try (0..<count).search { position throws(StorageError) in
        try order(of: elements.sortElement(position), to: sought)
      }
    case .large: break
    }
    let list = try pageList()
    // The first page that starts after the value; the value belongs to the page before.
    let number = try (0..<list.labels.count).partitioningIndex { number throws(StorageError) in
      if let prefix = sought.prefix, let isBefore = precedes(number, prefix) { return !isBefore }
      return try order(of: page(number), 0, to: sought) > 0
    }
    guard number > 0 else { return (0, false) }
    let found = try find(sought, in: page(number - 1))
    return (list.starts[number - 1] + found.index, found.isFound)
  }

  /// The same within the page that starts at that position, with slots.
  func find(
    _ sought: SearchKey, inPageFrom position: Int
  ) throws(StorageError) -> (index: Int, isFound: Bool) {
    try find(sought, in: page(pageList().index(of: position)))
  }

  private func find(
    _ sought: SearchKey, in page: SequencePage
  ) throws(StorageError) -> (index: Int, isFound: Bool) {
    try (0..<page.count).search { slot throws(StorageError) in
      try order(of: page, slot, to: sought)
    }
  }

  // MARK: - Comparing

  /// Compares the first element of the page that starts at that position with another.
  func order(
    ofPageFrom position: Int, to sought: SearchKey
  ) throws(StorageError) -> Int {
    try order(of: page(pageList().index(of: position)), 0, to: sought)
  }

  /// Compares an element, for a map its key, with another: negative if it comes before.
  @inline(__always)
  private func order(
    of page: SequencePage, _ slot: Int, to sought: SearchKey
  ) throws(StorageError) -> Int {
    if let number = sought.number { return page.order(ofNumber: slot, to: number) }
    if let order = try page.order(ofText: slot, to: sought) { return order }
    return try order(of: shape.isMap ? page.key(slot) : page.element(slot), to: sought)
  }

  func order(of element: TaggedValue, to sought: SearchKey) throws(StorageError) -> Int {
    SequenceOrder.compare(try resolve(element), sought.value)
  }

  // MARK: - Reading all elements

  /// Calls `body` with every element in the range, for a map the values, in order, until it returns
  /// false.
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

  /// Calls `body` with the numbers of each page, one page after the other, until it returns false.
  /// For large sequences of numbers or links without null, as stored.
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

/// The stored numbers of a large sequence, page by page. Retains the snapshot.
package struct NumberPages {
  private let sequence: StoredSequence
  private var nextPage = 0

  fileprivate init(_ sequence: StoredSequence) { self.sequence = sequence }

  /// Replaces the numbers by those of the next page; empty at the end.
  package mutating func next(_ numbers: inout ContiguousArray<Int64>) throws(StorageError) {
    let list = try sequence.pageList()
    guard nextPage < list.labels.count else {
      numbers = []
      return
    }
    let page = try sequence.page(nextPage)
    nextPage += 1
    numbers = unsafe ContiguousArray(unsafeUninitializedCapacity: page.count) { buffer, filled in
      unsafe page.image.decodeInts(sequence.shape.valueColumn, into: buffer.baseAddress!)
      filled = page.count
    }
  }
}

extension StoredSequence {
  /// For fast iteration over a large sequence of numbers without null; nil for all others.
  package var numberPages: NumberPages? {
    large != nil && shape.type == .int && !shape.isOptional ? NumberPages(self) : nil
  }
}

/// A value to search in a set, or a map's key, in the forms used for comparing.
struct SearchKey {
  let value: Value
  /// Set for a set of numbers without null.
  let number: Int64?
  /// A string's UTF-8.
  let text: [UInt8]?
  /// That of a number or string, which is compared first. Nil for other values.
  let prefix: OrderPrefix?

  init(_ value: Value, _ shape: SequenceShape) {
    self.value = value
    if case .int(let number) = value, shape.type == .int, !shape.isOptional {
      self.number = number
    } else {
      number = nil
    }
    if case .string(let text) = value { self.text = Array(text.utf8) } else { text = nil }
    prefix = number.map { OrderPrefix($0) } ?? text.map { OrderPrefix($0) }
  }

  init(key: String) {
    value = .string(key)
    number = nil
    let text = Array(key.utf8)
    self.text = text
    prefix = OrderPrefix(text)
  }
}

extension SequenceElements {
  /// The element that the sequence is sorted by: for a map the key.
  func sortElement(_ index: Int) -> TaggedValue { keys.isEmpty ? values[index] : keys[index] }
}
