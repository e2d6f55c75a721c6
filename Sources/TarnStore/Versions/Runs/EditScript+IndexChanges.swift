extension EditScript {
  /// The script as deletions, insertions and modifications. Takes time for the runs and for each
  /// position in the result, so a script from a file is first compared with the actual numbers of
  /// elements.
  ///
  /// Of the remaining elements, as many as possible count as unmoved without changing their order;
  /// if several choices are equal, elements that were not set are preferred. Each of the others is
  /// a move: a deletion and an insertion, never a modification. So one moved element gives one
  /// pair.
  ///
  /// - Parameter withMoves: whether to fill in `moves`.
  package func indexChanges(withMoves: Bool = false) -> IndexChanges {
    var kept = keptRuns()
    let isAscending = zip(kept, kept.dropFirst()).allSatisfy { $0.old < $1.old }
    if !isAscending { Self.keepHeaviestIncreasing(&kept) }
    var changes = IndexChanges()
    addGaps(between: kept, to: &changes)
    addModifications(in: kept, to: &changes)
    if withMoves && !isAscending { Self.addMoves(of: kept, to: &changes) }
    return changes
  }

  /// A run of old elements.
  private struct Kept: BitwiseCopyable {
    var old: Int
    var new: Int
    var count: Int
    /// How many of them were not set.
    var unset: Int
    var stays = true
  }

  /// The runs of old elements in the new order.
  private func keptRuns() -> ContiguousArray<Kept> {
    var kept: ContiguousArray<Kept> = []
    var start = 0
    var index = 0
    for run in runs {
      if case .old(let first, let count) = run {
        let end = Int64(start + count)
        var set = 0
        while index < modified.runs.count && modified.runs[index].first < end {
          let hit = modified.runs[index]
          set += Int(min(hit.last, end - 1) - max(hit.first, Int64(start))) + 1
          if hit.last >= end { break }
          index += 1
        }
        kept.append(Kept(old: first, new: start, count: count, unset: count - set))
      }
      start += run.count
    }
    return kept
  }

  /// A number of elements, and how many of them were not set.
  private struct Weight: Comparable, BitwiseCopyable {
    var count = 0
    var unset = 0
    static func < (a: Self, b: Self) -> Bool { (a.count, a.unset) < (b.count, b.unset) }
  }

  /// Keeps runs that are in order and have the most elements in total.
  ///
  /// Whole runs suffice: elements between two elements of a run that are out of order with both
  /// cannot make it worthwhile to keep only one of the two.
  private static func keepHeaviestIncreasing(_ kept: inout ContiguousArray<Kept>) {
    let count = kept.count
    var ranks = ContiguousArray(repeating: 0, count: count)
    for (rank, run) in indices(byOldPosition: kept).enumerated() { ranks[run] = rank }
    // For each run so far: the best run that ends a sequence, by rank, as a tree of maxima
    // (Fenwick). Node i covers the ranks below i, starting at i without its lowest bit.
    var best = ContiguousArray(repeating: -1, count: count + 1)
    var weights = ContiguousArray(repeating: Weight(), count: count)
    var previous = ContiguousArray(repeating: -1, count: count)
    var end = -1
    for index in 0..<count {
      var before = -1
      var node = ranks[index]
      while node > 0 {
        let candidate = best[node]
        if candidate >= 0 && (before < 0 || weights[before] < weights[candidate]) {
          before = candidate
        }
        node &= node - 1
      }
      let sum = before < 0 ? Weight() : weights[before]
      weights[index] = Weight(
        count: sum.count + kept[index].count, unset: sum.unset + kept[index].unset)
      previous[index] = before
      if end < 0 || weights[end] < weights[index] { end = index }
      node = ranks[index] + 1
      while node <= count {
        if best[node] < 0 || weights[best[node]] < weights[index] { best[node] = index }
        node += node & -node
      }
      kept[index].stays = false
    }
    while end >= 0 {
      kept[end].stays = true
      end = previous[end]
    }
  }

  /// The positions of the runs in the array, in the order of their old positions.
  private static func indices(byOldPosition kept: ContiguousArray<Kept>) -> ContiguousArray<Int> {
    var indices = ContiguousArray(kept.indices)
    radixSort(&indices) { UInt64(kept[$0].old) }
    return indices
  }

  /// Elements outside of the kept runs were deleted or inserted.
  private func addGaps(between kept: ContiguousArray<Kept>, to changes: inout IndexChanges) {
    var old = 0
    var new = 0
    for run in kept where run.stays {
      changes.deletions.append(contentsOf: old..<run.old)
      changes.insertions.append(contentsOf: new..<run.new)
      old = run.old + run.count
      new = run.new + run.count
    }
    changes.deletions.append(contentsOf: old..<oldCount)
    changes.insertions.append(contentsOf: new..<newCount)
  }

  private func addModifications(in kept: ContiguousArray<Kept>, to changes: inout IndexChanges) {
    for run in kept where run.stays && run.unset < run.count {
      let last = Int64(run.new + run.count - 1)
      var index = modified.firstRun(endingAtOrAfter: Int64(run.new))
      while index < modified.runs.count && modified.runs[index].first <= last {
        let first = Int(max(modified.runs[index].first, Int64(run.new)))
        let end = Int(min(modified.runs[index].last, last)) + 1
        changes.modificationsNew.append(contentsOf: first..<end)
        let shift = run.old - run.new
        changes.modifications.append(contentsOf: first + shift..<end + shift)
        index += 1
      }
    }
  }

  private static func addMoves(of kept: ContiguousArray<Kept>, to changes: inout IndexChanges) {
    for index in indices(byOldPosition: kept) where !kept[index].stays {
      let run = kept[index]
      for offset in 0..<run.count {
        changes.moves.append(.init(from: run.old + offset, to: run.new + offset))
      }
    }
  }
}

/// The changes of a collection, as positions. All arrays are ascending and without duplicates.
///
/// Removing `deletions` from the old collection and then inserting, in ascending order, the new
/// rows at `insertions` gives the new collection. A moved row counts as both, and never as
/// modified.
package struct IndexChanges: Equatable, Sendable {
  /// Positions in the old collection.
  package var deletions: [Int] = []
  /// Positions in the new collection.
  package var insertions: [Int] = []
  /// Old positions of modified rows that stayed.
  package var modifications: [Int] = []
  /// The new positions of the same rows.
  package var modificationsNew: [Int] = []
  /// The old and new positions of moved rows, in the order of the old positions; each `from` is
  /// also in `deletions`, each `to` in `insertions`. A script fills this in only on request.
  package var moves: [Move] = []

  package struct Move: Equatable, Sendable {
    package var from: Int
    package var to: Int
    package init(from: Int, to: Int) {
      self.from = from
      self.to = to
    }
  }

  package init() {}

  package var isEmpty: Bool {
    deletions.isEmpty && insertions.isEmpty && modifications.isEmpty
  }
}
