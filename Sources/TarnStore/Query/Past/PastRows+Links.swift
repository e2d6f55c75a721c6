/// Links at past versions.
extension PastRows {
  package func origins(
    of target: ObjectRef, in id: ClassID, through column: ColumnID
  ) throws(StorageError) -> [ObjectKey] {
    try check(id)
    let now = try reader.origins(of: target, in: id, through: column)
    guard let entry = changes[id] else { return now }
    let deleted = images[id]?.deleted ?? KeySet()
    let changed = entry.touchedKeys(in: column).union(deleted)
    let link = SchemaView.LinkColumn(origin: id, column: column)
    let former = try cache.origins(link) { () throws(StorageError) in
      var found: [ObjectRef: [ObjectKey]] = [:]
      for key in changed {
        try rows.forEachLink(at: SequencePlace(classID: id, key: key, column: column)) {
          found[$0, default: []].append(key)
        }
      }
      return found
    }
    let kept = now.filter { !changed.contains($0) && !entry.inserted.contains($0) }
    return (kept + (former[target] ?? [])).sorted()
  }

  // MARK: - Identities

  /// The primary key of a former object. Nil for a class without one, and if it is unknown because
  /// a commit that kept no keys deleted the object.
  package func primaryKey(of object: ObjectRef) throws(StorageError) -> Value? {
    let described = schema[object.classID]
    guard let column = described.primaryKey else { return nil }
    if described.keyIsPrimary { return .int(object.key.rawValue) }
    if let before = images[object.classID], before.deleted.contains(object.key) {
      return try before.primaryKey(of: object.key, described)?
        .resolved(in: reader.snapshot.transaction)
    }
    return try reader.value(of: column, at: object.key, in: object.classID)
  }

  /// The object with a primary key.
  package func find(
    primaryKey value: Value, in id: ClassID
  ) throws(StorageError) -> ObjectKey? {
    guard let column = schema[id].primaryKey else { return nil }
    guard schema[id].keyIsPrimary else {
      return try object(in: id, withPrimaryKey: value, column)
    }
    guard case .int(let number) = value else { return nil }
    let key = ObjectKey(number)
    return try contains(ObjectRef(classID: id, key: key)) ? key : nil
  }

  // MARK: - Copies

  /// A property's value with its nested contents; nil if the object does not exist.
  package func copy(of place: SequencePlace) throws(StorageError) -> CopiedValue? {
    guard let value = try value(of: place.column, at: place.key, in: place.classID) else {
      return nil
    }
    return try CopiedValue(value) { id throws(StorageError) in
      try sequence(at: place.atAnyDepth(id))?.parts()
    }
  }

  /// The elements of a property's collection with their nested contents, and the keys of a map.
  package func copies(
    of place: SequencePlace
  ) throws(StorageError) -> (values: [CopiedValue], keys: [String]) {
    let parts = try sequence(at: place)?.parts() ?? SequenceParts()
    let values = try CopiedValue.copies(parts.values) { id throws(StorageError) in
      try sequence(at: place.atAnyDepth(id))?.parts()
    }
    return (values, parts.keys)
  }
}

extension PastRows {
  package func object(
    in id: ClassID, withPrimaryKey value: Value, _ column: ColumnID
  ) throws(StorageError) -> ObjectKey? {
    if let key = try reader.keys(in: id, where: column, is: value).first,
      changes[id]?.inserted.contains(key) != true || images[id]?.deleted.contains(key) == true
    {
      return key
    }
    let deleted = images[id]?.deleted ?? KeySet()
    let known = try cache.primaryKeys(of: id) { () throws(StorageError) in
      var keys: [Value: ObjectKey] = [:]
      for key in deleted {
        if let value = try primaryKey(of: ObjectRef(classID: id, key: key)) { keys[value] = key }
      }
      return keys
    }
    return known[value]
  }
}
