extension RowSource {
  /// The value of a mixed column.
  func anyValue<Rows: RowReading>(
    _ rows: Rows, _ slot: Int, _ classID: ClassID, _ column: ColumnID
  ) throws(StorageError) -> Value {
    switch try rows.bytes(column, slot) {
    case .null: return .null
    case .inline(let bytes): return try unsafe Value(cell: bytes, .any)
    case .long:
      return try unsafe withLongValue(classID, rows.key(at: slot), column) {
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
