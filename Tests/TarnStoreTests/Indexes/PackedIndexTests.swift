import TarnStore
import TestSupport
import Testing

/// The naive index: a sorted array. Beside it the real one, which must agree after every batch.
private struct Entry: Hashable, Comparable {
  var key: [UInt8]
  var object: Int64
  static func < (a: Entry, b: Entry) -> Bool {
    let order = compare(a.key, b.key)
    return order == 0 ? a.object < b.object : order < 0
  }
}

/// Naive, but as fast as a test without optimization can have it.
private func compare(_ a: [UInt8], _ b: [UInt8]) -> Int {
  for (x, y) in zip(a, b) where x != y { return x < y ? -1 : 1 }
  return a.count - b.count
}

/// The entries that should be there, with constant-time additions, removals and random picks.
private struct Model {
  private(set) var entries: [Entry] = []
  private var positions: [Entry: Int] = [:]

  mutating func insert(_ entry: Entry) {
    guard positions[entry] == nil else { return }
    positions[entry] = entries.count
    entries.append(entry)
  }

  mutating func remove(_ entry: Entry) {
    guard let position = positions.removeValue(forKey: entry) else { return }
    let last = entries.removeLast()
    guard position < entries.count else { return }
    entries[position] = last
    positions[last] = position
  }
}

/// How the keys and objects of a run of the test look.
private enum Shape: String, CaseIterable {
  case sequentialObjectIDs, randomObjectIDs, strings, fewValues, hub, extremes

  func key(_ random: inout SeededRandom, _ step: Int) -> OrderKey {
    switch self {
    case .sequentialObjectIDs:
      return OrderKey(Bytes12(high: 0x6512_3456_789a_bcde, low: 0xf000_0000 + UInt32(step)))
    case .randomObjectIDs:
      return OrderKey(Bytes12(high: random.next(), low: UInt32(random.below(1 << 20))))
    case .strings:
      let letters = [UInt8](repeating: random.pick([97, 98]), count: random.below(300))
      return (letters + random.bytes(random.below(4))).withUnsafeBytes { OrderKey(bytes: $0) }
    case .fewValues: return random.below(5) == 0 ? .null : OrderKey(Int64(random.below(20)))
    case .hub: return OrderKey(ObjectKey(random.below(10) == 0 ? Int64(random.below(50)) : 42))
    case .extremes:
      return random.pick([.null, OrderKey(Int64.min), OrderKey(Int64.max), OrderKey(0)])
    }
  }

  func object(_ random: inout SeededRandom, _ step: Int) -> Int64 {
    switch self {
    case .sequentialObjectIDs: return Int64(step)
    case .randomObjectIDs, .fewValues: return Int64(random.below(1 << 20))
    case .strings: return Int64(random.below(300)) - 150
    case .hub: return Int64(random.below(100_000))
    case .extremes:
      return random.pick([.min, .max, -1, 0, 1, Int64(bitPattern: random.next())])
    }
  }
}

private let index = PackedIndex(ClassID(3), ColumnID(7))

/// Checks the pages themselves: lengths, and that each lies under its first entry's key.
private func checkPages(_ environment: Environment, _ model: [Entry]) throws {
  var pages = 0
  for (key, value) in try TreeTest.contents(environment) where key[0] == 0x30 {
    #expect(value.count <= 4_080)
    #expect(key.count <= 511)
    if key[4] == 3, key[6] == 7 { pages += 1 }
  }
  #expect((pages == 0) == model.isEmpty)
}

private func checkAll(_ environment: Environment, _ model: [Entry]) throws {
  try TreeTest.withCursor(environment) { cursor throws in
    try index.checkInvariants(&cursor)
    var found: [Entry] = []
    found.reserveCapacity(model.count)
    try index.forEach(&cursor) { key, object in
      found.append(Entry(key: Array(key), object: object.rawValue))
      return true
    }
    #expect(found == model)
    #expect(try index.count(&cursor) == model.count)
    var reversed: [Int64] = []
    try index.forEach(descending: true, &cursor) { _, object in
      reversed.append(object.rawValue)
      return true
    }
    #expect(reversed == model.reversed().map(\.object))
  }
}

