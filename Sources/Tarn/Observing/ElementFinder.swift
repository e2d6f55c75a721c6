import TarnStore

/// Finds where objects are in an observed sequence of links.
///
/// The first question after elements moved is answered by a scan; the second one makes an index of
/// 16 bytes an element, which serves until they move again.
struct ElementFinder {
  private struct Place {
    var key: ObjectKey
    var position: Int
  }
  /// Ordered by key, then position.
  private var index: ContiguousArray<Place>?
  private var wasAsked = false

  /// The elements have moved.
  mutating func forget() {
    index = nil
    wasAsked = false
  }

  /// The positions of those objects.
  mutating func positions(
    of keys: KeySet, in sequence: StoredSequence
  ) throws(StorageError) -> KeySet {
    if keys.isEmpty || sequence.count == 0 { return KeySet() }
    if !wasAsked || keys.count > sequence.count / 16 {
      wasAsked = true
      return try scan(sequence, for: keys)
    }
    if index == nil { index = try Self.makeIndex(sequence) }
    var found: [ObjectKey] = []
    for key in keys {
      var place = index!.partitioningIndex { $0.key >= key }
      while place < index!.count, index![place].key == key {
        found.append(ObjectKey(Int64(index![place].position)))
        place += 1
      }
    }
    return KeySet(found.sorted())
  }

  private func scan(
    _ sequence: StoredSequence, for keys: KeySet
  ) throws(StorageError) -> KeySet {
    var found: [ObjectKey] = []
    var position: Int64 = 0
    try sequence.forEach(in: 0..<sequence.count) { value throws(StorageError) in
      if case .link(let key) = value, keys.contains(key) { found.append(ObjectKey(position)) }
      position += 1
      return true
    }
    return KeySet(found)
  }

  private static func makeIndex(
    _ sequence: StoredSequence
  ) throws(StorageError) -> ContiguousArray<Place> {
    var index: ContiguousArray<Place> = []
    index.reserveCapacity(sequence.count)
    var position = 0
    try sequence.forEach(in: 0..<sequence.count) { value throws(StorageError) in
      if case .link(let key) = value { index.append(Place(key: key, position: position)) }
      position += 1
      return true
    }
    index.sort { ($0.key, $0.position) < ($1.key, $1.position) }
    return index
  }

  /// The objects that a sequence links to.
  static func keys(in sequence: StoredSequence) throws(StorageError) -> KeySet {
    var keys: [ObjectKey] = []
    try sequence.forEach(in: 0..<sequence.count) { value throws(StorageError) in
      if case .link(let key) = value { keys.append(key) }
      return true
    }
    keys.sort()
    return KeySet(keys)
  }
}
