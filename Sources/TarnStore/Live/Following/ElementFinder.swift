/// Finds the positions of objects in an observed sequence of links, or of mixed values.
///
/// The first search after elements moved or were set is a scan; the second one builds an index of
/// 16 bytes per object, which is used until that happens again.
struct ElementFinder: Sendable {
  private struct Entry: Sendable {
    var key: ObjectKey
    var position: Int
  }
  private typealias Entries = ContiguousArray<Entry>

  /// The class of the linked objects; nil for mixed values, which each name their own.
  private let target: ClassID?
  /// The objects of each class, ordered by key, then position.
  private var index: [ClassID: Entries]?
  private var wasAsked = false

  init(target: ClassID?) { self.target = target }

  /// Drops the index, because elements have moved.
  mutating func forget() {
    index = nil
    wasAsked = false
  }

  /// The positions of those objects.
  mutating func positions(
    of sought: [ClassID: KeySet], in sequence: StoredSequence
  ) throws(StorageError) -> KeySet {
    let number = sought.values.reduce(0) { $0 + $1.count }
    if number == 0 || sequence.count == 0 { return KeySet() }
    var found: [ObjectKey] = []
    if !wasAsked || number > sequence.count / 16 {
      wasAsked = true
      try forEachObject(in: sequence) { id, key, position in
        if sought[id]?.contains(key) == true { found.append(ObjectKey(Int64(position))) }
      }
      return KeySet(found)
    }
    if index == nil { index = try makeIndex(sequence) }
    for (id, keys) in sought {
      guard let entries = index![id] else { continue }
      for key in keys {
        var next = entries.partitioningIndex { $0.key >= key }
        while next < entries.count, entries[next].key == key {
          found.append(ObjectKey(Int64(entries[next].position)))
          next += 1
        }
      }
    }
    return KeySet(found.sorted())
  }

  private func makeIndex(
    _ sequence: StoredSequence
  ) throws(StorageError) -> [ClassID: Entries] {
    var index: [ClassID: Entries] = [:]
    try forEachObject(in: sequence) { id, key, position in
      index[id, default: []].append(Entry(key: key, position: position))
    }
    for id in index.keys {
      index[id]!.sort { ($0.key, $0.position) < ($1.key, $1.position) }
    }
    return index
  }

  private func forEachObject(
    in sequence: StoredSequence, _ body: (ClassID, ObjectKey, Int) -> Void
  ) throws(StorageError) {
    var position = 0
    try sequence.forEach(in: 0..<sequence.count) { value throws(StorageError) in
      switch value {
      case .link(let key): if let target { body(target, key, position) }
      case .object(let id, let key): body(id, key, position)
      default: break
      }
      position += 1
      return true
    }
  }

  /// The objects in a sequence.
  func objects(in sequence: StoredSequence) throws(StorageError) -> [ClassID: KeySet] {
    var found: [ClassID: [ObjectKey]] = [:]
    try forEachObject(in: sequence) { id, key, _ in found[id, default: []].append(key) }
    return found.mapValues { KeySet($0) }
  }
}
