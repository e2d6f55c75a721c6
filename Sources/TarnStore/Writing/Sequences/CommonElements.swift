/// The elements that stay when a list becomes another: a longest common subsequence, so that the
/// deletions and insertions are minimal.
///
/// The common prefix and suffix are found first. For the rest, each pair of equal elements is
/// considered once (Hunt and Szymanski, "A Fast Algorithm for Computing Longest Common
/// Subsequences", 1977). With more than `pairsMax` such pairs, as in long lists of few different
/// values, an equal element is searched only near the same rank among its equals, counted from both
/// ends; the result may then be somewhat shorter than the longest.
package enum CommonElements {
  package typealias Pair = (old: Int, new: Int)

  package static let pairsMax = 1 << 20

  /// Positions in both lists, ascending in both.
  package static func pairs<Element: Hashable>(
    _ old: [Element], _ new: [Element], pairsMax: Int = pairsMax
  ) -> [Pair] {
    let (front, back) = ends(old, new)
    let middle = middle(
      old, front.count..<old.count - back.count, new, front.count..<new.count - back.count,
      pairsMax)
    return front + middle + back
  }

  /// The common prefix, and the common suffix of the rest.
  static func ends<Element: Equatable>(
    _ old: [Element], _ new: [Element]
  ) -> (front: [Pair], back: [Pair]) {
    let front = zip(old, new).prefix { $0 == $1 }.count
    let rest = min(old.count, new.count) - front
    let back = zip(old.reversed(), new.reversed()).prefix(rest).prefix { $0 == $1 }.count
    return (
      (0..<front).map { ($0, $0) },
      (0..<back).reversed().map { (old.count - 1 - $0, new.count - 1 - $0) }
    )
  }

  private static func middle<Element: Hashable>(
    _ old: [Element], _ oldRange: Range<Int>, _ new: [Element], _ newRange: Range<Int>,
    _ pairsMax: Int
  ) -> [Pair] {
    if oldRange.isEmpty || newRange.isEmpty { return [] }
    let equals = Equals(old, oldRange, new, newRange)
    if equals.pairCount == 0 { return [] }
    let reach =
      equals.pairCount <= pairsMax ? Int.max : max(1, pairsMax / (4 * newRange.count))
    var longest = IncreasingChain()
    var passed = Array(repeating: 0, count: reach == .max ? 0 : equals.counts.count)
    for (offset, name) in equals.new.enumerated() where name >= 0 {
      let known = equals.places(of: name)
      let position = newRange.lowerBound + offset
      if reach == .max {
        for place in known.reversed() { longest.take(place, position) }
        continue
      }
      let rank = passed[name]
      passed[name] = rank + 1
      let fromBack = known.count - (equals.counts[name] - rank)
      for index in near(rank, fromBack, reach, known.count) {
        longest.take(known[known.startIndex + index], position)
      }
    }
    return longest.pairs
  }

  /// The indices around either of two, descending.
  private static func near(_ first: Int, _ second: Int, _ reach: Int, _ count: Int) -> [Int] {
    var indices: Set<Int> = []
    for center in [first, second] {
      for index in center - reach...center + reach where 0..<count ~= index {
        indices.insert(index)
      }
    }
    return indices.sorted(by: >)
  }
}

/// Numbers the different old elements, to find equal elements of two lists.
private struct Equals {
  /// The numbers of the new elements; -1 for one that does not occur in the old list.
  private(set) var new: [Int] = []
  /// How many new elements have each number.
  private(set) var counts: [Int]
  private(set) var pairCount = 0
  /// The ascending positions of the old elements by number, and where each number's positions
  /// start.
  private var positions: [Int]
  private var starts: [Int]

  init<Element: Hashable>(
    _ old: [Element], _ oldRange: Range<Int>, _ new: [Element], _ newRange: Range<Int>
  ) {
    var numbers: [Element: Int] = [:]
    numbers.reserveCapacity(oldRange.count)
    var names: [Int] = []
    names.reserveCapacity(oldRange.count)
    for position in oldRange {
      let next = numbers.count
      names.append(Self.named(&numbers[old[position], default: -1], next))
    }
    starts = Array(repeating: 0, count: numbers.count + 1)
    for name in names { starts[name + 1] += 1 }
    for name in 0..<numbers.count { starts[name + 1] += starts[name] }
    positions = Array(repeating: 0, count: names.count)
    var ends = starts
    for (offset, name) in names.enumerated() {
      positions[ends[name]] = oldRange.lowerBound + offset
      ends[name] += 1
    }
    counts = Array(repeating: 0, count: numbers.count)
    self.new.reserveCapacity(newRange.count)
    for position in newRange {
      guard let name = numbers[new[position]] else {
        self.new.append(-1)
        continue
      }
      self.new.append(name)
      counts[name] += 1
      pairCount += starts[name + 1] - starts[name]
    }
  }

  /// A single dictionary access that finds a number or assigns the next one.
  private static func named(_ known: inout Int, _ next: Int) -> Int {
    if known < 0 { known = next }
    return known
  }

  func places(of name: Int) -> ArraySlice<Int> { positions[starts[name]..<starts[name + 1]] }
}

/// The longest chain of pairs that ascends on both sides. Pairs arrive in the order of their new
/// positions, those of one new position in descending order of the old ones.
private struct IncreasingChain {
  private struct Link {
    let old: Int
    let new: Int
    let before: Int
  }

  private var links: [Link] = []
  /// For each length, the pair with the smallest old position that ends a chain of that length.
  private var ends: [Int] = []

  mutating func take(_ old: Int, _ new: Int) {
    var (low, high) = (0, ends.count)
    while low < high {
      let middle = (low + high) / 2
      if links[ends[middle]].old < old { low = middle + 1 } else { high = middle }
    }
    if low < ends.count, links[ends[low]].old == old { return }
    links.append(Link(old: old, new: new, before: low == 0 ? -1 : ends[low - 1]))
    if low == ends.count { ends.append(links.count - 1) } else { ends[low] = links.count - 1 }
  }

  var pairs: [CommonElements.Pair] {
    var pairs: [CommonElements.Pair] = []
    var next = ends.last ?? -1
    while next >= 0 {
      pairs.append((links[next].old, links[next].new))
      next = links[next].before
    }
    return pairs.reversed()
  }
}
