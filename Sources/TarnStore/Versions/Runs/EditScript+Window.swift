extension EditScript {
  /// Converts changed positions into a script, with their moves if present.
  ///
  /// If they contradict each other or the numbers of elements, which only a damaged file can cause,
  /// everything counts as replaced.
  ///
  /// - Parameter isModified: whether an element that moved was also set, by its new position. In a
  ///   part of the sequence it may count as unmoved, and is then reported as modified.
  init(
    _ changes: IndexChanges, oldCount: Int, newCount: Int, isModified: (Int) -> Bool
  ) {
    let origins = changes.moves.sorted { $0.to < $1.to }
    var builder = Builder(oldCount: oldCount)
    var (gone, come, moved) = (changes.deletions[...], changes.insertions[...], origins[...])
    var (old, new) = (0, 0)
    while new < newCount {
      while gone.first == old {
        gone.removeFirst()
        old += 1
      }
      if come.first == new {
        come.removeFirst()
        if let move = moved.first, move.to == new {
          moved.removeFirst()
          builder.append(old: move.from, isModified: isModified(move.to))
        } else {
          builder.appendFresh()
        }
        new += 1
        continue
      }
      let end = min((gone.first ?? oldCount) - old, (come.first ?? newCount) - new)
      guard end > 0 else {
        self = .replacingAll(oldCount: oldCount, newCount: newCount)
        return
      }
      builder.appendOld(old..<old + end)
      old += end
      new += end
    }
    let set = changes.modificationsNew.lazy.map { ObjectKey(Int64($0)) }
    self = builder.finish().modifying(KeySet(set))
  }

  /// The script of a window on the sequence: only the elements that were in the old range and are
  /// in the new one now. Elements that enter the window are new in it.
  func clipped(from old: Range<Int>, to new: Range<Int>) -> EditScript {
    var builder = Builder(oldCount: old.count)
    var start = 0
    for run in runs {
      let part = (start..<start + run.count).clamped(to: new)
      if !part.isEmpty {
        switch run {
        case .fresh: builder.appendFresh(part.count)
        case .old(let first, _):
          let shift = first - start
          builder.append(part.lowerBound + shift..<part.upperBound + shift, of: old)
        }
      }
      start += run.count
      if start >= new.upperBound { break }
    }
    return builder.finish().modifying(modified(in: new))
  }

  /// The same for a window at these positions, as far as there are elements.
  func clipped(to window: Range<Int>) -> EditScript {
    clipped(from: window.clamped(to: 0..<oldCount), to: window.clamped(to: 0..<newCount))
  }

  /// The positions in a range whose elements were set, counted from its start.
  private func modified(in range: Range<Int>) -> KeySet {
    var result = KeySet()
    if range.isEmpty { return result }
    let (first, last) = (Int64(range.lowerBound), Int64(range.upperBound) - 1)
    for run in modified.runs[modified.firstRun(endingAtOrAfter: first)...] {
      if run.first > last { break }
      result.append(KeyRun(first: max(run.first, first) - first, last: min(run.last, last) - first))
    }
    return result
  }
}

extension EditScript.Builder {
  /// Adds adjacent elements, of which only those in `window` were in the script's old sequence.
  fileprivate mutating func append(_ range: Range<Int>, of window: Range<Int>) {
    let kept = range.clamped(to: window)
    if kept.isEmpty { return appendFresh(range.count) }
    appendFresh(kept.lowerBound - range.lowerBound)
    appendOld(kept.lowerBound - window.lowerBound..<kept.upperBound - window.lowerBound)
    appendFresh(range.upperBound - kept.upperBound)
  }
}
