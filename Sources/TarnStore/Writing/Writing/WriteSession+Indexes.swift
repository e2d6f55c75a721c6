/// The entries of objects in the indexes of their class, including backlinks.
extension WriteSession {
  /// Adds a property's new value to the index of its column, and records the link for its target.
  package func insertIndexEntry(
    _ value: Value, of column: ColumnID, at key: ObjectKey, in id: ClassID
  ) throws(StorageError) {
    let described = schema[id][column]
    if described.type == .any { try countLink(value, by: 1, from: column, at: key, in: id) }
    guard described.filesItself(value) else { return }
    try addEntry(value, column, key, id)
    noteTarget(of: value, id, column)
  }

  /// Removes a property's former value from the index of its column, and records the removed link
  /// for its target.
  func removeIndexEntry(
    _ value: Value, of column: ColumnID, at key: ObjectKey, in id: ClassID
  ) throws(StorageError) {
    let described = schema[id][column]
    if described.type == .any { try countLink(value, by: -1, from: column, at: key, in: id) }
    guard described.filesItself(value) else { return }
    try removeEntry(value, column, key, id)
    noteTarget(of: value, id, column)
  }

  /// An index over links has no entries for nil: it is used to find the origins of a target.
  func addEntry(
    _ value: Value, _ column: ColumnID, _ key: ObjectKey, _ id: ClassID
  ) throws(StorageError) {
    if value == .null, schema[id][column].type == .link { return }
    try delta(id, column).add(orderKey(value, id, column), key)
  }

  func removeEntry(
    _ value: Value, _ column: ColumnID, _ key: ObjectKey, _ id: ClassID
  ) throws(StorageError) {
    if value == .null, schema[id][column].type == .link { return }
    try delta(id, column).remove(orderKey(value, id, column), key)
  }

  func orderKey(_ value: Value, _ id: ClassID, _ column: ColumnID) -> OrderKey {
    guard let key = OrderKey(value, type: schema[id][column].type) else {
      trap("internal error: a value of another type than its column's")
    }
    return key
  }

  /// Records for the object that a value links to that a link was added or removed.
  func noteTarget(of value: Value, _ origin: ClassID, _ column: ColumnID) {
    guard let target = schema[origin][column].linkTarget(of: value) else { return }
    recorder.backTouch(target.classID, target.key, origin: origin, column: column)
  }

  private func delta(_ id: ClassID, _ column: ColumnID) throws(StorageError) -> IndexDelta {
    let edit = try classEdit(id)
    if let delta = edit.index(column) { return delta }
    let described = edit.schema[column]
    let isAsked =
      described.type == .link || described.type == .any || column == edit.schema.primaryKey
    let delta = IndexDelta(isAsked: isAsked)
    edit.setIndex(column, delta)
    return delta
  }
}

extension ColumnSchema {
  /// False for a value whose entries come from its links: an object in a mixed column, which may
  /// also be in a collection there. And for a collection, which has no entry.
  fileprivate func filesItself(_ value: Value) -> Bool {
    switch value {
    case .object, .list, .map: false
    default: type != .any || filesAll
    }
  }
}
