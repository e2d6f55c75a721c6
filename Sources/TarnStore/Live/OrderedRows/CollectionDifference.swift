/// The difference between two roots of one result, computed only from the rows that a change set
/// concerned.
///
/// Unconcerned rows keep their order, so they serve as a reference: a row has certainly moved if
/// the number of unconcerned rows before it changed. A longest increasing subsequence of the other
/// rows stays, and the rest have moved. So if a row moves past another one, the result is one
/// deletion and one insertion, no matter which of the two counts as moved.
package enum CollectionDifference {
  /// - Parameters:
  ///   - touched: ascending; all rows that were added, removed, or may have moved or been modified.
  ///     Rows in neither root are allowed.
  ///   - replaced: keys that identify another object than before: deleted and inserted even in
  ///     place.
  ///   - isModified: called once for each row in `touched` that stayed.
  package static func between(
    _ old: OrderedRoot, _ new: OrderedRoot, touched: KeySet, replaced: KeySet = KeySet(),
    isModified: (ObjectKey) -> Bool
  ) -> IndexChanges {
    between(old, new, ContiguousArray(touched), replaced: replaced, isModified: isModified)
  }

  private static func between(
    _ old: OrderedRoot, _ new: OrderedRoot, _ keys: ContiguousArray<ObjectKey>,
    replaced: KeySet, isModified: (ObjectKey) -> Bool
  ) -> IndexChanges {
    if keys.isEmpty { return IndexChanges() }
    if keys.count == 1, let key = keys.first {
      return ofOne(
        old.position(of: key), new.position(of: key), isReplaced: replaced.contains(key)
      ) { isModified(key) }
    }
    return between(
      .init(old: old.ranked(keys), new: new.ranked(keys)), keys, replaced: replaced,
      isModified: isModified)
  }

  private static func between(
    _ ranks: OrderedUpdate.Ranks, _ keys: ContiguousArray<ObjectKey>,
    replaced: KeySet, isModified: (ObjectKey) -> Bool
  ) -> IndexChanges {
    if keys.count == 1 {
      return ofOne(
        ranks.old.first?.position, ranks.new.first?.position,
        isReplaced: replaced.contains(keys[0])
      ) { isModified(keys[0]) }
    }
    var work = DifferenceWork(keys, ranks, replaced)
    work.keepLongestIncreasing()
    return work.changes(isModified)
  }

  /// The difference made by one update, without repeating the look-ups of the update.
  ///
  /// - Parameter others: ascending; rows that were neither removed nor inserted, but may be
  ///   modified. Rows of the update are allowed in it.
  package static func of(
    _ update: OrderedUpdate, others: KeySet = KeySet(), replaced: KeySet = KeySet(),
    isModified: (ObjectKey) -> Bool
  ) -> IndexChanges {
    var changes: IndexChanges
    if let ranks = update.ranks {
      changes = between(ranks, update.keys, replaced: replaced, isModified: isModified)
    } else {
      changes = between(
        update.old, update.root, update.keys, replaced: replaced, isModified: isModified)
    }
    let rest = others.isEmpty ? others : others.subtracting(KeySet(update.keys))
    if rest.isEmpty { return changes }
    let more = modifications(update.old, update.root, rest, isModified)
    changes.modifications = merged(changes.modifications, more.modifications)
    changes.modificationsNew = merged(changes.modificationsNew, more.modificationsNew)
    return changes
  }

  /// The modifications among rows that did not move relative to each other. A row in only one of
  /// the roots, as in a damaged file, is not modified.
  private static func modifications(
    _ old: OrderedRoot, _ new: OrderedRoot, _ rows: KeySet, _ isModified: (ObjectKey) -> Bool
  ) -> IndexChanges {
    let keys = ContiguousArray(rows.filter { isModified($0) })
    var (before, after) = (old.ranked(keys), new.ranked(keys))
    if before.count != after.count {
      let common = Set(before.map(\.index)).intersection(after.map(\.index))
      before.removeAll { !common.contains($0.index) }
      after.removeAll { !common.contains($0.index) }
    }
    var changes = IndexChanges()
    changes.modifications = before.map(\.position)
    changes.modificationsNew = after.map(\.position)
    return changes
  }

  private static func merged(_ a: [Int], _ b: [Int]) -> [Int] {
    if b.isEmpty { return a }
    if a.isEmpty { return b }
    return (a + b).sorted()
  }

  private static func ofOne(
    _ old: Int?, _ new: Int?, isReplaced: Bool, isModified: () -> Bool
  ) -> IndexChanges {
    var changes = IndexChanges()
    if let old, let new, old == new, !isReplaced {
      if isModified() {
        changes.modifications = [old]
        changes.modificationsNew = [new]
      }
      return changes
    }
    if let old { changes.deletions = [old] }
    if let new { changes.insertions = [new] }
    if let old, let new, !isReplaced { changes.moves = [.init(from: old, to: new)] }
    return changes
  }
}

