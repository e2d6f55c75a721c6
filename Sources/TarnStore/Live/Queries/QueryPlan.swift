/// How a query finds its rows at one version of the store: chosen by counting the actual entries of
/// indexes, not by statistics.
///
/// A scan passes a row in about a nanosecond. So an index pays off only if it leads to few rows:
/// counting ends as soon as there are too many.
package struct QueryPlan: Sendable {
  enum Access: Sendable {
    /// Every cluster that can contain a row with such a key.
    case scan(ClosedRange<ObjectKey>)
    /// The rows that these lead to.
    case candidates([Leaf])
  }

  /// An access that is not a combination of others.
  enum Leaf: Sendable {
    case keys([ClosedRange<Int64>])
    case entries(IndexEntries)
  }

  /// A step of a path that ends with links to the rows.
  struct Step: Sendable {
    let classID: ClassID
    let leaf: Leaf
  }

  let access: Access
  /// The approximate number of rows to read; for a scan the rows of the class.
  package let rowCount: Int
  /// None of its rows needs to be tested.
  let isExact: Bool

  static let everyKey = ObjectKey.smallest...ObjectKey.largest

  /// True if it looks rows up one by one.
  var looksUpRows: Bool { if case .candidates = access { true } else { false } }
}

/// The cost of reading rows, in hundredths of a nanosecond. Measured on a class of a million rows
/// with twelve columns; only ratios matter.
private enum Cost {
  /// An entry of an index, including its share of sorting the keys.
  static let entry = 1500
  /// Finding a row by its key.
  static let row = 8000
  /// Finding the first entry of a range.
  static let range = 100_000
  /// A row in a scan, for each unit of a test.
  static let scannedTest = 45
  /// The same for rows that are tested one by one.
  static let test = 500

  /// Scanning that many rows.
  static func scan(of rowCount: Int, testing predicate: ResolvedPredicate) -> Int {
    let (cost, overflow) = rowCount.multipliedReportingOverflow(
      by: scannedTest * max(predicate.cost, 1))
    return overflow ? .max : cost
  }

  /// Looking up a row that an entry leads to, and testing it.
  static func lookup(testing predicate: ResolvedPredicate) -> Int {
    entry + row + predicate.cost * test
  }
}

extension QueryPlan {
  /// How many rows can be looked up and tested in half the time of this scan.
  func lookupsInstead(testing predicate: ResolvedPredicate) -> Int {
    Cost.scan(of: rowCount, testing: predicate) / (2 * Cost.lookup(testing: predicate))
  }
}

extension CompiledQuery {
  /// Chooses how to find the rows.
  func plan(_ rows: Rows) throws(StorageError) -> QueryPlan {
    let total = try rows.count(of: classID)
    guard rows.hasIndexes, let option = access(rows.schema) else {
      return scan(QueryPlan.everyKey, total)
    }
    var search = AccessSearch(rows: rows, classID: classID, total: total)
    let isExact = option.isExact && !rows.isEdited(classID)
    search.perRow = isExact ? Cost.entry : Cost.lookup(testing: predicate)
    search.most = Cost.scan(of: total, testing: predicate)
    if let found = try search.choose(option.access) {
      return QueryPlan(
        access: .candidates(found.leaves), rowCount: min(found.rowCount, total), isExact: isExact)
    }
    return scan(search.keys, total)
  }

  private func scan(_ keys: ClosedRange<ObjectKey>, _ total: Int) -> QueryPlan {
    QueryPlan(access: .scan(keys), rowCount: total, isExact: isUnfiltered)
  }
}

/// Finds the cheapest access.
private struct AccessSearch {
  struct Found {
    var leaves: [QueryPlan.Leaf]
    var rowCount: Int
    var cost: Int
  }

  let rows: Rows
  let classID: ClassID
  /// The number of rows in the class.
  let total: Int
  /// The cost of one candidate.
  var perRow = 1
  /// The maximum cost that is worthwhile.
  var most = Int.max
  /// The range of keys that contains all rows, according to accesses that were not chosen.
  private(set) var keys = QueryPlan.everyKey

  init(rows: Rows, classID: ClassID, total: Int) {
    self.rows = rows
    self.classID = classID
    self.total = total
  }

