/// Merges two versions of a set that began as the same one: what either side put in or took out is
/// in or out.
package enum SetMerge {
  package static func merged<Value: Hashable>(
    base: Set<Value>, theirs: Set<Value>, mine: Set<Value>
  ) -> Set<Value> {
    theirs.union(mine.subtracting(base)).subtracting(base.subtracting(mine))
  }
}

/// Merges two versions of a map that began as the same one, key by key.
///
/// If both sides wrote a value under one key, the one with the later stamp stays. A value that one
/// side put in and the other one removed stays, unless the removal is later.
package enum MapMerge {
  /// - Parameters:
  ///   - base: the map from which both sides began.
  ///   - theirs: the map as the server has it now.
  ///   - mine: the map as this replica has it now.
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
      // What they have not changed goes; what they have changed goes if that was earlier.
      if present == former || present.stamp < removal { result[key] = nil }
    }
    return result
  }
}