private func checkLookups(
  _ environment: Environment, _ model: [Entry], _ random: inout SeededRandom, _ shape: Shape,
  _ step: Int
) throws {
  let groups = Dictionary(grouping: model, by: \.key)
  try TreeTest.withCursor(environment) { cursor throws in
    for _ in 0..<10 {
      let key = shape.key(&random, random.below(step + 1))
      let bytes = key.withBytes { Array($0) }
      let expected = groups[bytes, default: []].map { ObjectKey($0.object) }
      #expect(try index.lookup(key, &cursor) == expected)
      #expect(try index.count(in: .equal(key), &cursor) == expected.count)
      let object = expected.isEmpty ? ObjectKey(5) : random.pick(expected)
      #expect(try index.contains(key, object, &cursor) == expected.contains(object))
    }
    for descending in [false, true] {
      let (a, b) = (shape.key(&random, random.below(step + 1)), shape.key(&random, step))
      let (low, high) = a < b ? (a, b) : (b, a)
      let isExclusive = random.below(2) == 0
      let range =
        isExclusive
        ? PackedIndexRange(above: low, below: high) : PackedIndexRange(from: low, through: high)
      let (from, to) = (low.withBytes { Array($0) }, high.withBytes { Array($0) })
      var expected = model.filter { entry in
        if isExclusive, !low.isTruncated, entry.key == from { return false }
        if isExclusive, !high.isTruncated, entry.key == to { return false }
        return compare(from, entry.key) <= 0 && compare(entry.key, to) <= 0
      }
      if descending { expected.reverse() }
      var found: [Int64] = []
      try index.forEach(in: range, descending: descending, &cursor) { _, object in
        found.append(object.rawValue)
        return true
      }
      #expect(found == expected.map(\.object))
    }
  }
}

/// One batch: random additions and removals, some of them without effect. `known` are sorted
/// entries of which most still exist.
private func batch(
  _ model: inout Model, _ known: [Entry], _ random: inout SeededRandom, _ shape: Shape,
  _ step: inout Int, isShrinking: Bool
) -> PackedIndexChanges {
  var changes = PackedIndexChanges()
  let size = random.pick([1, 1, 1, 2, 3, 10, 100, 1_000])
  let runStart = known.isEmpty ? 0 : random.below(known.count)
  for number in 0..<size {
    let isRemoval = random.below(10) < (isShrinking ? 8 : 3)
    if isRemoval, !model.entries.isEmpty {
      // Half of the time neighbours, which empties pages.
      let isRun = runStart % 2 == 0 && runStart + number < known.count
      let entry = isRun ? known[runStart + number] : random.pick(model.entries)
      let key =
        entry.key[0] == 0
        ? OrderKey.null : entry.key[1...].withUnsafeBytes { OrderKey(bytes: $0) }
      changes.remove(key, ObjectKey(entry.object))
      model.remove(entry)
    } else {
      step += 1
      let key = shape.key(&random, step)
      let object = shape.object(&random, step)
      let entry = Entry(key: key.withBytes { Array($0) }, object: object)
      if random.below(20) == 0 {
        changes.remove(key, ObjectKey(object))
        model.remove(entry)
      } else {
        changes.add(key, ObjectKey(object))
        model.insert(entry)
      }
    }
  }
  changes.sort()
  return changes
}

private func apply(_ changes: PackedIndexChanges, _ environment: Environment) throws {
  try environment.write { transaction throws(StorageError) in
    try index.apply(changes, in: transaction)
  }
}

@Suite struct PackedIndexTests {
  @Test(arguments: Shape.allCases, TreeTest.seeds)
  private func `an index agrees with a sorted array`(shape: Shape, seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    try TreeTest.withStore { environment in
      try putNeighbours(environment)
      var model = Model()
      var sorted: [Entry] = []
      var step = 0
      for round in 0..<200 {
        let isShrinking = round % 80 > 50
        let changes = batch(&model, sorted, &random, shape, &step, isShrinking: isShrinking)
        try apply(changes, environment)
        guard round % 20 == 19 else { continue }
        sorted = model.entries.sorted()
        try checkAll(environment, sorted)
        try checkLookups(environment, sorted, &random, shape, step)
        try checkPages(environment, sorted)
      }
      try environment.write { transaction throws(StorageError) in
        try index.removeAll(in: transaction)
      }
      try checkAll(environment, [])
      let others = try TreeTest.contents(environment)
      #expect(others.count == 4)
    }
  }

