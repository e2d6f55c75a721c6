import Foundation
import TarnStore

extension IndexChanges {
  /// The same, together with modifications by others.
  fileprivate func modifying(_ others: IndexChanges) -> IndexChanges {
    if others.modifications.isEmpty || others == self { return self }
    var changes = self
    let known = Set(deletions + modifications)
    changes.modifications += others.modifications.filter { !known.contains($0) }
    changes.modifications.sort()
    return changes
  }

  /// A part of the new rows.
  enum Stretch {
    /// Rows that stayed and did not change.
    case same(old: Int, new: Int, count: Int)
    /// A row that stayed and changed.
    case modified(old: Int, new: Int)
    case inserted(new: Int)
  }

  /// Iterates the rows after the changes.
  ///
  /// - Parameter oldCount: the number of rows before.
  func forEachStretch(oldCount: Int, _ body: (Stretch) -> Void) {
    var (old, new) = (0, 0)
    var (deletion, insertion, modification) = (0, 0, 0)
    while true {
      while deletion < deletions.count, deletions[deletion] == old {
        deletion += 1
        old += 1
      }
      if insertion < insertions.count, insertions[insertion] == new {
        body(.inserted(new: new))
        insertion += 1
        new += 1
        continue
      }
      if old >= oldCount { return }
      if modification < modifications.count, modifications[modification] == old {
        body(.modified(old: old, new: new))
        modification += 1
        old += 1
        new += 1
        continue
      }
      var count = oldCount - old
      if deletion < deletions.count { count = min(count, deletions[deletion] - old) }
      if insertion < insertions.count { count = min(count, insertions[insertion] - new) }
      if modification < modifications.count {
        count = min(count, modifications[modification] - old)
      }
      body(.same(old: old, new: new, count: count))
      old += count
      new += count
    }
  }
}

extension SectionTable {
  /// The table of all rows.
  init(rowCount: Int, key: (Int) -> Key) {
    var builder = Builder()
    for position in 0..<rowCount { builder.append(key(position)) }
    self = builder.finish()
  }

  /// The table of the rows after they have changed.
  ///
  /// - Parameter key: the key of an added or changed row, by its new position.
  func applying(_ changes: IndexChanges, key: (Int) -> Key) -> SectionTable {
    if changes.isEmpty { return self }
    let modified = changes.modificationsNew.map(key)
    if changes.deletions.isEmpty, changes.insertions.isEmpty,
      zip(changes.modifications, modified).allSatisfy({ hasKey($1, at: $0) })
    {
      return self
    }
    var next = 0
    var builder = Builder(from: self)
    changes.forEachStretch(oldCount: rowCount) { stretch in
      switch stretch {
      case .same(let old, _, let count): builder.append(old: old..<old + count)
      case .inserted(let new): builder.append(key(new))
      case .modified:
        builder.append(modified[next])
        next += 1
      }
    }
    return builder.finish()
  }

  private func hasKey(_ key: Key, at position: Int) -> Bool {
    keys.list[runs[run(at: position)].section] == SectionKey(key)
  }

  /// True if all rows are in the same sections, at the same positions.
  fileprivate func isSame(as other: SectionTable) -> Bool {
    keys === other.keys && rowCount == other.rowCount && runs == other.runs
  }
}

/// The changes of sections.
///
/// Removing `deletions` from the old sections, then the sections `sectionsToDelete`, inserting
/// empty ones at `sectionsToInsert` and then rows at `insertions`, ascending, gives the new ones.
struct SectionChanges {
  /// Old positions, ascending; none in a deleted section.
  var deletions: [SectionPath] = []
  /// New positions, ascending, including all rows of inserted sections.
  var insertions: [SectionPath] = []
  /// Old positions, ascending, of rows that stayed in their section and changed.
  var modifications: [SectionPath] = []
  /// The same rows' new positions, in the same order.
  var modificationsNew: [SectionPath] = []
  /// Rows that stayed and moved, by their old positions. The new ones are all among the insertions,
  /// the old ones among the deletions or in deleted sections.
  var moves: [Move] = []
  var sectionsToInsert = IndexSet()
  var sectionsToDelete = IndexSet()
  /// Sections that stayed and moved, by their old numbers: each is deleted and inserted.
  var sectionMoves: [IndexChanges.Move] = []

