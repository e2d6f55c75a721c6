/// Merges many consecutive change sets as they are read, one after the other.
///
/// The result is that of `ChangeSet.merging`, without keeping all sets: thousands of them are
/// replayed into a recorder, as if they were one write, and its change set is merged with those of
/// about the same size before it. So the memory follows from the net changes, and a commit costs
/// the notes of its keys. Small records are replayed as they arrive.
///
/// Not thread safe; a copy shares the recorder with the original.
struct ChangeFold {
  let from: Version
  /// So many sets are replayed at once.
  private let size: Int
  private(set) var to: Version
  private var pending: [ChangeSet] = []
  private var pendingKeys = 0
  /// The notes of those that are replayed and not yet merged, and their number.
  private lazy var recorder = ChangeRecorder()
  private var noted = 0
  private var scripts: [ClassID: ScriptFold] = [:]
  private var keys = SmallRecord.Keys()
  /// Merged ones, each with the number of replays in it; the older the larger.
  private var merged: [(replays: Int, changes: ChangeSet)] = []

  init(after from: Version, replayingAt size: Int = 16_384) {
    self.from = from
    self.size = size
    to = from
  }

  /// The next change set.
  mutating func add(_ changes: ChangeSet) {
    require(changes.from == to, "change sets are merged in the order of their versions")
    to = changes.to
    if changes.isEmpty { return }
    let keyCount = changes.classes.reduce(0) { saturatingSum($0, $1.keyCount) }
    if noted > 0 {
      if keyCount < Self.manyKeys {
        note(changes)
        if noted >= size { settle() }
        return
      }
      settle()
    }
    pending.append(changes)
    pendingKeys = saturatingSum(pendingKeys, keyCount)
    if pending.count >= min(size, Self.pendingMax) { replay() }
  }

  /// The next change set, as a record.
  ///
  /// - Returns: the objects that it deleted.
  @discardableResult mutating func add(_ record: SmallRecord) throws(StorageError) -> KeySet {
    require(record.version == to.next, "change sets are merged in the order of their versions")
    if !pending.isEmpty { replay() }
    to = record.version
    try record.replay(into: recorder, &keys)
    scripts[record.classID]?.forget(keys.deleted, keys.inserted)
    noted += 1
    if noted >= size { settle() }
    return keys.deleted
  }

  /// Whether there are so many records in a range that small ones are worth a recorder.
  static func prefersSmallRecords(_ from: Version, _ to: Version) -> Bool {
    to.rawValue - from.rawValue > fewSets
  }

  /// So few are merged as quickly as they are replayed.
  private static let fewSets = 64
  /// So many are kept as sets, which take more memory than notes.
  private static let pendingMax = 4096
  /// A set of so many keys is not taken apart.
  private static let manyKeys = 64

  /// Leaves out the changes up to a version.
  mutating func skip(to version: Version) {
    require(version > to, "change sets are merged in the order of their versions")
    to = version
  }

  /// All of them as one.
  mutating func finish() -> ChangeSet {
    if pending.count > Self.fewSets, pendingKeys < 16 * pending.count { replay() }
    settle()
    return Self.joined(merged.map(\.changes) + pending, from, to)
  }

  /// Merges the pending sets.
  private mutating func replay() {
    if pendingKeys < Self.manyKeys * pending.count {
      for changes in pending { note(changes) }
      settle()
    } else {
      push(Self.joined(pending, from, to))
    }
    pending.removeAll(keepingCapacity: true)
    pendingKeys = 0
  }

  /// Merges the notes.
  private mutating func settle() {
    guard noted > 0 else { return }
    var next = recorder.changeSet(from: from, to: to)
    // Not through the recorder, which limits scripts: they are limited once, when they are written.
    for index in next.classes.indices {
      if let fold = scripts[next.classes[index].id] {
        next.classes[index].sequences = fold.changes(of: next.classes[index])
      }
    }
    recorder.reset()
    scripts = [:]
    noted = 0
    push(next)
  }

  private mutating func push(_ changes: ChangeSet) {
    var next = changes
    var replays = 1
    while let last = merged.last, last.replays <= replays {
      next = Self.joined([last.changes, next], from, to)
      replays += last.replays
      merged.removeLast()
    }
    merged.append((replays, next))
  }

  /// Merges sets between which others may be left out.
  private static func joined(
    _ sets: [ChangeSet], _ from: Version, _ to: Version
  ) -> ChangeSet {
    var number: UInt64 = 0
    let numbered = sets.map { set in
      var set = set
      set.from = Version(number)
      number += 1
      set.to = Version(number)
      return set
    }
    var result = ChangeSet.merging(numbered) ?? ChangeSet(from: from, to: to)
    result.from = from
    result.to = to
    return result
  }

  /// Notes a set as a part of one write.
  private mutating func note(_ set: ChangeSet) {
    if set.schemaChanged { recorder.changeSchema() }
    for changes in set.classes {
      Self.replay(changes, into: recorder)
      if scripts[changes.id] != nil || !changes.sequences.isEmpty {
        scripts[changes.id, default: ScriptFold()].add(changes)
      }
    }
    noted += 1
  }

  private static func replay(_ changes: ClassChanges, into recorder: ChangeRecorder) {
    let id = changes.id
    if changes.isCleared { recorder.clear(id) }
    // A key that is deleted and inserted is one of a replaced object.
    for key in changes.deleted { recorder.delete(id, key) }
    for key in changes.inserted { recorder.insert(id, key) }
    for touched in changes.touched {
      for key in touched.keys { recorder.touch(id, key, touched.column) }
    }
    for touched in changes.backTouched {
      for key in touched.keys {
        recorder.backTouch(id, key, origin: touched.origin, column: touched.column)
      }
    }
  }
}

/// The composed scripts of a class's sequences.
private struct ScriptFold {
  private var scripts: [ObjectKey: [SequenceName: EditScript]] = [:]

  mutating func add(_ changes: ClassChanges) {
    if changes.isCleared { scripts = [:] }
    forget(changes.deleted, changes.inserted)
    for change in changes.sequences {
      let name = change.name
      let former = scripts[name.key]?[name]
      let script = former.map { $0.composing(change.script) } ?? change.script
      scripts[name.key, default: [:]][name] = script
    }
  }

  /// A script of a former object with the same key does not fit the next one.
  mutating func forget(_ deleted: KeySet, _ inserted: KeySet) {
    if scripts.isEmpty { return }
    for key in deleted { scripts[key] = nil }
    for key in inserted { scripts[key] = nil }
  }

  /// In order; of objects that are neither inserted nor deleted.
  func changes(of net: ClassChanges) -> [SequenceChange] {
    let found = scripts.flatMap { key, scripts in
      net.inserted.contains(key) || net.deleted.contains(key)
        ? [] : scripts.filter { !$1.isIdentity }.map { SequenceChange(name: $0, script: $1) }
    }
    return found.sorted { $0.name < $1.name }
  }
}
