extension EditScript {
  /// This script followed by the next one. Associative; takes time for the runs of both, and a
  /// search among the runs of this one for each run of the later one.
  ///
  /// An element that was inserted here and set there is just new; one that was set and then removed
  /// leaves no trace. If `later` does not begin with as many elements as this one ends with, which
  /// cannot happen with scripts from an undamaged file, everything counts as replaced.
  package func composing(_ later: EditScript) -> EditScript {
    guard newCount == later.oldCount else {
      return .replacingAll(oldCount: oldCount, newCount: later.newCount)
    }
    if isIdentity { return later }
    if later.isIdentity { return self }
    var builder = Builder(oldCount: oldCount)
    builder.reserveRuns(runs.count + later.runs.count)
    let starts = runStarts
    for run in later.runs {
      switch run {
      case .fresh(let count): builder.appendFresh(count)
      case .old(let first, let count):
        append(first..<first + count, starts, to: &builder)
      }
    }
    var script = builder.finishUnchecked()
    let set = later.newPositions(of: modified).union(later.modified)
    if !set.isEmpty { script.modified = set.subtracting(script.freshPositions) }
    return script
  }

  /// The start of each run in the new sequence.
  private var runStarts: ContiguousArray<Int> {
    var starts: ContiguousArray<Int> = []
    starts.reserveCapacity(runs.count)
    var end = 0
    for run in runs {
      starts.append(end)
      end += run.count
    }
    return starts
  }

  /// Adds the runs in that part of the new sequence, which is not empty.
  private func append(
    _ part: Range<Int>, _ starts: ContiguousArray<Int>, to builder: inout Builder
  ) {
    // The last run that begins at or before the part.
    var index = starts.partitioningIndex { $0 > part.lowerBound } - 1
    var position = part.lowerBound
    while position < part.upperBound {
      let offset = position - starts[index]
      let count = min(runs[index].count - offset, part.upperBound - position)
      switch runs[index] {
      case .old(let first, _): builder.appendOld(first + offset..<first + offset + count)
      case .fresh: builder.appendFresh(count)
      }
      position += count
      index += 1
    }
  }

  /// The new positions of the elements at those old positions, without removed ones.
  func newPositions(of old: KeySet) -> KeySet {
    var result = KeySet()
    if old.isEmpty { return result }
    var start = 0
    for run in runs {
      if case .old(let first, let count) = run {
        let last = Int64(first + count - 1)
        let shift = Int64(start - first)
        var index = old.firstRun(endingAtOrAfter: Int64(first))
        while index < old.runs.count && old.runs[index].first <= last {
          let hit = old.runs[index]
          result.append(
            KeyRun(
              first: max(hit.first, Int64(first)) + shift, last: min(hit.last, last) + shift))
          index += 1
        }
      }
      start += run.count
    }
    return result
  }

  /// The positions of new elements.
  var freshPositions: KeySet {
    var result = KeySet()
    var start = 0
    for run in runs {
      if case .fresh(let count) = run {
        result.append(KeyRun(first: Int64(start), last: Int64(start + count - 1)))
      }
      start += run.count
    }
    return result
  }
}
