import TestSupport
import Testing

@testable import TarnStore

/// A result kept the dumb way: values by key, sorted afresh each time.
struct SortedModel {
  var values: [Int64: Int] = [:]

  func isOrderedBefore(_ a: ObjectKey, _ b: ObjectKey) -> Bool {
    (values[a.rawValue]!, a) < (values[b.rawValue]!, b)
  }

  var sorted: [ObjectKey] {
    values.keys.map { ObjectKey($0) }.sorted { isOrderedBefore($0, $1) }
  }

  var keyed: [ObjectKey] { values.keys.sorted().map { ObjectKey($0) } }

  /// One write: some rows go, some come, some get another value. Returns the keys of each kind.
  mutating func step(
    _ count: Int, keys: ClosedRange<Int64>, values range: Range<Int>,
    _ random: inout SeededRandom
  ) -> (removed: Set<Int64>, inserted: Set<Int64>, changed: Set<Int64>) {
    var removed: Set<Int64> = []
    var inserted: Set<Int64> = []
    var changed: Set<Int64> = []
    for _ in 0..<count {
      let key = Int64.random(in: keys, using: &random)
      if removed.contains(key) || inserted.contains(key) || changed.contains(key) { continue }
      let value = Int.random(in: range, using: &random)
      if values[key] == nil {
        values[key] = value
        inserted.insert(key)
      } else if Int.random(in: 0..<3, using: &random) == 0 {
        values[key] = nil
        removed.insert(key)
      } else {
        values[key] = value
        changed.insert(key)
      }
    }
    return (removed, inserted, changed)
  }
}

@Suite("The rows of a result in their order")
struct OrderedRootTests {
  private func keys(_ set: Set<Int64>) -> [ObjectKey] { set.map { ObjectKey($0) } }

  private func expectSame(_ root: OrderedRoot, _ expected: [ObjectKey]) {
    #expect(root.count == expected.count)
    #expect(root.keys == expected)
    for (position, key) in expected.enumerated() where position % 7 == expected.count % 7 {
      #expect(root.key(at: position) == key)
      #expect(root.position(of: key) == position)
      #expect(root.contains(key))
    }
  }

  @Test(
    "equal a fresh sort after every step, and old roots stay as they were",
    arguments: Seeds.of(0..<18))
  func staysSorted(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    var model = SortedModel()
    let keyRange: ClosedRange<Int64> =
      [0...900, Int64.min...Int64.max, -4000...4000][Int(seed % 3)]
    let valueRange = [0..<3, 0..<50, 0..<1_000_000][Int(seed / 3 % 3)]
    _ = model.step(seed % 2 == 0 ? 0 : 900, keys: keyRange, values: valueRange, &random)
    var root = OrderedRoot(sorted: model.sorted)
    var keyedRoot = OrderedRoot(keyed: KeySet(model.keyed))
    var history: [(OrderedRoot, [ObjectKey])] = []
    for step in 0..<30 {
      let size = [1, 2, 5, 40, 400].randomElement(using: &random)!
      let (removed, inserted, changed) = model.step(
        size, keys: keyRange, values: valueRange, &random)
      let absent = ObjectKey(Int64.random(in: keyRange, using: &random))
      let extra = model.values[absent.rawValue] == nil ? [absent] : []
      root = try root.applying(
        removals: keys(removed) + extra, insertions: keys(inserted.union(changed)),
        isOrderedBefore: model.isOrderedBefore)
      let update = keyedRoot.updating(removals: keys(removed), insertions: keys(inserted))
      keyedRoot = update.root
      let expected = model.sorted
      expectSame(root, expected)
      expectSame(keyedRoot, model.keyed)
      #expect(root.contains(absent) == extra.isEmpty)
      #expect(root.position(of: absent) == expected.firstIndex(of: absent))
      if step % 10 == 0 {
        root.checkInvariants()
        keyedRoot.checkInvariants()
        history.append((root, expected))
        history.append((keyedRoot, model.keyed))
      }
    }
    for (root, expected) in history { #expect(root.keys == expected) }
  }

  /// Prefixes that say everything, much, or nothing about the values.
  @Test("read no row whose beginning is another one", arguments: Seeds.of(0..<12))
  func comparesOnlyEqualPrefixes(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    var model = SortedModel()
    let keyRange: ClosedRange<Int64> = seed % 2 == 0 ? 0...2000 : Int64.min...Int64.max
    let coarseness = [1, 100, 1_000_000][Int(seed / 2 % 3)]
    _ = model.step(900, keys: keyRange, values: 0..<10_000, &random)
    func prefix(_ key: ObjectKey) -> UInt64 { UInt64(model.values[key.rawValue]! / coarseness) }
    var root = OrderedRoot(sorted: model.sorted, prefixes: model.sorted.map(prefix))
    root.checkInvariants()
    for _ in 0..<25 {
      let size = [1, 2, 40, 400].randomElement(using: &random)!
      let (removed, inserted, changed) = model.step(
        size, keys: keyRange, values: 0..<10_000, &random)
      let insertions = keys(inserted.union(changed)).sorted(by: model.isOrderedBefore)
      root = try root.applying(
        removals: keys(removed), insertions: insertions, insertionsAreOrdered: true,
        prefixes: insertions.map(prefix)
      ) { a, b in
        #expect(prefix(a) == prefix(b))
        return model.isOrderedBefore(a, b)
      }
      root.checkInvariants()
      expectSame(root, model.sorted)
    }
  }

  @Test("take keys that occur twice without harm")
  func survivesRepeatedKeys() {
    let twice = (0..<600).map { ObjectKey(Int64($0 % 500)) }
    #expect(OrderedRoot(sorted: twice).keys == twice)
  }

  @Test(
    "take any number of rows at one position, whatever the direction",
    arguments: Seeds.of(0..<4))
  func takesRowsAtOnePosition(direction: Int) throws {
    var random = SeededRandom(seed: 3)
    // Rows are their own keys; new ones go between the two halves, or to an end.
    var expected = (0..<300).map { ObjectKey(Int64($0)) }
    var root = OrderedRoot(sorted: expected)
    var low = 150
    for number in 0..<400 {
      let key = ObjectKey(Int64(10_000 + number))
      let position =
        switch direction {
        case 0: low
        case 1: 150
        case 2: Int.random(in: 150...low, using: &random)
        default: number % 2 == 0 ? 0 : expected.count
        }
      low += 1
      expected.insert(key, at: position)
      let positions = Dictionary(uniqueKeysWithValues: expected.enumerated().map { ($1, $0) })
      root = try root.applying(removals: [], insertions: [key]) { positions[$0]! < positions[$1]! }
      #expect(root.position(of: key) == position)
    }
    root.checkInvariants()
    #expect(root.keys == expected)
  }

  @Test("walk from anywhere to anywhere")
  func walks() {
    let all = (0..<3000).map { ObjectKey(Int64($0 * 3 - 4000)) }
    for root in [OrderedRoot(sorted: all), OrderedRoot(keyed: KeySet(all))] {
      for range in [0..<0, 0..<1, 17..<2990, 2999..<3000, 3000..<3000, 64..<128] {
        #expect(root.keys(in: range) == Array(all[range]))
      }
    }
  }

  @Test("pass on what the order throws and are unchanged then")
  func passesErrorsOn() {
    let refusal = StorageError(.inputOutput, operation: "compare", path: "", detail: "no")
    let root = OrderedRoot(sorted: (0..<100).map { ObjectKey(Int64($0)) })
    #expect(throws: refusal) {
      _ = try root.applying(removals: [], insertions: [ObjectKey(200), ObjectKey(201)]) {
        (_, _) throws(StorageError) in throw refusal
      }
    }
    #expect(root.count == 100)
  }

