/// A value with its nested contents, independent of its place: a nested list or map is replaced by
/// its elements, so that it can be compared and stored elsewhere. Two are equal if they are bitwise
/// equal.
package indirect enum CopiedValue: Sendable {
  case value(Value)
  case list([CopiedValue])
  case map(keys: [String], values: [CopiedValue])

  /// - Parameter elements: the elements of a nested collection, nil if it does not exist.
  init(
    _ value: Value, _ elements: (CollectionID) throws(StorageError) -> SequenceParts?
  ) throws(StorageError) {
    var met: Set<CollectionID> = []
    try self.init(value, depth: 1, &met, elements)
  }

  /// The same for the values of one property.
  static func copies(
    _ values: [Value], _ elements: (CollectionID) throws(StorageError) -> SequenceParts?
  ) throws(StorageError) -> [CopiedValue] {
    var met: Set<CollectionID> = []
    return try copies(values, depth: 1, &met, elements)
  }

  /// - Parameter met: the collections copied so far.
  private init(
    _ value: Value, depth: Int, _ met: inout Set<CollectionID>,
    _ elements: (CollectionID) throws(StorageError) -> SequenceParts?
  ) throws(StorageError) {
    if let id = value.collection {
      guard depth <= SequencePlace.depthMax else {
        throw SequencePlace.tooDeep("copy collection")
      }
      guard met.insert(id).inserted else { throw SequencePlace.referredTwice("copy collection") }
    }
    switch value {
    case .list(let id):
      let values = try elements(id)?.values ?? []
      self = .list(try Self.copies(values, depth: depth + 1, &met, elements))
    case .map(let id):
      let parts = try elements(id) ?? SequenceParts()
      self = .map(
        keys: parts.keys, values: try Self.copies(parts.values, depth: depth + 1, &met, elements))
    default: self = .value(value)
    }
  }

  private static func copies(
    _ values: [Value], depth: Int, _ met: inout Set<CollectionID>,
    _ elements: (CollectionID) throws(StorageError) -> SequenceParts?
  ) throws(StorageError) -> [CopiedValue] {
    var copies: [CopiedValue] = []
    copies.reserveCapacity(values.count)
    for value in values { copies.append(try CopiedValue(value, depth: depth, &met, elements)) }
    return copies
  }

  /// The copy with its plain values mapped.
  func mapping(_ body: (Value) -> Value) -> CopiedValue {
    switch self {
    case .value(let value): .value(body(value))
    case .list(let items): .list(items.map { $0.mapping(body) })
    case .map(let keys, let values): .map(keys: keys, values: values.map { $0.mapping(body) })
    }
  }
}

extension CopiedValue: Hashable {
  package static func == (a: Self, b: Self) -> Bool {
    switch (a, b) {
    case (.value(let a), .value(let b)): a == b
    case (.list(let a), .list(let b)): a == b
    case (.map(let keys, let values), .map(let others, let theirs)):
      keys.haveSameBytes(as: others) && values == theirs
    default: false
    }
  }

  package func hash(into hasher: inout Hasher) {
    switch self {
    case .value(let value): hasher.combine(value)
    case .list(let items): hasher.combine(items)
    case .map(let keys, let values):
      for key in keys { hasher.combine(StoredText(key)) }
      hasher.combine(values)
    }
  }
}

extension CopiedValue {
  /// The kind of collection; `.none` for other values.
  var kind: CollectionKind {
    switch self {
    case .value: .none
    case .list: .list
    case .map: .map
    }
  }

  /// The elements of a list or map, and a map's keys.
  var items: (values: [CopiedValue], keys: [String]) {
    switch self {
    case .value: ([], [])
    case .list(let values): (values, [])
    case .map(let keys, let values): (values, keys)
    }
  }

  /// The value, if it is neither a list nor a map.
  var plain: Value? {
    if case .value(let value) = self { value } else { nil }
  }
}

/// The elements of a list, set or map, with nested collections as ids.
package struct SequenceParts: Sendable {
  /// The keys of a map, otherwise empty.
  package var keys: [String] = []
  package var values: [Value] = []

  package init(keys: [String] = [], values: [Value] = []) {
    (self.keys, self.values) = (keys, values)
  }
}

extension SequenceReading {
  package func parts() throws(StorageError) -> SequenceParts {
    var parts = SequenceParts()
    for index in 0..<count {
      parts.values.append(try value(at: index))
      if shape.isMap { parts.keys.append(try key(at: index)) }
    }
    return parts
  }
}
