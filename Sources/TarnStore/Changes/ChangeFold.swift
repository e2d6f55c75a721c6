/// Merges many consecutive change sets as they are read, one after the other.
///
/// Gives what `ChangeSet.merging` gives, without keeping all of them: every few thousand are
/// replayed into a recorder, as if they were one write, and its change set is merged with those of
/// about the same size before it. So the memory follows from the net changes, and a commit costs
/// the notes of its keys.
struct ChangeFold {
  let from: Version
  /// So many sets are replayed at once.
  private let size: Int
  private(set) var to: Version
  private var pending: [ChangeSet] = []
  private var pendingKeys = 0
  /// Merged ones, each with the number of replays in it; the older the larger.
  private var merged: [(replays: Int, changes: ChangeSet)] = []

  init(after from: Version, replayingAt size: Int = 4096) {
    self.from = from
    self.size = size
    to = from
  }

  /// The next change set.
  mutating func add(_ changes: ChangeSet) {
    require(changes.from == to, "change sets are merged in the order of their versions")
    to = changes.to
    if changes.isEmpty { return }
    pending.append(changes)
    pendingKeys = changes.classes.reduce(pendingKeys) { saturatingSum($0, $1.keyCount) }
    if pending.count >= size { replay() }
  }

  /// Leaves out the changes up to a version.
  mutating func skip(to version: Version) {
    require(version > to, "change sets are merged in the order of their versions")
    to = version
  }

  /// All of them as one.
  consuming func finish() -> ChangeSet {
    var rest = merged.map(\.changes)
    // A few are merged as quickly, and large ones are not taken apart.
    if pending.count > 64, pendingKeys < 16 * pending.count {
      rest.append(Self.replayed(pending))
    } else {
      rest += pending
    }
    return Self.joined(rest, from, to)
  }

  private mutating func replay() {
    let isSmall = pendingKeys < 64 * pending.count
    var next = isSmall ? Self.replayed(pending) : Self.joined(pending, from, to)
    pending.removeAll(keepingCapacity: true)
    pendingKeys = 0
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

  /// The sets as one write.
  private static func replayed(_ sets: [ChangeSet]) -> ChangeSet {
    let recorder = ChangeRecorder()
    var scripts: [ClassID: ScriptFold] = [:]
    for set in sets {
      if set.schemaChanged { recorder.changeSchema() }
      for changes in set.classes {
        replay(changes, into: recorder)
        if scripts[changes.id] != nil || !changes.sequences.isEmpty {
          scripts[changes.id, default: ScriptFold()].add(changes)
        }
      }
    }
    var result = recorder.changeSet(from: sets[0].from, to: sets[sets.count - 1].to)
    // Not through the recorder, which limits scripts: they are limited once, when they are written.
    for index in result.classes.indices {
      if let fold = scripts[result.classes[index].id] {
        result.classes[index].sequences = fold.changes(of: result.classes[index])
      }
    }
    return result
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
    // What belonged to a former object with the same key does not fit the next one.
    if !scripts.isEmpty {
      for key in changes.deleted { scripts[key] = nil }
      for key in changes.inserted { scripts[key] = nil }
    }
    for change in changes.sequences {
      let name = change.name
      let former = scripts[name.key]?[name]
      let script = former.map { $0.composing(change.script) } ?? change.script
      scripts[name.key, default: [:]][name] = script
    }
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
