/// The elements of a source at a version.
package enum LiveElements {
  case rows(ResultRows)
  /// Objects of one class.
  case keys([ObjectKey])
  /// Nil for a collection whose object is deleted.
  case sequence(StoredSequence?)
  /// That many elements, identified by their positions.
  case positions(Int)
  /// Some of those elements; the closure maps a position to that among all.
  indirect case part(LiveElements, count: Int, (Int) -> Int)

  package var count: Int {
    switch self {
    case .rows(let rows): rows.count
    case .keys(let keys): keys.count
    case .sequence(let sequence): sequence?.count ?? 0
    case .positions(let count): count
    case .part(_, let count, _): count
    }
  }

  /// The element at a position, or for a map the value. Objects are links.
  package func value(at position: Int) throws(StorageError) -> Value {
    switch self {
    case .rows(let rows): return rows.value(at: position) ?? .link(rows.key(at: position))
    case .keys(let keys): return .link(keys[position])
    case .sequence(let sequence):
      guard let sequence else { trap("internal error: an element of a deleted collection") }
      return try sequence.value(at: position)
    case .positions: return .int(Int64(position))
    case .part(let all, _, let locate): return try all.value(at: locate(position))
    }
  }

  /// For maps: the key at a position.
  package func key(at position: Int) throws(StorageError) -> String {
    guard case .sequence(let sequence?) = self else {
      trap("internal error: a key of a collection that is not a map")
    }
    return try sequence.key(at: position)
  }

  /// For maps: the value under a key; nil if the key does not exist.
  package func value(for key: String) throws(StorageError) -> Value? {
    guard case .sequence(let sequence?) = self else { return nil }
    let found = try sequence.find(key: key)
    return found.isFound ? try sequence.value(at: found.index) : nil
  }
}

extension LiveModel where Content == ResultRows {
  package func elements(
    _ content: ResultRows, _ rows: StoreRows
  ) throws(StorageError) -> LiveElements {
    .rows(content)
  }
}
