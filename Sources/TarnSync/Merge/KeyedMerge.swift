/// Merges two versions of a set with a common base: the insertions and removals of either side
/// apply.
package enum SetMerge {
  package static func merged<Value: Hashable>(
    base: Set<Value>, theirs: Set<Value>, mine: Set<Value>
  ) -> Set<Value> {
    theirs.union(mine.subtracting(base)).subtracting(base.subtracting(mine))
  }
}

/// Merges two versions of a map with a common base, key by key.
///
/// If both sides wrote a value under one key, the one with the later stamp wins. A value that one
/// side inserted and the other one removed stays, unless the removal is later.
package enum MapMerge {
  /// - Parameters:
  ///   - base: the map from which both sides began.
  ///   - theirs: the server's current map.
  ///   - mine: this replica's current map.
  ///   - removal: the stamp of this replica's removals.
  ///   - resolve: merges a value that both sides may have changed.
  package static func merged<Key: Hashable, Value>(
    base: [Key: Stamped<Value>], theirs: [Key: Stamped<Value>], mine: [Key: Stamped<Value>],
    removal: Stamp,
    resolve: Resolution<Value> = { _, theirs, mine in .later(theirs, mine) }
  ) -> [Key: Stamped<Value>] {
    var result = theirs
    for (key, own) in mine where own != base[key] {
      result[key] = theirs[key].map { resolve(base[key], $0, own) } ?? own
    }
    for (key, former) in base where mine[key] == nil {
      guard let present = theirs[key] else { continue }
      // Values that they have not changed are removed; changed ones are if the change was earlier.
      if present == former || present.stamp < removal { result[key] = nil }
    }
    return result
  }
}