  /// Indexes and other things right before and after, which must stay as they are.
  private func putNeighbours(_ environment: Environment) throws {
    try environment.write { transaction throws(StorageError) in
      var changes = PackedIndexChanges()
      changes.add(OrderKey(0), ObjectKey(1))
      let names = [(2, 7), (3, 6), (3, 8), (4, 7)] as [(UInt32, UInt16)]
      for (id, column) in names {
        try PackedIndex(ClassID(id), ColumnID(column)).apply(changes, in: transaction)
      }
    }
  }

  @Test func `of several changes to an entry the last one counts`() throws {
    try TreeTest.withStore { environment in
      var changes = PackedIndexChanges()
      changes.add(OrderKey("b"), ObjectKey(1))
      changes.add(OrderKey("a"), ObjectKey(1))
      changes.remove(OrderKey("b"), ObjectKey(1))
      changes.remove(OrderKey("a"), ObjectKey(1))
      changes.add(OrderKey("a"), ObjectKey(1))
      changes.sort()
      #expect(changes.count == 2)
      try apply(changes, environment)
      try TreeTest.withCursor(environment) { cursor throws in
        #expect(try index.lookup(OrderKey("a"), &cursor) == [ObjectKey(1)])
        #expect(try index.lookup(OrderKey("b"), &cursor).isEmpty)
      }
    }
  }

  @Test func `prefixes and values that are not null are ranges`() throws {
    try TreeTest.withStore { environment in
      var changes = PackedIndexChanges()
      let words = ["", "a", "ab", "abc", "abd", "b", "ab\u{0}", "\u{10ffff}"]
      for (number, word) in words.enumerated() {
        changes.add(OrderKey(word), ObjectKey(Int64(number)))
      }
      changes.add(.null, ObjectKey(99))
      changes.sort()
      try apply(changes, environment)
      try TreeTest.withCursor(environment) { cursor throws in
        var found: [Int64] = []
        try Array("ab".utf8).withUnsafeBytes { prefix in
          try index.forEachKey(in: .prefix(prefix), &cursor) { object in
            found.append(object.rawValue)
            return true
          }
        }
        #expect(found == [2, 6, 3, 4])
        #expect(try index.count(in: PackedIndexRange(above: .null), &cursor) == words.count)
        #expect(try index.count(in: .equal(.null), &cursor) == 1)
        var first: [Int64] = []
        try index.forEach(descending: true, &cursor) { _, object in
          first.append(object.rawValue)
          return first.count < 2
        }
        #expect(first == [7, 5])
      }
    }
  }

  @Test func `keys that arrive in order fill their pages`() throws {
    try TreeTest.withStore { environment in
      for commit in 0..<200 {
        var changes = PackedIndexChanges()
        for number in 0..<50 {
          let low = UInt32(commit * 50 + number)
          changes.add(
            OrderKey(Bytes12(high: 0x6512_3456_789a_bcde, low: low)), ObjectKey(Int64(low)))
        }
        try apply(changes, environment)
      }
      let pages = try TreeTest.contents(environment).count
      #expect(10_000 / pages >= 500)
    }
  }

  @Test func `many changes at once make as few pages as they need`() throws {
    try TreeTest.withStore { environment in
      var changes = PackedIndexChanges()
      for number in 0..<200_000 { changes.add(OrderKey(42), ObjectKey(Int64(number) * 3)) }
      try apply(changes, environment)
      #expect(try TreeTest.contents(environment).count <= 200_000 / 1_900)
      try TreeTest.withCursor(environment) { cursor throws in
        #expect(try index.count(in: .equal(OrderKey(42)), &cursor) == 200_000)
        #expect(try index.lookup(OrderKey(41), &cursor).isEmpty)
      }
      var removals = PackedIndexChanges()
      for number in 0..<200_000 where number % 100 != 0 {
        removals.remove(OrderKey(42), ObjectKey(Int64(number) * 3))
      }
      try apply(removals, environment)
      #expect(try TreeTest.contents(environment).count <= 4)
      try TreeTest.withCursor(environment) { cursor throws in
        #expect(try index.lookup(OrderKey(42), &cursor).count == 2_000)
      }
    }
  }
}
