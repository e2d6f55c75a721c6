import TarnStore

/// Contents on their way into objects.
extension WriteSession {
  /// Adds an object with these contents. The caller has made sure that its primary key is free.
  @discardableResult
  func create(_ contents: [ColumnID: Content], in id: ClassID) throws(StorageError) -> ObjectKey {
    let described = schema[id]
    var values: [ColumnID: Value] = [:]
    var rest: [(ColumnSchema, Content)] = []
    for column in described.columns {
      switch contents[column.id] {
      case nil: continue
      case .value(let value)?: values[column.id] = value
      case let content?: rest.append((column, content))
      }
    }
    let key = try create(values, in: id)
    for (column, content) in rest { try put(content, column, at: key, in: id) }
    return key
  }

  /// Gives a property that content in place of what it has.
  func put(
    _ content: Content, _ column: ColumnSchema, at key: ObjectKey, in id: ClassID
  ) throws(StorageError) {
    let place = SequencePlace(classID: id, key: key, column: column.id)
    guard column.collection != .none else {
      try set(column.id, at: key, in: id, to: stored(content, column, place))
      return
    }
    switch content {
    case .list(let items):
      try put(stored(items, column, place), keys: [], in: place)
    case .map(let pairs):
      try put(stored(pairs.map(\.value), column, place), keys: pairs.map(\.key), in: place)
    case .value, .object: preconditionFailure("one value for a collection: bug in this program")
    }
  }

  private func stored(
    _ contents: [Content], _ column: ColumnSchema, _ place: SequencePlace
  ) throws(StorageError) -> [Value] {
    try contents.map { content throws(StorageError) in try stored(content, column, place) }
  }

  /// The value that is to stand for the content at that place. What it names is made.
  private func stored(
    _ content: Content, _ column: ColumnSchema, _ place: SequencePlace
  ) throws(StorageError) -> Value {
    switch content {
    case .value(let value): return value
    case .list(let items):
      let id = makeNested(.list, in: place)
      let inner = place.nested(id)
      try insert(stored(items, column, inner), at: 0, in: inner)
      return .list(id)
    case .map(let pairs):
      let id = makeNested(.map, in: place)
      let inner = place.nested(id)
      for (key, value) in pairs {
        try set(stored(value, column, inner), forKey: key, inMap: inner)
      }
      return .map(id)
    case .object(let fields):
      guard let target = column.target else { return .null }
      return .link(
        try create(Dictionary(uniqueKeysWithValues: fields.map { ($0, $1) }), in: target))
    }
  }
}
