/// Links from collections and from mixed values.
extension WriteSession {
  // MARK: - Counting

  /// Records that a value which links to an object was added to a collection or mixed value
  /// (`delta` 1), or removed from it (-1). Does nothing for other values.
  func countLink(
    _ value: Value, by delta: Int, from column: ColumnID, at owner: ObjectKey, in id: ClassID
  ) throws(StorageError) {
    let described = schema[id][column]
    guard let target = described.linkTarget(of: value) else { return }
    recorder.backTouch(target.classID, target.key, origin: id, column: column)
    let indexed: Value = described.type == .any ? value : .link(target.key)
    guard described.mayRepeatLinks else {
      return delta > 0
        ? try addEntry(indexed, column, owner, id) : try removeEntry(indexed, column, owner, id)
    }
    let name = LinkName(classID: id, column: column, owner: owner, target: target)
    let change = try linkCounts.change(name, by: delta) { () throws(StorageError) in
      guard try isInFile(owner, id), reader.schema.hasIndex(column, in: id) else { return 0 }
      return try reader.linkCount(name)
    }
    if change.before == 0, change.after > 0 { try addEntry(indexed, column, owner, id) }
    if change.before > 0, change.after == 0 { try removeEntry(indexed, column, owner, id) }
  }

  /// False if the object was added by this write.
  private func isInFile(_ key: ObjectKey, _ id: ClassID) throws(StorageError) -> Bool {
    guard let edit = classes[id] else { return true }
    if edit.isCleared { return false }
    guard edit.hasInserted else { return true }
    return try reader.row(key, in: id) != nil
  }

  /// The objects whose column links to that one, in the order of their keys.
  func keys(
    linkingTo target: ObjectRef, in id: ClassID, through column: ColumnID
  ) throws(StorageError) -> [ObjectKey] {
    let value: Value =
      schema[id][column].type == .any ? .object(target.classID, target.key) : .link(target.key)
    return try keys(in: id, where: column, is: value)
  }

  /// The objects whose column links to that one, in the order of their keys, each as often as it
  /// does.
  package func origins(
    of target: ObjectRef, in id: ClassID, through column: ColumnID
  ) throws(StorageError) -> [ObjectKey] {
    let keys = try keys(linkingTo: target, in: id, through: column)
    guard schema[id][column].mayRepeatLinks else { return keys }
    var result: [ObjectKey] = []
    for key in keys {
      let name = LinkName(classID: id, column: column, owner: key, target: target)
      let changed = madeLinkCounts?[name]
      let count =
        if let changed { Int(clamping: changed) } else {
          try reader.listedCount(name, schema[id][column])
        }
      result += repeatElement(key, count: count)
    }
    return result
  }

  // MARK: - Removing links

  /// Removes links to objects from a column of another: a to-one link and a mixed value become
  /// null, elements of lists and sets are removed, values of maps become null.
  func removeLinks(
    from column: ColumnID, at owner: ObjectKey, in id: ClassID,
    where matches: (ObjectRef) -> Bool
  ) throws(StorageError) {
    let place = SequencePlace(classID: id, key: owner, column: column)
    guard schema[id][column].collection == .none else { return try sweep(place, matches) }
    guard let value = try value(of: column, at: owner, in: id) else { return }
    switch value {
    case .list(let nested), .map(let nested): try sweep(place.atAnyDepth(nested), matches)
    default:
      guard let target = schema[id][column].linkTarget(of: value), matches(target) else { return }
      try set(column, at: owner, in: id, to: .null)
    }
  }

  /// Removes links from a collection and its nested collections: iteratively and each once, because
  /// a damaged file may have them nested in each other.
  func sweep(
    _ place: SequencePlace, _ matches: (ObjectRef) -> Bool
  ) throws(StorageError) {
    var pending = [place]
    var known: Set<CollectionID> = []
    while let next = pending.popLast() {
      for id in try sweepElements(next, matches) where known.insert(id).inserted {
        pending.append(next.atAnyDepth(id))
      }
    }
  }

  /// Removes links from one collection and returns its nested collections.
  private func sweepElements(
    _ place: SequencePlace, _ matches: (ObjectRef) -> Bool
  ) throws(StorageError) -> [CollectionID] {
    guard let sequence = try sequence(at: place) else { return [] }
    let column = schema[place.classID][place.column]
    var positions: [Int] = []
    var within: [CollectionID] = []
    var position = 0
    try sequence.forEach(in: 0..<sequence.count) { value in
      switch value {
      case .list(let id), .map(let id): within.append(id)
      default:
        if let target = column.linkTarget(of: value), matches(target) {
          positions.append(position)
        }
      }
      position += 1
      return true
    }
    let becomesNull =
      place.nested != nil || column.collection == .map
      || column.collection == .list && column.type == .any
    for position in positions.reversed() {
      if becomesNull {
        try set(.null, at: position, in: place)
      } else {
        try remove(position..<position + 1, in: place)
      }
    }
    return within
  }
}

/// The only code that records links of collections.
extension WriteSession {
  /// Called for each element that names an object and was added to a collection, or is about to be
  /// removed from it or with it. Not for one that only moves.
  func noteLink(
    added: Bool, target: Value, at place: SequencePlace
  ) throws(StorageError) {
    if !added { abandon(target, schema[place.classID][place.column]) }
    try countLink(
      target, by: added ? 1 : -1, from: place.column, at: place.key, in: place.classID)
  }
}
