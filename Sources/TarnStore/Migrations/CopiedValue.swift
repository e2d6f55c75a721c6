/// A value with all that lies within it, apart from any place: a list or map that is a value of any
/// type stands for its elements, so that they can be put elsewhere.
indirect enum CopiedValue {
  case value(Value)
  case list([CopiedValue])
  case map(keys: [String], values: [CopiedValue])

  /// - Parameter elements: the elements of a collection within a value, nil if it is gone.
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

  /// - Parameter met: the collections that were copied.
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

  /// The copy with other values in the place of its own.
  func mapping(_ body: (Value) -> Value) -> CopiedValue {
    switch self {
    case .value(let value): .value(body(value))
    case .list(let items): .list(items.map { $0.mapping(body) })
    case .map(let keys, let values): .map(keys: keys, values: values.map { $0.mapping(body) })
    }
  }
}

/// The elements of a list, set or map as they are: collections within them by their ids.
struct SequenceParts {
  /// Of a map, else empty.
  var keys: [String] = []
  var values: [Value] = []
}

extension SequenceReading {
  func parts() throws(StorageError) -> SequenceParts {
    var parts = SequenceParts()
    for index in 0..<count {
      parts.values.append(try value(at: index))
      if shape.isMap { parts.keys.append(try key(at: index)) }
    }
    return parts
  }
}

extension WriteSession {
  /// The value that is to stand for a copy at that place; lists and maps in it are made.
  func make(
    _ copy: CopiedValue, in place: SequencePlace
  ) throws(StorageError) -> Value {
    switch copy {
    case .value(let value): return value
    case .list(let items):
      let id = try makeNested(.list, in: place)
      let inner = place.nested(id)
      try insert(make(items, in: inner), at: 0, in: inner)
      return .list(id)
    case .map(let keys, let items):
      let id = try makeNested(.map, in: place)
      let inner = place.nested(id)
      for (key, item) in zip(keys, items) {
        try set(make(item, in: inner), forKey: key, inMap: inner)
      }
      return .map(id)
    }
  }

  func make(
    _ copies: [CopiedValue], in place: SequencePlace
  ) throws(StorageError) -> [Value] {
    var values: [Value] = []
    values.reserveCapacity(copies.count)
    for copy in copies { values.append(try make(copy, in: place)) }
    return values
  }
}