/// The steps of a difference of more than one row.
private struct DifferenceWork {
  private let keys: ContiguousArray<ObjectKey>
  /// In the order of their positions.
  private let oldRows: ContiguousArray<OrderedRoot.Ranked>
  private let newRows: ContiguousArray<OrderedRoot.Ranked>
  /// The new position of each touched key, -1 if it is not in the new root, -2 if it identifies
  /// another object.
  private var newPositions: ContiguousArray<Int>
  /// Whether the row of each touched key stays in place.
  private var stays: ContiguousArray<Bool>

  init(_ keys: ContiguousArray<ObjectKey>, _ ranks: OrderedUpdate.Ranks, _ replaced: KeySet) {
    self.keys = keys
    oldRows = ranks.old
    newRows = ranks.new
    newPositions = ContiguousArray(repeating: -1, count: keys.count)
    stays = ContiguousArray(repeating: false, count: keys.count)
    var newGaps = ContiguousArray<Int>(repeating: -1, count: keys.count)
    for (ordinal, row) in newRows.enumerated() {
      newGaps[row.index] = row.position - ordinal
      newPositions[row.index] = row.position
    }
    if !replaced.isEmpty {
      for index in keys.indices where replaced.contains(keys[index]) {
        newPositions[index] = -2
        newGaps[index] = -2
      }
    }
    for (ordinal, row) in oldRows.enumerated() {
      stays[row.index] = newGaps[row.index] == row.position - ordinal
    }
  }

  /// Keeps a longest sequence in unchanged order among the rows that may still stay.
  mutating func keepLongestIncreasing() {
    let candidates = oldRows.indices.filter { stays[oldRows[$0].index] }
    func newPosition(_ index: Int) -> Int { newPositions[oldRows[candidates[index]].index] }
    var isAscending = true
    for index in candidates.indices.dropFirst() where newPosition(index - 1) > newPosition(index) {
      isAscending = false
      break
    }
    if isAscending { return }
    // For each length, the candidate with the smallest new position that ends a sequence.
    var ends: ContiguousArray<Int> = []
    var previous = ContiguousArray<Int>(repeating: -1, count: candidates.count)
    for index in candidates.indices {
      let low = ends.partitioningIndex { newPosition($0) >= newPosition(index) }
      if low > 0 { previous[index] = ends[low - 1] }
      if low == ends.count { ends.append(index) } else { ends[low] = index }
      stays[oldRows[candidates[index]].index] = false
    }
    var index = ends.last ?? -1
    while index >= 0 {
      stays[oldRows[candidates[index]].index] = true
      index = previous[index]
    }
  }

  func changes(_ isModified: (ObjectKey) -> Bool) -> IndexChanges {
    var changes = IndexChanges()
    for row in oldRows {
      let position = newPositions[row.index]
      if stays[row.index] {
        if isModified(keys[row.index]) {
          changes.modifications.append(row.position)
          changes.modificationsNew.append(position)
        }
        continue
      }
      changes.deletions.append(row.position)
      if position >= 0 { changes.moves.append(.init(from: row.position, to: position)) }
    }
    for row in newRows where !stays[row.index] { changes.insertions.append(row.position) }
    return changes
  }
}

extension OrderedRoot {
  /// A row with its position and its index.
  struct Ranked: Sendable {
    var position: Int
    /// The position of the key in the array of the caller.
    var index: Int
  }

  /// The keys that are in the root, of ascending ones, by position.
  func ranked(_ keys: ContiguousArray<ObjectKey>) -> ContiguousArray<Ranked> {
    var result: ContiguousArray<Ranked> = []
    switch storage {
    case .keyed(let blocks):
      var cursor = OrderStatisticTree<LabelBlock>.Cursor(blocks)
      for (index, key) in keys.enumerated() {
        guard let position = Self.position(of: key, &cursor) else { continue }
        result.append(Ranked(position: position, index: index))
      }
    case .sorted(let rows, let labels):
      var found: ContiguousArray<LabelPair> = []
      found.reserveCapacity(keys.count)
      var labelCursor = OrderStatisticTree<LabelPair>.Cursor(labels)
      for (index, key) in keys.enumerated() {
        let (offset, isFound) = labelCursor.seek(Self.biased(key))
        if !isFound { continue }
        found.append(
          LabelPair(order: labelCursor.entries[offset].value, value: UInt64(index)))
      }
      radixSort(&found) { $0.order }
      result.reserveCapacity(found.count)
      var cursor = OrderStatisticTree<OrderedRow>.Cursor(rows)
      for pair in found {
        let (offset, _) = cursor.seek(pair.order)
        result.append(Ranked(position: cursor.start + offset, index: Int(pair.value)))
      }
    }
    return result
  }
}
