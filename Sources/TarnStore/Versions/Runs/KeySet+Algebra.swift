/// Union, difference and intersection, each linear in the runs, with fast paths for the usual cases
/// in commits: empty sets and disjoint ranges.
extension KeySet {
  package func union(_ other: KeySet) -> KeySet {
    if other.isEmpty { return self }
    if isEmpty { return other }
    var result = KeySet()
    result.reserveRuns(runs.count + other.runs.count)
    var mine = 0
    var theirs = 0
    while mine < runs.count && theirs < other.runs.count {
      if runs[mine].first <= other.runs[theirs].first {
        result.append(runs[mine])
        mine += 1
      } else {
        result.append(other.runs[theirs])
        theirs += 1
      }
    }
    while mine < runs.count {
      result.append(runs[mine])
      mine += 1
    }
    while theirs < other.runs.count {
      result.append(other.runs[theirs])
      theirs += 1
    }
    return result
  }

  package mutating func formUnion(_ other: KeySet) {
    if other.isEmpty { return }
    self = union(other)
  }

  package func subtracting(_ other: KeySet) -> KeySet {
    if !intersects(other) { return self }
    var result = KeySet()
    result.reserveRuns(runs.count)
    var theirs = other.firstRun(endingAtOrAfter: runs[0].first)
    for run in runs {
      while theirs < other.runs.count && other.runs[theirs].last < run.first { theirs += 1 }
      var rest = run
      var isUsedUp = false
      while theirs < other.runs.count && other.runs[theirs].first <= rest.last {
        let hole = other.runs[theirs]
        if hole.first > rest.first {
          result.append(KeyRun(first: rest.first, last: hole.first - 1))
        }
        if hole.last >= rest.last {
          isUsedUp = true
          break
        }
        rest.first = hole.last + 1
        theirs += 1
      }
      if !isUsedUp { result.append(rest) }
    }
    return result
  }

  package func intersection(_ other: KeySet) -> KeySet {
    var result = KeySet()
    if !intersects(other) { return result }
    var mine = firstRun(endingAtOrAfter: other.runs[0].first)
    var theirs = other.firstRun(endingAtOrAfter: runs[0].first)
    while mine < runs.count && theirs < other.runs.count {
      let a = runs[mine]
      let b = other.runs[theirs]
      let first = Swift.max(a.first, b.first)
      let last = Swift.min(a.last, b.last)
      if first <= last { result.append(KeyRun(first: first, last: last)) }
      if a.last < b.last { mine += 1 } else { theirs += 1 }
    }
    return result
  }

  /// True if a key is in both. Looks up the shorter set's runs in the longer one while that is
  /// cheaper than iterating over both.
  package func intersects(_ other: KeySet) -> Bool {
    guard let first = runs.first, let last = runs.last,
      let otherFirst = other.runs.first, let otherLast = other.runs.last,
      first.first <= otherLast.last, otherFirst.first <= last.last
    else { return false }
    if runs.count > other.runs.count * 16 { return other.hasRun(meeting: self) }
    if other.runs.count > runs.count * 16 { return hasRun(meeting: other) }
    var mine = 0
    var theirs = 0
    while mine < runs.count && theirs < other.runs.count {
      if runs[mine].last < other.runs[theirs].first {
        mine += 1
      } else if other.runs[theirs].last < runs[mine].first {
        theirs += 1
      } else {
        return true
      }
    }
    return false
  }

  private func hasRun(meeting longer: KeySet) -> Bool {
    for run in runs {
      let index = longer.firstRun(endingAtOrAfter: run.first)
      if index < longer.runs.count && longer.runs[index].first <= run.last { return true }
    }
    return false
  }
}
