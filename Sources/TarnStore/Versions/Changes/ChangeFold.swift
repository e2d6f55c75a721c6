/// Merges many consecutive change sets while they are read, one after another.
///
/// The result is that of `ChangeSet.merging`, without keeping all sets: thousands of them are
/// replayed into a recorder, as if they were one write, and its change set is merged with an
/// earlier one of about the same size. So memory depends on the net changes, and a commit costs the
/// notes of its keys. Small records are replayed immediately.
///
/// Not thread safe; a copy shares the recorder with the original.
struct ChangeFold {
  let from: Version
  /// The number of sets to replay at once.
  private let size: Int
  private(set) var to: Version
  private var pending: [ChangeSet] = []
  private var pendingKeys = 0
  /// The notes of sets that were replayed and not yet merged, and their number.
  private lazy var recorder = ChangeRecorder()
  private var noted = 0
  private var scripts: [ClassID: ScriptFold] = [:]
  private var keys = SmallRecord.Keys()
  /// Merged sets, each with the number of replays in it; older ones are larger.
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

  /// Whether a range has enough records to replay small ones into a recorder.
  static func prefersSmallRecords(_ from: Version, _ to: Version) -> Bool {
    to.rawValue - from.rawValue > fewSets
  }

  /// Up to this number, merging is as fast as replaying.
  private static let fewSets = 64
  /// The maximum number of pending sets, which need more memory than notes.
  private static let pendingMax = 4096
  /// A set with more keys is not split into notes.
  private static let manyKeys = 64

  /// Drops the changes up to a version.
  mutating func skip(to version: Version) {
    require(version > to, "change sets are merged in the order of their versions")
    to = version
  }

  /// All changes, merged.
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

  /// Merges sets; sets between them may be missing.
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
    // A key that is deleted and inserted belongs to a replaced object.
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
