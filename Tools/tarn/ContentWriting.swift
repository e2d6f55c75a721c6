import TarnStore

/// Writing contents into objects.
extension WriteSession {
  /// Adds an object with these contents. Its primary key must be free.
  ///
  /// - Parameter key: a free object key for it; nil for the next one.
  @discardableResult
  func create(
    _ contents: [ColumnID: Content], at key: ObjectKey? = nil, in id: ClassID
  ) throws -> ObjectKey {
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
    let key = try create(in: id, at: key) { values[$0] }
    for (column, content) in rest { try put(content, column, at: key, in: id) }
    return key
  }

  /// Replaces a property's value with that content.
  func put(
    _ content: Content, _ column: ColumnSchema, at key: ObjectKey, in id: ClassID
  ) throws {
    let place = SequencePlace(classID: id, key: key, column: column.id)
    guard column.collection != .none else {
      try set(column.id, at: key, in: id, to: stored(content, column, place))
      return
    }
    switch content {
    case .list(let items) where column.collection == .set:
      try replace(items, inSet: column, place)
    case .list(let items): try replace(items, inList: column, place)
    case .map(let pairs): try replace(pairs, inMap: column, place)
    case .value, .object: preconditionFailure("internal error: one value for a collection")
    }
  }

  // MARK: - Replacing only what differs

  private func content(_ column: ColumnSchema, _ place: SequencePlace) throws -> Content {
    try Rows(self).content(of: column, at: place.key, in: place.classID)
  }

  /// Replaces a list's elements, except the equal ones at both ends.
  private func replace(
    _ items: [Content], inList column: ColumnSchema, _ place: SequencePlace
  ) throws {
    guard case .list(let old) = try content(column, place) else { return }
    let front = zip(old, items).prefix { $0.isSame(as: $1) }.count
    let rest = min(old.count, items.count) - front
    let back = zip(old.reversed(), items.reversed()).prefix(rest).prefix { $0.isSame(as: $1) }.count
    let (removed, added) = (front..<old.count - back, front..<items.count - back)
    if !removed.isEmpty { try remove(removed, in: place) }
    if added.isEmpty { return }
    try insert(stored(Array(items[added]), column, place), at: front, in: place)
  }

  private func replace(
    _ items: [Content], inSet column: ColumnSchema, _ place: SequencePlace
  ) throws {
    guard case .list(let old) = try content(column, place) else { return }
    // Both are in the set's order.
    var (before, after) = (old.compactMap(\.single)[...], items.compactMap(\.single)[...])
    while !before.isEmpty || !after.isEmpty {
      let order =
        before.isEmpty ? 1 : after.isEmpty ? -1 : SequenceOrder.compare(before.first!, after.first!)
      let (gone, come) = (order <= 0 ? before.popFirst() : nil, order >= 0 ? after.popFirst() : nil)
      // The set compares them as equal, but the values differ: -0 and 0, or numbers of two types.
      if order == 0, let gone, let come, gone != come {
        try remove(gone, fromSet: place)
        try insert(come, intoSet: place)
      }
      if order < 0, let gone { try remove(gone, fromSet: place) }
      if order > 0, let come { try insert(come, intoSet: place) }
    }
  }

  private func replace(
    _ pairs: [Content.Pair], inMap column: ColumnSchema, _ place: SequencePlace
  ) throws {
    guard case .map(let old) = try content(column, place) else { return }
    let keys = Set(pairs.map { Array($0.key.utf8) })
    for pair in old where !keys.contains(Array(pair.key.utf8)) {
      try removeValue(forKey: pair.key, fromMap: place)
    }
    let before = Dictionary(uniqueKeysWithValues: old.map { (Array($0.key.utf8), $0.value) })
    for pair in pairs where before[Array(pair.key.utf8)]?.isSame(as: pair.value) != true {
      try set(stored(pair.value, column, place), forKey: pair.key, inMap: place)
    }
  }

  private func stored(
    _ contents: [Content], _ column: ColumnSchema, _ place: SequencePlace
  ) throws -> [Value] {
    try contents.map { try stored($0, column, place) }
  }

  /// The value to store for the content at that place. Collections and embedded objects in it are
  /// created.
  private func stored(
    _ content: Content, _ column: ColumnSchema, _ place: SequencePlace
  ) throws -> Value {
    switch content {
    case .value(let value): return value
    case .list(let items):
      let id = try makeNested(.list, in: place)
      let inner = place.nested(id)
      try insert(stored(items, column, inner), at: 0, in: inner)
      return .list(id)
    case .map(let pairs):
      let id = try makeNested(.map, in: place)
      let inner = place.nested(id)
      for pair in pairs {
        try set(stored(pair.value, column, inner), forKey: pair.key, inMap: inner)
      }
      return .map(id)
    case .object(let fields):
      guard let target = column.target else { return .null }
      return .link(
        try create(
          Dictionary(uniqueKeysWithValues: fields.map { ($0.column, $0.content) }), in: target))
    }
  }
}

extension Content {
  fileprivate var single: Value? {
    if case .value(let value) = self { return value }
    return nil
  }
}
