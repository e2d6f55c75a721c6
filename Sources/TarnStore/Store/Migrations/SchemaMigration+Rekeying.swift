/// Rows whose key is their primary key and changes: they move, with everything that they own and
/// all links to them.
extension SchemaMigration {
  /// The new key of each row, for each class whose rows move.
  typealias NewKeys = [ClassID: [ObjectKey: ObjectKey]]

  /// The new key of each row, if the primary key is the object key. Throws if two rows have the
  /// same value.
  func uniqueKeys(
    of described: ClassSchema, _ column: ColumnID
  ) throws(StorageError) -> [ObjectKey: ObjectKey] {
    var seen: Set<Value> = []
    var keys: [ObjectKey: ObjectKey] = [:]
    try session.forEachRow(in: described.id) { key throws(StorageError) in
      let value = try session.value(of: column, at: key, in: described.id) ?? .null
      guard seen.insert(value).inserted else {
        throw failure(
          "two objects of class '\(described.name)' have \(value) as their primary key "
            + "'\(described[column].name)' after the migration. The file is unchanged.")
      }
      if case .int(let number) = value { keys[key] = ObjectKey(number) }
    }
    return keys
  }

  /// Gives the rows their new keys. `result` has everything of the write except the contents of the
  /// classes of `newKeys`.
  func rekey(_ newKeys: NewKeys, in result: WriteSession) throws(StorageError) {
    if newKeys.isEmpty { return }
    let classes = newKeys.keys.sorted()
    for id in classes { try rebuild(id, newKeys, in: result) }
    var links = classes.flatMap { result.schema.incoming(to: $0) }
    links += result.schema.anyColumns
    for link in links where newKeys[link.origin] == nil {
      try redirect(link, newKeys, in: result)
    }
  }

  private func moved(
    _ value: Value, _ column: ColumnSchema, _ newKeys: NewKeys
  ) -> Value {
    guard let target = column.linkTarget(of: value), let keys = newKeys[target.classID] else {
      return value
    }
    guard let key = keys[target.key] else { return .null }
    return column.type == .any ? .object(target.classID, key) : .link(key)
  }

  // MARK: - Moving rows

  /// A collection, or a mixed value that contains one, of a row.
  private struct Part {
    var column: ColumnSchema
    /// The keys, for a property that is a map.
    var keys: [String] = []
    var values: [CopiedValue]
  }

  /// Writes the rows and their collections from scratch: collections are identified by their row's
  /// key, which another row may get.
  private func rebuild(
    _ id: ClassID, _ newKeys: NewKeys, in result: WriteSession
  ) throws(StorageError) {
    var parts: [ObjectKey: [Part]] = [:]
    for oldKey in newKeys[id]!.keys {
      let found = try self.parts(of: oldKey, id, newKeys)
      if !found.isEmpty { parts[oldKey] = found }
    }
    try session.dropSequences(in: id)
    // Embedded objects move with their owners.
    session.abandoned = []
    try result.classEdit(id).clear()
    result.linkCounts.clear(id)
    result.recorder.clear(id)
    let columns = result.schema[id].columns.filter { !$0.isRemoved && $0.collection == .none }
    for (oldKey, _) in newKeys[id]!.sorted(by: { $0.value < $1.value }) {
      var values: [ColumnID: Value] = [:]
      for column in columns {
        switch try session.value(of: column.id, at: oldKey, in: id) ?? .null {
        case .list, .map: break
        case let value: values[column.id] = moved(value, column, newKeys)
        }
      }
      let key = try result.create(values, in: id)
      for part in parts[oldKey] ?? [] { try put(part, at: key, in: id, result) }
    }
  }

  private func parts(
    of key: ObjectKey, _ id: ClassID, _ newKeys: NewKeys
  ) throws(StorageError) -> [Part] {
    var parts: [Part] = []
    for column in session.schema.holding(in: id) {
      let place = SequencePlace(classID: id, key: key, column: column.id)
      let nested = { (id: CollectionID) throws(StorageError) -> SequenceParts? in
        try self.session.sequence(at: place.nested(id))?.parts()
      }
      let found: SequenceParts
      if column.collection == .none {
        switch try session.value(of: column.id, at: key, in: id) ?? .null {
        case .list(let list): found = SequenceParts(values: [.list(list)])
        case .map(let map): found = SequenceParts(values: [.map(map)])
        default: continue
        }
      } else {
        guard let sequence = try session.sequence(at: place), sequence.count > 0 else { continue }
        found = try sequence.parts()
      }
      let values = try CopiedValue.copies(found.values, nested).map { copy in
        copy.mapping { moved($0, column, newKeys) }
      }
      parts.append(Part(column: column, keys: found.keys, values: values))
    }
    return parts
  }

  private func put(
    _ part: Part, at key: ObjectKey, in id: ClassID, _ result: WriteSession
  ) throws(StorageError) {
    let place = SequencePlace(classID: id, key: key, column: part.column.id)
    if part.column.collection == .none {
      let value = try result.make(part.values[0], in: place)
      try result.set(part.column.id, at: key, in: id, to: value)
    } else {
      try result.assign(part.values, keys: part.keys, in: place)
    }
  }

  // MARK: - Updating links

  private func redirect(
    _ link: SchemaView.LinkColumn, _ newKeys: NewKeys, in result: WriteSession
  ) throws(StorageError) {
    let column = result.schema[link.origin][link.column]
    for key in try result.keys(of: link.origin, holding: column) {
      let place = SequencePlace(classID: link.origin, key: key, column: link.column)
      if column.collection != .none {
        try redirect(place, column, newKeys, in: result)
        continue
      }
      let value = try result.value(of: link.column, at: key, in: link.origin) ?? .null
      switch value {
      case .list(let id), .map(let id):
        try redirect(place.nested(id), column, newKeys, in: result)
      default:
        let new = moved(value, column, newKeys)
        if new != value { try result.set(link.column, at: key, in: link.origin, to: new) }
      }
    }
  }

  /// The elements of a collection, and of nested ones.
  private func redirect(
    _ place: SequencePlace, _ column: ColumnSchema, _ newKeys: NewKeys, in result: WriteSession
  ) throws(StorageError) {
    guard let sequence = try result.sequence(at: place) else { return }
    var changed: [(position: Int, value: Value)] = []
    var within: [CollectionID] = []
    var position = 0
    try sequence.forEach(in: 0..<sequence.count) { value in
      switch value {
      case .list(let id), .map(let id): within.append(id)
      default:
        let new = moved(value, column, newKeys)
        if new != value { changed.append((position, new)) }
      }
      position += 1
      return true
    }
    if !changed.isEmpty, sequence.shape.kind == .set {
      // Elements of a set are ordered by their link targets.
      for (position, _) in changed.reversed() {
        try result.remove(position..<position + 1, in: place)
      }
      for (_, value) in changed { try result.insert(value, intoSet: place) }
    } else {
      for (position, value) in changed { try result.set(value, at: position, in: place) }
    }
    for id in within { try redirect(place.nested(id), column, newKeys, in: result) }
  }
}
