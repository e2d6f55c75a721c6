extension EditScript {
  /// The same script with the elements at those new positions marked as set, unless they are new.
  package func modifying(_ positions: KeySet) -> EditScript {
    if positions.isEmpty { return self }
    var script = self
    script.modified = modified.union(positions.subtracting(freshPositions))
    return script
  }

  /// The same script with some new elements replaced by old ones.
  ///
  /// - Parameter pairs: their old and new positions, ascending by the new position; none of the old
  ///   positions is in the new sequence.
  package func keeping(_ pairs: [(old: Int, new: Int)]) -> EditScript {
    if pairs.isEmpty { return self }
    var builder = Builder(oldCount: oldCount)
    var rest = pairs[...]
    var start = 0
    for run in runs {
      let end = start + run.count
      switch run {
      case .old(let first, let count): builder.appendOld(first..<first + count)
      case .fresh:
        while let pair = rest.first, pair.new < end {
          builder.appendFresh(pair.new - start)
          builder.append(old: pair.old)
          start = pair.new + 1
          rest.removeFirst()
        }
        builder.appendFresh(end - start)
      }
      start = end
    }
    var script = builder.finish()
    script.modified = modified
    return script
  }

  /// The old position of the element at a new position, nil if it is new. Takes time for the runs.
  package func oldPosition(of new: Int) -> Int? {
    var start = 0
    for run in runs {
      if new < start + run.count {
        guard case .old(let first, _) = run else { return nil }
        return first + new - start
      }
      start += run.count
    }
    return nil
  }

  /// The new position of the element at an old position, nil if it was removed. Takes time for the
  /// runs.
  package func newPosition(of old: Int) -> Int? {
    var start = 0
    for run in runs {
      if case .old(let first, let count) = run, old >= first, old < first + count {
        return start + old - first
      }
      start += run.count
    }
    return nil
  }
}
