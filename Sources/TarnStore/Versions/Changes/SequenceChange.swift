/// Identifies a sequence within a class: the list, set or map of an object's column, or one nested
/// in it.
package struct SequenceName: Hashable, Comparable, Sendable {
  package var column: ColumnID
  package var key: ObjectKey
  /// Nil for the property's own collection.
  package var nested: CollectionID?

  package init(column: ColumnID, key: ObjectKey, nested: CollectionID? = nil) {
    self.column = column
    self.key = key
    self.nested = nested
  }

  package static func < (a: Self, b: Self) -> Bool {
    if (a.column, a.key) != (b.column, b.key) { return (a.column, a.key) < (b.column, b.key) }
    guard let other = b.nested else { return false }
    return a.nested.map { $0 < other } ?? true
  }
}

/// The change of one sequence.
package struct SequenceChange: Equatable, Sendable {
  package var name: SequenceName
  package var script: EditScript

  package init(name: SequenceName, script: EditScript) {
    self.name = name
    self.script = script
  }
}

extension [SequenceChange] {
  /// These changes followed by later ones, both in the order of the names. Unchanged sequences are
  /// omitted.
  func merging(_ later: [SequenceChange]) -> [SequenceChange] {
    if later.isEmpty { return self }
    if isEmpty { return later }
    var result: [SequenceChange] = []
    result.reserveCapacity(count + later.count)
    var theirs = 0
    for change in self {
      while theirs < later.count && later[theirs].name < change.name {
        result.append(later[theirs])
        theirs += 1
      }
      guard theirs < later.count && later[theirs].name == change.name else {
        result.append(change)
        continue
      }
      let script = change.script.composing(later[theirs].script)
      theirs += 1
      if !script.isIdentity { result.append(SequenceChange(name: change.name, script: script)) }
    }
    result.append(contentsOf: later[theirs...])
    return result
  }
}
