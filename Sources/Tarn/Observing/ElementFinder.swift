import TarnStore

/// Finds where objects are in an observed sequence of links.
///
/// The first question after elements moved or were set is answered by a scan; the second one makes
/// an index of 16 bytes an element, which serves until that happens again.
struct ElementFinder {
  private struct Place {
    var key: ObjectKey
    var position: Int
  }
  /// Ordered by key, then position.
  private var index: ContiguousArray<Place>?
  private var wasAsked = false
  /// Of values of any type: the classes of the objects among them.
  private var classes: Set<ClassID>?

  /// The elements have moved.
  mutating func forget() {
    index = nil
    wasAsked = false
    classes = nil
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

  /// The positions of values of any type that are objects with a touched property.
  mutating func positions(
    ofTouched changes: ChangeSet, in sequence: StoredSequence
  ) throws(StorageError) -> KeySet {
    let known: Set<ClassID>
    if let classes { known = classes } else { known = try Self.classes(in: sequence) }
    classes = known
    var touched: [ClassID: KeySet] = [:]
    for change in changes.classes where known.contains(change.id) {
      touched[change.id] = change.touchedKeys(in: .all)
    }
    if touched.allSatisfy({ $0.value.isEmpty }) { return KeySet() }
    var found: [ObjectKey] = []
    var position: Int64 = 0
    try sequence.forEach(in: 0..<sequence.count) { value throws(StorageError) in
      if case .object(let id, let key) = value, touched[id]?.contains(key) == true {
        found.append(ObjectKey(position))
      }
      position += 1
      return true
    }
    return KeySet(found)
  }

  private static func classes(
    in sequence: StoredSequence
  ) throws(StorageError) -> Set<ClassID> {
    var classes: Set<ClassID> = []
    try sequence.forEach(in: 0..<sequence.count) { value throws(StorageError) in
      if case .object(let id, _) = value { classes.insert(id) }
      return true
    }
    return classes
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
