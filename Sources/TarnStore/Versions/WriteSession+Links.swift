/// Links from collections and from values of any type, and objects that belong to others.
extension WriteSession {
  // MARK: - Counting

  /// Notes that a value which links to an object was put into a collection or value of any type
  /// (`delta` 1), or taken out of it (-1). Nothing for other values.
  func countLink(
    _ value: Value, by delta: Int, from column: ColumnID, at owner: ObjectKey, in id: ClassID
  ) throws(StorageError) {
    let described = schema[id][column]
    guard let target = described.linkTarget(of: value) else { return }
    recorder.backTouch(target.classID, target.key, origin: id, column: column)
    let filed: Value = described.type == .any ? value : .link(target.key)
    guard described.mayRepeatLinks else {
      return delta > 0
        ? try fileEntry(filed, column, owner, id) : try unfileEntry(filed, column, owner, id)
    }
    let name = LinkName(classID: id, column: column, owner: owner, target: target)
    let change = try linkCounts.change(name, by: delta) { () throws(StorageError) in
      guard try isInFile(owner, id), reader.schema.hasIndex(column, in: id) else { return 0 }
      return try reader.linkCount(name)
    }
    if change.before == 0, change.after > 0 { try fileEntry(filed, column, owner, id) }
    if change.before > 0, change.after == 0 { try unfileEntry(filed, column, owner, id) }
  }

  /// False if the object was added by this write.
  private func isInFile(_ key: ObjectKey, _ id: ClassID) throws(StorageError) -> Bool {
    guard let edit = classes[Int(id.rawValue)] else { return true }
    if edit.isCleared { return false }
    guard edit.hasInserted else { return true }
    return try reader.row(key, in: id) != nil
  }

  /// The objects whose column links to that one, in the order of their keys.
  func keys(
    linkingTo target: LinkTarget, in id: ClassID, through column: ColumnID
  ) throws(StorageError) -> [ObjectKey] {
    let value: Value =
      schema[id][column].type == .any ? .object(target.classID, target.key) : .link(target.key)
    return try keys(in: id, where: column, is: value)
  }

  /// The objects whose column links to that one, in the order of their keys, each as often as it
  /// does.
  package func origins(
    of target: LinkTarget, in id: ClassID, through column: ColumnID
  ) throws(StorageError) -> [ObjectKey] {
    let keys = try keys(linkingTo: target, in: id, through: column)
    guard schema[id][column].mayRepeatLinks else { return keys }
    var result: [ObjectKey] = []
    for key in keys {
      let name = LinkName(classID: id, column: column, owner: key, target: target)
      let changed = linkCounts[name]
      let count =
        if let changed { Int(clamping: changed) } else {
          try reader.listedCount(name, schema[id][column])
        }
      result += repeatElement(key, count: count)
    }
    return result
  }

  // MARK: - Taking links away

  /// Takes links to objects out of a column of another: a to-one link and a value of any type
  /// become null, elements of lists and sets go, values of maps become null.
  func removeLinks(
    from column: ColumnID, at owner: ObjectKey, in id: ClassID,
    where matches: (LinkTarget) -> Bool
  ) throws(StorageError) {
    let place = SequencePlace(classID: id, key: owner, column: column)
    guard schema[id][column].collection == .none else { return try sweep(place, matches) }
    guard let value = try value(of: column, at: owner, in: id) else { return }
    switch value {
    case .list(let nested), .map(let nested): try sweep(place.nested(nested), matches)
    default:
      guard let target = schema[id][column].linkTarget(of: value), matches(target) else { return }
      try set(column, at: owner, in: id, to: .null)
    }
  }

  /// Takes links out of a collection, and of the collections within its values.
  private func sweep(
    _ place: SequencePlace, _ matches: (LinkTarget) -> Bool
  ) throws(StorageError) {
    guard let sequence = try sequence(at: place) else { return }
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
    for id in within { try sweep(place.nested(id), matches) }
  }

  // MARK: - Objects that belong to others

  /// Runs changes that belong together. At the end of the outermost, embedded objects that
  /// nobody has any more are deleted.
  func changing<R>(
    _ body: () throws(StorageError) -> R
  ) throws(StorageError) -> R {
    changeDepth += 1
    defer { changeDepth -= 1 }
    let result = try body()
    if changeDepth == 1 {
      while let object = abandoned.popLast() {
        guard try place(of: object.key, in: object.classID) != nil, try !hasOrigin(object) else {
          continue
        }
        try delete(object.key, in: object.classID)
      }
    }
    return result
  }

  private func hasOrigin(_ object: LinkTarget) throws(StorageError) -> Bool {
    for link in schema.incoming(to: object.classID) {
      let origins = try keys(linkingTo: object, in: link.origin, through: link.column)
      if !origins.isEmpty { return true }
    }
    return false
  }

  /// Notes that an embedded object has lost its place, maybe to get another one.
  func abandon(_ value: Value, _ column: ColumnSchema) {
    guard let target = column.linkTarget(of: value), schema.isEmbedded(target.classID) else {
      return
    }
    abandoned.append(target)
  }

  /// Takes the embedded objects among the values away from the objects that have them, because
  /// others are about to.
  func detach(_ values: some Sequence<Value>, _ column: ColumnSchema) throws(StorageError) {
    guard let id = column.target, schema.isEmbedded(id) else { return }
    for value in values {
      guard let target = column.linkTarget(of: value) else { continue }
      for link in schema.incoming(to: id) {
        for origin in try keys(linkingTo: target, in: link.origin, through: link.column) {
          try removeLinks(from: link.column, at: origin, in: link.origin) { $0 == target }
        }
      }
    }
  }
}