  struct Move {
    var from: SectionPath
    var to: SectionPath
  }

  var isEmpty: Bool {
    deletions.isEmpty && insertions.isEmpty && modifications.isEmpty && sectionsToInsert.isEmpty
      && sectionsToDelete.isEmpty
  }

  /// Nil without changes, which are not reported to observers.
  var ifAny: SectionChanges? { isEmpty ? nil : self }

  /// The difference of two tables.
  ///
  /// - Parameters:
  ///   - all: the changes between the rows of both.
  ///   - seen: the same for the observer, who does not receive every modification.
  ///   - kept: the key of a section that does not count as moved, wherever it is.
  init<Key>(
    from old: SectionTable<Key>, to new: SectionTable<Key>, _ all: IndexChanges,
    seen: IndexChanges, keeping kept: Key? = nil
  ) {
    let isSeen = seen == all ? nil : Set(seen.modifications + seen.deletions)
    let rows = all.modifying(seen)
    if rows.deletions.isEmpty, rows.insertions.isEmpty, old.isSame(as: new) {
      modifications = rows.modifications.filter { isSeen?.contains($0) != false }.map(old.path)
      modifications.sort()
      modificationsNew = modifications
      return
    }
    let sections = SectionMoves(from: old.keys, to: new.keys, keeping: kept)
    sectionsToDelete = IndexSet(sections.deletions)
    sectionsToInsert = IndexSet(sections.insertions)
    sectionMoves = sections.moves
    for position in rows.deletions { delete(old.path(of: position), sections) }
    moves = rows.moves.map { Move(from: old.path(of: $0.from), to: new.path(of: $0.to)) }
    rows.forEachStretch(oldCount: old.rowCount) { stretch in
      switch stretch {
      case .inserted(let position): insert(new.path(of: position), sections)
      case .modified(let before, let now):
        let (from, to) = (old.path(of: before), new.path(of: now))
        if !sections.stays(from.section, as: to.section) {
          move(from, to, sections)
        } else if isSeen?.contains(before) != false {
          modifications.append(from)
          modificationsNew.append(to)
        }
      case .same(let before, let now, let count):
        addStrays(before, now, count, old, new, sections)
      }
    }
    for section in sections.insertions {
      for item in 0..<new.count(of: section) {
        insertions.append(SectionPath(section: section, item: item))
      }
    }
    deletions.sort()
    insertions.sort()
    modifications.sort()
    modificationsNew.sort()
    moves.sort { $0.from < $1.from }
  }

  /// Untouched rows stay in their section, unless one of the tables was made from something that is
  /// in no version: then they count as moved, like those of a moved section.
  private mutating func addStrays<Key>(
    _ before: Int, _ now: Int, _ count: Int, _ old: SectionTable<Key>, _ new: SectionTable<Key>,
    _ sections: SectionMoves
  ) {
    var (oldRun, newRun) = (old.run(at: before), new.run(at: now))
    var offset = 0
    while offset < count {
      let end = min(
        count, old.end(ofRun: oldRun) - before, new.end(ofRun: newRun) - now)
      if !sections.stays(old.runs[oldRun].section, as: new.runs[newRun].section) {
        for index in offset..<end {
          move(old.path(of: before + index), new.path(of: now + index), sections)
        }
      }
      offset = end
      if old.end(ofRun: oldRun) - before <= offset { oldRun += 1 }
      if new.end(ofRun: newRun) - now <= offset { newRun += 1 }
    }
  }

  private mutating func delete(_ path: SectionPath, _ sections: SectionMoves) {
    if !sections.isDeleted(path.section) { deletions.append(path) }
  }

  private mutating func insert(_ path: SectionPath, _ sections: SectionMoves) {
    if !sections.isInserted(path.section) { insertions.append(path) }
  }

  private mutating func move(_ from: SectionPath, _ to: SectionPath, _ sections: SectionMoves) {
    delete(from, sections)
    insert(to, sections)
    moves.append(Move(from: from, to: to))
  }