  @Test("survive an order that is none")
  func survivesNonsense() throws {
    var random = SeededRandom(seed: 11)
    var root = OrderedRoot(sorted: (0..<500).map { ObjectKey(Int64($0)) })
    for _ in 0..<100 {
      let some = Set((0..<20).map { _ in Int64.random(in: 0..<700, using: &random) })
      root = try root.applying(removals: [], insertions: keys(some)) { _, _ in
        Bool.random(using: &random)
      }
      root.checkInvariants()
    }
    #expect(Set(root.keys).count == root.count)
  }

  @Test("take few bytes a row, also after much was changed")
  func memoryPerRow() throws {
    var random = SeededRandom(seed: 5)
    let count = 20_000
    var model = SortedModel()
    for key in 0..<Int64(count) { model.values[key * 2] = Int.random(in: 0..<1000, using: &random) }
    var root = OrderedRoot(sorted: model.sorted)
    #expect(Double(root.memoryBytes) / Double(count) < 44)
    let keyed = OrderedRoot(keyed: KeySet(model.keyed))
    #expect(Double(keyed.memoryBytes) / Double(count) < 1)
    for _ in 0..<120 {
      let (removed, inserted, changed) = model.step(
        100, keys: 0...Int64(count * 2), values: 0..<1000, &random)
      root = try root.applying(
        removals: keys(removed), insertions: keys(inserted.union(changed)),
        isOrderedBefore: model.isOrderedBefore)
    }
    #expect(root.keys == model.sorted)
    #expect(Double(root.memoryBytes) / Double(root.count) < 50)
  }

  @Test("shrink when nearly everything goes")
  func shrinks() throws {
    var random = SeededRandom(seed: 6)
    var left = (0..<8_000).map { ObjectKey(Int64($0)) }
    var root = OrderedRoot(sorted: left)
    left.shuffle(using: &random)
    while left.count > 100 {
      let gone = Array(left.suffix(97))
      left.removeLast(97)
      root = try root.applying(removals: gone, insertions: []) { $0 < $1 }
    }
    root.checkInvariants()
    #expect(root.keys == left.sorted())
    #expect(root.memoryBytes < 100 * 200)
    root = try root.applying(removals: left, insertions: []) { $0 < $1 }
    #expect(root.isEmpty)
    root = try root.applying(removals: [], insertions: left) { $0 < $1 }
    #expect(root.keys == left.sorted())
  }
}

extension OrderedRoot {
  /// The memory that this root would take if it shared nothing, in bytes.
  fileprivate var memoryBytes: Int {
    switch storage {
    case .keyed(let blocks): blocks.nodeBytes
    case .sorted(let rows, let labels): rows.nodeBytes + labels.nodeBytes
    }
  }
}

extension OrderStatisticTree {
  /// The memory of all nodes in bytes, as if this tree shared none of them.
  fileprivate var nodeBytes: Int { Self.bytes(root) }

  private static func bytes(_ node: Node) -> Int {
    let header = 32
    switch node {
    case .leaf(let entries): return header + entries.capacity * MemoryLayout<Entry>.stride
    case .inner(let children):
      return children.reduce(header + children.capacity * MemoryLayout<Child>.stride) {
        $0 + bytes($1.node)
      }
    }
  }
}