  /// Nil if no access costs less than `most`.
  mutating func choose(_ access: RowAccess) throws(StorageError) -> Found? {
    try choose(access, below: most, bounds: true)
  }

  /// - Parameter bounds: true if all rows are in the range of the access.
  private mutating func choose(
    _ access: RowAccess, below most: Int, bounds: Bool
  ) throws(StorageError) -> Found? {
    switch access {
    case .keys(let ranges):
      if bounds { narrow(to: ranges) }
      return try found(.keys(ranges), ranges.count, below: most) { most in count(ranges, most) }
    case .entries(let entries):
      return try found(.entries(entries), entries.ranges.count, below: most) {
        (most) throws(StorageError) in try rows.count(of: entries, atMost: most)
      }
    case .oneOf(let all):
      var best: Found?
      for one in all {
        if let found = try choose(one, below: best?.cost ?? most, bounds: bounds) { best = found }
      }
      return best
    case .union(let all):
      var sum = Found(leaves: [], rowCount: 0, cost: 0)
      for one in all {
        guard let found = try choose(one, below: most - sum.cost, bounds: false) else {
          return nil
        }
        sum.leaves += found.leaves
        sum.rowCount += found.rowCount
        sum.cost += found.cost
      }
      return sum
    case .behind(let behind): return try choose(behind, below: most)
    }
  }

  /// Finds the rows at the end of links, as long as they are so few that looking up the links to
  /// each costs less than `most`, and so on back to the start.
  private func choose(
    _ behind: AccessBehindLinks, below most: Int
  ) throws(StorageError) -> Found? {
    var search = AccessSearch(
      rows: rows, classID: behind.classID, total: try rows.count(of: behind.classID))
    (search.perRow, search.most) = (Cost.range, most)
    guard let ends = try search.choose(behind.access) else { return nil }
    var leaves = ends.leaves
    // The cost of finding the ends is small compared with looking up the links to them.
    var (classID, cost) = (behind.classID, 0)
    for (number, link) in behind.links.enumerated().reversed() {
      let keys = try rows.keys(of: leaves, in: classID)
      let entries = IndexEntries(
        index: PackedIndex(link.classID, link.column), columns: [link.column],
        ranges: keys.map { .equal(OrderKey($0)) },
        origin: leaves.map { QueryPlan.Step(classID: classID, leaf: $0) })
      var hop = self
      if number > 0 { hop.perRow = Cost.range }
      let found = try hop.found(.entries(entries), keys.count, below: most - cost) {
        (most) throws(StorageError) in try rows.count(of: entries, atMost: most)
      }
      guard let found else { return nil }
      cost += found.cost
      if number == 0 { return Found(leaves: found.leaves, rowCount: found.rowCount, cost: cost) }
      (leaves, classID) = (found.leaves, link.classID)
    }
    return nil
  }

  private func found(
    _ leaf: QueryPlan.Leaf, _ rangeCount: Int, below most: Int,
    _ count: (Int) throws(StorageError) -> Int
  ) throws(StorageError) -> Found? {
    let fixed = rangeCount.multipliedReportingOverflow(by: Cost.range)
    // If the class is so small that any scan is fast, one look-up is as fast.
    let rest = rangeCount == 1 ? max(most - Cost.range, perRow) : most - fixed.partialValue
    guard !fixed.overflow, rest > 0 else { return nil }
    let mostRows = rest / perRow
    let rowCount = try count(mostRows)
    guard rowCount <= mostRows else { return nil }
    return Found(leaves: [leaf], rowCount: rowCount, cost: fixed.partialValue + rowCount * perRow)
  }

  /// The maximum number of rows in these ranges, in a class whose keys may have gaps.
  private func count(_ ranges: [ClosedRange<Int64>], _ most: Int) -> Int {
    var sum = 0
    for range in ranges {
      let span = range.upperBound.subtractingReportingOverflow(range.lowerBound)
      sum = saturatingSum(sum, span.overflow ? .max : saturatingSum(Int(span.partialValue), 1))
    }
    return sum
  }

  private mutating func narrow(to ranges: [ClosedRange<Int64>]) {
    guard let first = ranges.first, let last = ranges.last else { return }
    keys = ObjectKey(first.lowerBound)...ObjectKey(last.upperBound)
  }
}