  /// The part that concerns one section, by its numbers before and after.
  func concerning(_ old: Int?, _ new: Int?) -> SectionChanges {
    var changes = self
    changes.deletions.removeAll { $0.section != old }
    changes.insertions.removeAll { $0.section != new }
    changes.modifications.removeAll { $0.section != old }
    changes.modificationsNew.removeAll { $0.section != new }
    changes.moves.removeAll { $0.from.section != old || $0.to.section != new }
    changes.sectionMoves.removeAll { $0.from != old }
    changes.sectionsToDelete = sectionsToDelete.filteredIndexSet { $0 == old }
    changes.sectionsToInsert = sectionsToInsert.filteredIndexSet { $0 == new }
    return changes
  }
}

/// The sections that were deleted, inserted, and stayed. A section that moved among those that
/// stayed is deleted and inserted.
private struct SectionMoves {
  /// For each old section the new one with its key, -1 without any; nil if they are the same.
  private var numbers: ContiguousArray<Int>?
  private(set) var deletions: [Int] = []
  private(set) var insertions: [Int] = []
  private(set) var moves: [IndexChanges.Move] = []
  private var deleted: Set<Int> = []
  private var inserted: Set<Int> = []

  /// - Parameter kept: the key of a section that has not moved if it is in both.
  init<Key>(from old: SectionKeys<Key>, to new: SectionKeys<Key>, keeping kept: Key?) {
    if old === new { return }
    var numbers = ContiguousArray(repeating: -1, count: old.count)
    var builder = EditScript.Builder(oldCount: old.count)
    for (number, key) in new.list.enumerated() {
      if let former = old.numbers[key] {
        numbers[former] = number
        builder.append(old: former)
      } else {
        builder.appendFresh()
      }
    }
    self.numbers = numbers
    let changes = builder.finish().indexChanges(withMoves: true)
    (deletions, insertions, moves) = (changes.deletions, changes.insertions, changes.moves)
    if let kept, let index = moves.firstIndex(where: { old.list[$0.from] == SectionKey(kept) }) {
      let move = moves.remove(at: index)
      deletions.removeAll { $0 == move.from }
      insertions.removeAll { $0 == move.to }
    }
    (deleted, inserted) = (Set(deletions), Set(insertions))
  }

  func isDeleted(_ section: Int) -> Bool { deleted.contains(section) }
  func isInserted(_ section: Int) -> Bool { inserted.contains(section) }

  /// True if both have the same key.
  func isSame(_ old: Int, _ new: Int) -> Bool {
    guard let numbers else { return old == new }
    return numbers[old] == new
  }

  /// True if both are one section, neither deleted nor inserted.
  func stays(_ old: Int, as new: Int) -> Bool { isSame(old, new) && !isDeleted(old) }
}

/// The former and the current sections of rows, and the changes of the rows in between.
struct SectionsStep<Key: Hashable> {
  let old: SectionTable<Key>
  let new: SectionTable<Key>
  private let all: IndexChanges
  /// The same as the observer sees it.
  private let seen: IndexChanges

  /// Nil for a difference of other content.
  init?(_ difference: LiveDifference) {
    guard let derived = difference.derived else { return nil }
    old = (derived.from as? KeyedRows<Key>)?.table ?? SectionTable()
    new = (derived.to as? KeyedRows<Key>)?.table ?? SectionTable()
    (all, seen) = (derived.all, difference.indices)
  }

  /// The resulting changes of the sections.
  var changes: SectionChanges { SectionChanges(from: old, to: new, all, seen: seen) }

  /// The same for one section.
  func changes(of key: Key) -> SectionChanges {
    changes.concerning(old.number(of: key), new.number(of: key))
  }

  /// The resulting changes of one section's elements, wherever the section is among the others.
  func elementChanges(of key: Key) -> IndexChanges {
    let (before, now) = (old.number(of: key), new.number(of: key))
    let all = SectionChanges(from: old, to: new, all, seen: seen, keeping: key)
      .concerning(before, now)
    var changes = IndexChanges()
    changes.deletions = all.deletions.map(\.item)
    if let before, !all.sectionsToDelete.isEmpty {
      changes.deletions = Array(0..<old.count(of: before))
    }
    changes.insertions = all.insertions.map(\.item)
    changes.modifications = all.modifications.map(\.item)
    changes.modificationsNew = all.modificationsNew.map(\.item)
    changes.moves = all.moves.map { IndexChanges.Move(from: $0.from.item, to: $0.to.item) }
    return changes
  }
}
