extension ChangeSet {
  /// This change set followed by the next one. Associative; linear in both.
  ///
  /// - Precondition: `later` begins where this one ends.
  package func merging(_ later: ChangeSet) -> ChangeSet {
    require(later.from == to, "change sets are merged in the order of their versions")
    var result = ChangeSet(
      from: from, to: later.to, schemaChanged: schemaChanged || later.schemaChanged)
    if later.classes.isEmpty {
      result.classes = classes
      return result
    }
    if classes.isEmpty {
      result.classes = later.classes
      return result
    }
    result.classes.reserveCapacity(max(classes.count, later.classes.count))
    var mine = 0
    var theirs = 0
    while mine < classes.count || theirs < later.classes.count {
      if theirs == later.classes.count
        || (mine < classes.count && classes[mine].id < later.classes[theirs].id)
      {
        result.classes.append(classes[mine])
        mine += 1
      } else if mine == classes.count || later.classes[theirs].id < classes[mine].id {
        result.classes.append(later.classes[theirs])
        theirs += 1
      } else {
        let merged = classes[mine].merging(later.classes[theirs])
        if !merged.isEmpty { result.classes.append(merged) }
        mine += 1
        theirs += 1
      }
    }
    return result
  }

  /// Merges many consecutive change sets, adjacent ones first, so that a thousand small ones do not
  /// copy a growing set a thousand times. Nil for none.
  package static func merging(_ sets: some Sequence<ChangeSet>) -> ChangeSet? {
    var level = Array(sets)
    while level.count > 1 {
      var next: [ChangeSet] = []
      next.reserveCapacity((level.count + 1) / 2)
      for index in stride(from: 0, to: level.count, by: 2) {
        next.append(
          index + 1 < level.count ? level[index].merging(level[index + 1]) : level[index])
      }
      level = next
    }
    return level.first
  }
}

extension ClassChanges {
  /// These changes followed by later ones of the same class. The result may be empty: an object
  /// that is inserted here and deleted there leaves nothing.
  package func merging(_ later: ClassChanges) -> ClassChanges {
    assert(id == later.id)
    var result = ClassChanges(id: id)
    if later.isCleared {
      // All former objects are deleted, including those inserted by these changes.
      result = later
      return result
    }
    result.isCleared = isCleared
    result.inserted = inserted.subtracting(later.deleted).union(later.inserted)
    if !isCleared { result.deleted = deleted.union(later.deleted.subtracting(inserted)) }
    result.touched = touched.merging(later.touched)
    result.backTouched = backTouched.merging(later.backTouched)
    result.sequences = sequences.merging(later.sequences)
    if isCleared || !(inserted.isEmpty && later.deleted.isEmpty && later.inserted.isEmpty) {
      // Earlier touches of deleted keys, and later touches of inserted keys.
      result.removeTouches(of: result.inserted)
      result.removeTouches(of: result.deleted)
    }
    return result
  }

  /// Drops other changes of inserted and deleted objects.
  mutating func removeTouches(of keys: KeySet) {
    if keys.isEmpty { return }
    for index in touched.indices where touched[index].keys.intersects(keys) {
      touched[index].keys = touched[index].keys.subtracting(keys)
    }
    for index in backTouched.indices where backTouched[index].keys.intersects(keys) {
      backTouched[index].keys = backTouched[index].keys.subtracting(keys)
    }
    touched.removeAll { $0.keys.isEmpty }
    backTouched.removeAll { $0.keys.isEmpty }
    if !sequences.isEmpty { sequences.removeAll { keys.contains($0.name.key) } }
  }
}

/// The keys that were touched through one source, which distinguishes them from others of the
/// class.
private protocol TouchedKeys {
  associatedtype Source: Comparable
  var source: Source { get }
  var keys: KeySet { get set }
}

extension ClassChanges.Touched: TouchedKeys {
  fileprivate var source: UInt16 { column.rawValue }
}

extension ClassChanges.BackTouched: TouchedKeys {
  fileprivate var source: UInt64 { UInt64(origin.rawValue) << 16 | UInt64(column.rawValue) }
}

extension Array where Element: TouchedKeys {
  /// Both, in the order of their sources; the keys of equal sources are merged.
  fileprivate func merging(_ later: [Element]) -> [Element] {
    if later.isEmpty { return self }
    if isEmpty { return later }
    var result: [Element] = []
    result.reserveCapacity(count + later.count)
    var theirs = 0
    for entry in self {
      while theirs < later.count, later[theirs].source < entry.source {
        result.append(later[theirs])
        theirs += 1
      }
      var merged = entry
      if theirs < later.count, later[theirs].source == entry.source {
        merged.keys.formUnion(later[theirs].keys)
        theirs += 1
      }
      result.append(merged)
    }
    result.append(contentsOf: later[theirs...])
    return result
  }
}
