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
      guard try isInFile(owner, id) else { return 0 }
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

  /// The objects whose column links to that one, in the order of their keys, each as often as it
  /// does.
  package func origins(
    of target: LinkTarget, in id: ClassID, through column: ColumnID
  ) throws(StorageError) -> [ObjectKey] {
    let described = schema[id][column]
    let value: Value =
      described.type == .any ? .object(target.classID, target.key) : .link(target.key)
    let keys = try keys(in: id, where: column, is: value)
    guard described.mayRepeatLinks else { return keys }
    var result: [ObjectKey] = []
    for key in keys {
      let name = LinkName(classID: id, column: column, owner: key, target: target)
      let changed = linkCounts[name]
      let count = if let changed { changed } else { try reader.storedCount(name) }
      result += repeatElement(key, count: Int(clamping: count))
    }
    return result
  }

  // MARK: - Objects that belong to others

  /// Takes an embedded object away from the one that has it, because another is about to.
  ///
  /// - Parameter here: the place that it is about to be put into, and may be in already.
  func detach(
    _ target: LinkTarget, unless here: (classID: ClassID, column: ColumnID, key: ObjectKey)
  ) throws(StorageError) {
    for link in schema.incoming(to: target.classID) {
      for origin in try origins(of: target, in: link.origin, through: link.column) {
        if (link.origin, link.column, origin) == here { continue }
        try removeLinks(to: target, from: link.column, at: origin, in: link.origin)
      }
    }
  }

  /// Takes all links to an object out of a column of another: a to-one link becomes null.
  func removeLinks(
    to target: LinkTarget, from column: ColumnID, at owner: ObjectKey, in id: ClassID
  ) throws(StorageError) {
    guard let (cluster, slot) = try edit(owner, in: id) else { return }
    let described = schema[id][column]
    let value: Value =
      described.type == .any ? .object(target.classID, target.key) : .link(target.key)
    cluster.set(column, slot, .null)
    recorder.touch(id, owner, column)
    try unfile(value, of: column, at: owner, in: id)
  }
}

extension ClassSchema {
  /// The embedded object that a value in that column links to, nil if it is none.
  func embeddedTarget(_ column: ColumnID, of value: Value, in schema: SchemaView) -> LinkTarget? {
    guard let target = self[column].linkTarget(of: value), schema.isEmbedded(target.classID)
    else { return nil }
    return target
  }
}
