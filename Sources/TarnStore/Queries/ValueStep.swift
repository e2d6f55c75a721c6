/// A step from a map to what it has under a key, or into a list or map within a value of any type.
package enum ValueStep: Hashable, Sendable {
  /// The element there. Negative ones count from the end: -1 is the last one.
  case position(Int)
  /// What a map has under that key.
  case key(String)
  /// Each element, of a map each value.
  case each

  /// Keys count byte by byte.
  package static func == (a: ValueStep, b: ValueStep) -> Bool {
    switch (a, b) {
    case (.position(let a), .position(let b)): a == b
    case (.key(let a), .key(let b)): a.hasSameBytes(as: b)
    case (.each, .each): true
    default: false
    }
  }
}

/// A path is made of names, and a step has one that no property has: it begins with a NUL.
extension ValueStep {
  private static let everyName = CollectionCondition.marker + "*"
  private static let keyPrefix = CollectionCondition.marker + "'"
  private static let positionPrefix = CollectionCondition.marker + "#"

  /// Nil for the name of a property.
  package init?(_ name: String) {
    // By bytes: a key may begin with a mark that becomes one character with the quote before it.
    let bytes = name.utf8
    if name == Self.everyName {
      self = .each
    } else if bytes.starts(with: Self.keyPrefix.utf8) {
      self = .key(String(Substring(bytes.dropFirst(Self.keyPrefix.utf8.count))))
    } else if name.hasPrefix(Self.positionPrefix),
      let position = Int(name.dropFirst(Self.positionPrefix.count))
    {
      self = .position(position)
    } else {
      return nil
    }
  }

  package var name: String {
    switch self {
    case .position(let position): "\(Self.positionPrefix)\(position)"
    case .key(let key): Self.keyPrefix + key
    case .each: Self.everyName
    }
  }
}

extension ValueStep: CustomStringConvertible {
  /// As a text has it behind a property.
  package var description: String {
    switch self {
    case .position(-1): "[LAST]"
    case .position(let position): "[\(position)]"
    case .key(let key): "[\(Value.string(key).predicateText)]"
    case .each: "[#any]"
    }
  }

  /// What is wrong with the step into a collection of that kind; nil if nothing.
  func mistake(into collection: CollectionKind) -> String? {
    switch (collection, self) {
    case (.none, _), (.list, .position), (.map, .key), (_, .each): nil
    case (.list, .key): "the elements of a list have positions, not keys"
    case (.map, .position): "the values of a map have keys, not positions"
    case (.set, _): "the elements of a set have neither positions nor keys"
    }
  }
}

extension RowSource {
  /// The value of a column of any type.
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

  /// Calls `body` with what the steps lead to from a value on, and from each element of a
  /// collection where a step says so, until it returns false. Steps that name one element give
  /// null where there is none.
  ///
  /// - Parameter place: of the property that has the value, or of the collection that it is in.
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

  /// The same from a collection on; there is at least one step.
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
  /// One element; nil if there is none, or the step does not lead into such a collection.
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
