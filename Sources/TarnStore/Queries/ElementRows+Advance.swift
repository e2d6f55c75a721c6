extension CompiledQuery {
  /// The rows after elements of their sequence came, went or were set, and objects in it changed.
  /// Reads only rows that this concerns, and those that they are compared with, if they are few
  /// and nothing that is elsewhere decides; the elements themselves are gone through.
  ///
  /// - Parameters:
  ///   - moves: how the sequence came to be `source`; nil if that is not known.
  ///   - touched: the objects that changed.
  package func advance(
    _ old: ElementRows, along moves: EditScript?, to source: [ObjectKey?],
    touched: KeySet, _ rows: StoreRows
  ) throws(StorageError) -> ElementRows {
    guard staysInRow, stages.isEmpty, let moves,
      let change = ElementChange(old, moves, source, touched)
    else {
      return try evaluate(source, rows)
    }
    var incoming: [ElementChange.Row] = []
    for row in change.candidates where try predicate.matches(row.key, in: rows) {
      incoming.append(row)
    }
    let merged =
      isUnsorted
      ? change.merging(incoming) : try place(&incoming, in: change.staying, rows)
    return ElementRows(merged.map(\.key), merged.map(\.place))
  }

  /// Each row that came is put where it belongs, which halving finds.
  private func place(
    _ incoming: inout [ElementChange.Row], in staying: [ElementChange.Row], _ rows: StoreRows
  ) throws(StorageError) -> [ElementChange.Row] {
    let comparator = OrderComparator(order, source: rows)
    try mergeSort(&incoming) { (a, b) throws(StorageError) in
      let order = try comparator.compareTerms(
        comparator.place(of: a.key), comparator.place(of: b.key))
      return order == 0 ? a.place < b.place : order < 0
    }
    var merged: [ElementChange.Row] = []
    merged.reserveCapacity(staying.count + incoming.count)
    var start = 0
    for row in incoming {
      let place = try comparator.place(of: row.key)
      let index = try staying[start...].partitioningIndex { other throws(StorageError) in
        let order = try comparator.compareTerms(place, comparator.place(of: other.key))
        return order == 0 ? row.place < other.place : order < 0
      }
      merged += staying[start..<index]
      merged.append(row)
      start = index
    }
    return merged + staying[start...]
  }
}

/// Which rows stay as they are where a sequence changed a little, and which may come.
private struct ElementChange {
  struct Row {
    var key: ObjectKey
    var place: Int
  }

  /// The rows that nothing concerned, in their order, at their new places.
  private(set) var staying: [Row] = []
  /// The elements that may have become rows, or others than they were, by their places.
  private(set) var candidates: [Row] = []

  /// Nil if elements changed their order, or too many are concerned.
  init?(
    _ old: ElementRows, _ moves: EditScript, _ source: [ObjectKey?], _ touched: KeySet
  ) {
    var newPlaces = [Int](repeating: -1, count: moves.oldCount)
    var isCandidate = [Bool](repeating: true, count: source.count)
    var (start, last) = (0, 0)
    for run in moves.runs {
      if case .old(let first, let count) = run {
        guard first >= last else { return nil }
        last = first + count
        for offset in 0..<count {
          newPlaces[first + offset] = start + offset
          isCandidate[start + offset] = false
        }
      }
      start += run.count
    }
    let most = max(8, source.count / 16)
    for (place, key) in source.enumerated() {
      guard let key else { continue }
      if !isCandidate[place] {
        guard touched.contains(key) || moves.modified.contains(ObjectKey(Int64(place))) else {
          continue
        }
        isCandidate[place] = true
      }
      if candidates.count == most { return nil }
      candidates.append(Row(key: key, place: place))
    }
    staying.reserveCapacity(old.count)
    for (key, place) in zip(old.keys, old.places) {
      let now = newPlaces[place]
      // An element that was set to nil is a candidate no more, nor a row.
      guard now >= 0, !isCandidate[now], source[now] != nil else { continue }
      staying.append(Row(key: key, place: now))
    }
  }

  /// All rows in the order of the sequence.
  func merging(_ incoming: [Row]) -> [Row] {
    var merged: [Row] = []
    merged.reserveCapacity(staying.count + incoming.count)
    var next = 0
    for row in staying {
      while next < incoming.count, incoming[next].place < row.place {
        merged.append(incoming[next])
        next += 1
      }
      merged.append(row)
    }
    return merged + incoming[next...]
  }
}
