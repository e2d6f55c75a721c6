extension Rows {
  /// The value of a mixed column.
  func anyValue<Cluster: RowReading>(
    _ cluster: Cluster, _ slot: Int, _ classID: ClassID, _ column: ColumnID
  ) throws(StorageError) -> Value {
    switch try cluster.bytes(column, slot) {
    case .null: return .null
    case .inline(let bytes): return try unsafe Value(cell: bytes, .any)
    case .long:
      return try unsafe withLongValue(classID, cluster.key(at: slot), column) {
        (bytes) throws(StorageError) in try unsafe Value(cell: bytes, .any)
      }
    }
  }

  /// Calls `body` with the values that the steps lead to from a value, for each element at a step
  /// `each`, until it returns false. A step to a single missing element gives null.
  ///
  /// - Parameter place: the place of the property that has the value, or of the collection that
  ///   contains it.
  /// - Returns: false if `body` did.
  func forEachValue(
    at steps: ArraySlice<ValueStep>, of value: Value, in place: SequencePlace,
    _ body: (Value, SequencePlace) throws(StorageError) -> Bool
  ) throws(StorageError) -> Bool {
    guard !steps.isEmpty else { return try body(value, place) }
    switch value {
    case .list(let id), .map(let id):
      return try forEachValue(at: steps, from: place.nested(id), body)
    default: return steps.contains(.each) ? true : try body(.null, place)
    }
  }

  /// The same from a collection; at least one step is given.
  func forEachValue(
    at steps: ArraySlice<ValueStep>, from place: SequencePlace,
    _ body: (Value, SequencePlace) throws(StorageError) -> Bool
  ) throws(StorageError) -> Bool {
    guard let step = steps.first else { return true }
    let rest = steps.dropFirst()
    if step != .each {
      guard let element = try element(of: place, at: step) else {
        return rest.contains(.each) ? true : try body(.null, place)
      }
      return try forEachValue(at: rest, of: element, in: place, body)
    }
    var goesOn = true
    try forEachElement(of: place) { (element) throws(StorageError) in
      goesOn = try forEachValue(at: rest, of: element, in: place, body)
      return goesOn
    }
    return goesOn
  }
}

extension SequenceReading {
  /// One element; nil if it does not exist, or the step does not fit the kind of collection.
  func element(at step: ValueStep) throws(StorageError) -> Value? {
    switch step {
    case .position(let position) where !shape.isMap:
      let index = position < 0 ? position + count : position
      return (0..<count).contains(index) ? try value(at: index) : nil
    case .key(let key) where shape.isMap:
      let (index, isFound) = try find(key: key)
      return isFound ? try value(at: index) : nil
    default: return nil
    }
  }
}

extension RowReading {
  /// The value of a column that is neither a string nor data.
  @inline(__always)
  func scalar(_ path: ColumnPath, _ slot: Int) -> Scalar {
    if path.isOptional && isNull(path.column, slot) { return .null }
    switch path.type {
    case .int, .link: return .int(int(path.column, slot))
    case .bool: return .bool(bool(path.column, slot))
    case .float: return .double(Double(float(path.column, slot)))
    case .double: return .double(double(path.column, slot))
    case .date: return .date(date(path.column, slot))
    case .objectID: return .bytes12(bytes12(path.column, slot))
    case .uuid: return .bytes16(bytes16(path.column, slot))
    case .decimal: return .decimal(DecimalNumber(bytes16(path.column, slot)))
    case .string, .data, .any:
      trap("internal error: a \(path.type) read as a number")
    }
  }
}

extension Rows {
  /// Calls `body` with the bytes of a string or data column, nil for null.
  @inline(__always)
  func withText<Cluster: RowReading, R>(
    _ cluster: Cluster, _ slot: Int, _ path: ColumnPath,
    _ body: (UnsafeRawBufferPointer?) throws(StorageError) -> R
  ) throws(StorageError) -> R {
    switch try cluster.bytes(path.column, slot) {
    case .inline(let bytes): return try unsafe body(bytes)
    case .null:
      return try unsafe body(
        path.isOptional ? nil : UnsafeRawBufferPointer(start: nil, count: 0))
    case .long:
      return try unsafe withLongValue(path.classID, cluster.key(at: slot), path.column, body)
    }
  }

  /// Calls `body` with the row at the end of a path's links, starting at its link `step`. Nil if
  /// one of them is nil.
  func withTarget<Cluster: RowReading, R>(
    _ cluster: Cluster, _ slot: Int, _ links: [LinkStep], from step: Int,
    _ body: (RowCluster, Int) throws(StorageError) -> R
  ) throws(StorageError) -> R? {
    let link = links[step]
    if cluster.isNull(link.column, slot) { return nil }
    let key = ObjectKey(cluster.int(link.column, slot))
    if step + 1 == links.count { return try withRow(link.target, key, body) }
    let found = try withRow(link.target, key) { (cluster, slot) throws(StorageError) -> R? in
      try withTarget(cluster, slot, links, from: step + 1, body)
    }
    return found ?? nil
  }
}
