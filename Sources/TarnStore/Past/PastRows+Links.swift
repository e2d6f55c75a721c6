/// Links as they were.
extension PastRows {
  package func origins(
    of target: ObjectRef, in id: ClassID, through column: ColumnID
  ) throws(StorageError) -> [ObjectKey] {
    try check(id)
    let now = try newer.origins(of: target, in: id, through: column)
    guard let entry = changes[id] else { return now }
    let deleted = images[id]?.deleted ?? KeySet()
    let changed = entry.touchedKeys(in: column).union(deleted)
    let link = SchemaView.LinkColumn(origin: id, column: column)
    let former = try cache.origins(link) { () throws(StorageError) in
      var found: [ObjectRef: [ObjectKey]] = [:]
      for key in changed {
        try forEachLink(SequencePlace(classID: id, key: key, column: column)) {
          found[$0, default: []].append(key)
        }
      }
      return found
    }
    let kept = now.filter { !changed.contains($0) && !entry.inserted.contains($0) }
    return (kept + (former[target] ?? [])).sorted()
  }

  /// Calls `body` with the target of each link of an object's column, those in nested lists and
  /// maps included.
  private func forEachLink(
    _ place: SequencePlace, _ body: (ObjectRef) -> Void
  ) throws(StorageError) {
    let column = schema[place.classID][place.column]
    var pending: [SequencePlace] = []
    // In a damaged file, collections may contain each other.
    var known: Set<CollectionID> = []
    func take(_ value: Value) {
      if let nested = value.collection {
        if known.insert(nested).inserted { pending.append(place.atAnyDepth(nested)) }
      } else if let target = column.linkTarget(of: value) {
        body(target)
      }
    }
    if column.collection != .none {
      pending.append(place)
    } else if let value = try value(of: place.column, at: place.key, in: place.classID) {
      take(value)
    }
    while let next = pending.popLast() {
      try forEachElement(of: next) { value in
        take(value)
        return true
      }
    }
  }

  // MARK: - Copies

  /// A property's value with its nested contents; nil if there is no such object.
  func copy(of place: SequencePlace) throws(StorageError) -> CopiedValue? {
    guard let value = try value(of: place.column, at: place.key, in: place.classID) else {
      return nil
    }
    return try CopiedValue(value) { id throws(StorageError) in
      try sequence(at: place.atAnyDepth(id))?.parts()
    }
  }

  /// The elements of a property's collection with their nested contents, and the keys of a map.
  func copies(
    of place: SequencePlace
  ) throws(StorageError) -> (values: [CopiedValue], keys: [String]) {
    let parts = try sequence(at: place)?.parts() ?? SequenceParts()
    let values = try CopiedValue.copies(parts.values) { id throws(StorageError) in
      try sequence(at: place.atAnyDepth(id))?.parts()
    }
    return (values, parts.keys)
  }
}
