import BenchFloors
import Foundation
import Tarn
import ToolSupport

/// An object with a list, a set and a map; the floors store the same elements.
class Shelf: Object {
  @Persisted var list: List<Int>
  @Persisted var set: MutableSet<Int>
  @Persisted var map: Map<String, Int>
}

/// The same collections in a Tarn file, in raw LMDB and in SQLite.
private final class Shelves {
  let realm: Realm
  let shelf: Shelf
  let lmdb: OpaquePointer
  let sqlite: OpaquePointer
  /// The sum of the list's elements.
  let sum: Int

  init(_ bench: Bench) throws {
    let realm = try Realm(configuration: bench.shelfConfiguration, scheduler: bench.scheduler)
    let count = bench.objects
    let made = Shelf()
    try realm.write {
      realm.add(made)
      made.list.append(objectsIn: (0..<count).map { $0 * 3 })
      made.set.insert(objectsIn: (0..<count).map { $0 * 3 })
      for number in 0..<count { made.map[Shelves.key(number)] = number * 3 }
    }
    self.realm = realm
    shelf = made
    sum = count * (count - 1) / 2 * 3
    var handles: (OpaquePointer?, OpaquePointer?)
    try floor(bf_lists_create(bench.folder, Int64(count), &handles.0), "collections")
    try floor(bf_sqlite_lists_create(bench.folder, Int64(count), &handles.1), "collections")
    guard let lmdb = handles.0, let sqlite = handles.1 else {
      throw ToolError("a floor has no store")
    }
    self.lmdb = lmdb
    self.sqlite = sqlite
  }

  deinit {
    bf_lists_destroy(lmdb)
    bf_sqlite_lists_destroy(sqlite)
  }

  static func key(_ number: Int) -> String {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(BF_MAP_KEY_BYTES)) { text in
      bf_map_key(Int64(number), text.baseAddress!)
      return String(cString: text.baseAddress!)
    }
  }
}

extension Bench {
  fileprivate var shelfConfiguration: Realm.Configuration {
    Realm.Configuration(
      fileURL: URL(fileURLWithPath: "\(folder)/shelves.realm"), objectTypes: [Shelf.self],
      durability: .relaxed)
  }
}

/// W11 and related: lists, sets and maps with as many elements as there are objects. Workloads that
/// only read come first.
func measureCollections(_ bench: Bench) throws {
  let shelves = try Shelves(bench)
  try measureIteration(bench, shelves)
  try measureMembers(bench, shelves)
  try measureListInserts(bench, shelves)
  try measureListAppends(bench, shelves)
  try measureListAssignments(bench, shelves)
}

/// W11i and W11x: every element of the list, with `for` and by position.
private func measureIteration(_ bench: Bench, _ shelves: Shelves) throws {
  let list = shelves.shelf.list
  let count = Double(bench.objects)
  var sums: [Int64] = [0, 0, 0, 0]
  let medians = try bench.alternate([
    {
      var sum = 0
      let time = benchTime { for value in list { sum &+= value } }
      sums[0] = Int64(sum)
      return time / count
    },
    { try seconds { bf_lists_walk(shelves.lmdb, &sums[1], $0) } },
    { try seconds { bf_sqlite_lists_walk(shelves.sqlite, &sums[2], $0) } },
    {
      var sum = 0
      let time = benchTime { for index in 0..<list.count { sum &+= list[index] } }
      sums[3] = Int64(sum)
      return time / count
    },
  ])
  guard sums.allSatisfy({ $0 == Int64(shelves.sum) }) else {
    throw ToolError("the sums of the lists are \(sums), not \(shelves.sum)")
  }
  bench.add(
    BenchFigure(
      "W11i", "iterate over a list of \(amount(bench.objects)), per element", .seconds,
      ours: medians[0],
      floor: medians[1], sqlite: medians[2], target: .ratio(2)))
  bench.add(
    BenchFigure(
      "W11x", "read that list by position, per element", .seconds, ours: medians[3],
      floor: medians[1]))
}

/// W11s and W11m: members of the set, values of the map.
private func measureMembers(_ bench: Bench, _ shelves: Shelves) throws {
  let lookups = bench.rounds(200_000, tiny: 2000)
  let rows = Int64(bench.objects)
  let (set, map) = (shelves.shelf.set, shelves.shelf.map)
  func scattered(_ number: Int, _ rows: Int64) -> Int { Int(bf_scattered(Int64(number), rows)) - 1 }
  var found: [Int64] = [0, 0, 0]
  func check(_ what: String) throws {
    guard found[0] > 0, found[0] == found[1], found[1] == found[2] else {
      throw ToolError("\(found) of \(lookups) \(what) were found")
    }
  }
  var medians = try bench.alternate([
    {
      found[0] = 0
      let time = benchTime {
        for number in 0..<lookups where set.contains(scattered(number, 3 * rows)) { found[0] += 1 }
      }
      return time / Double(lookups)
    },
    { try seconds { bf_lists_contains(shelves.lmdb, Int64(lookups), rows, &found[1], $0) } },
    { try seconds { bf_sqlite_lists_contains(shelves.sqlite, Int64(lookups), &found[2], $0) } },
  ])
  try check("members")
  bench.add(
    BenchFigure(
      "W11s", "contains, a set of \(amount(bench.objects))", .seconds, ours: medians[0],
      floor: medians[1],
      sqlite: medians[2], target: .ratio(1.5)))
  medians = try bench.alternate([
    {
      found[0] = 0
      let time = benchTime {
        for number in 0..<lookups where map[Shelves.key(scattered(number, rows))] != nil {
          found[0] += 1
        }
      }
      return time / Double(lookups)
    },
    { try seconds { bf_lists_value(shelves.lmdb, Int64(lookups), rows, &found[1], $0) } },
    { try seconds { bf_sqlite_lists_value(shelves.sqlite, Int64(lookups), &found[2], $0) } },
  ])
  try check("keys")
  bench.add(
    BenchFigure(
      "W11m", "value by key, a map of \(amount(bench.objects))", .seconds, ours: medians[0],
      floor: medians[1],
      sqlite: medians[2], target: .ratio(1.5)))
}

/// W11, W11r and W11c: inserts in the middle of the list and at scattered positions, and the total
/// cost of one insert with its commit.
private func measureListInserts(_ bench: Bench, _ shelves: Shelves) throws {
  let (realm, list) = (shelves.realm, shelves.shelf.list)
  // A tenth of the list, which leaves the floor room between its chunks.
  let inserts = bench.rounds(min(100_000, max(200, bench.objects / 10)), tiny: 200)
  // The floor never relabels its chunks, so only that many inserts fit between two.
  let floorInserts = min(inserts, 1000)
  let commits = bench.rounds(300, tiny: 20)
  func measure(_ count: Int, _ position: (Int) -> Int) throws -> Double {
    let time = try benchTime {
      try realm.write {
        for number in 0..<count { list.insert(-number, at: position(number)) }
      }
    }
    return time / Double(count)
  }
  let rows = list.count
  func figure(
    _ id: String, _ title: String, _ target: BenchTarget?, _ sides: [() throws -> Double]
  ) throws {
    let medians = try bench.alternate(rounds: 3, sides)
    bench.add(
      BenchFigure(id, title, .seconds, ours: medians[0], floor: medians[1], target: target))
  }
  try figure(
    "W11", "insert in the middle of a list of \(amount(rows))", .value(1e-6),
    [
      { try measure(inserts) { _ in list.count / 2 } },
      { try seconds { bf_lists_insert(shelves.lmdb, Int64(floorInserts), 0, $0) } },
    ])
  try figure(
    "W11r", "insert at positions all over that list", .value(1e-6),
    [
      { try measure(inserts) { BenchStores.scattered($0, rows) } },
      { try seconds { bf_lists_insert(shelves.lmdb, Int64(inserts), 1, $0) } },
    ])
  try figure(
    "W11c", "one insert in the middle, and its commit", nil,
    [
      {
        let time = try benchTime {
          for _ in 0..<commits { _ = try measure(1) { _ in list.count / 2 } }
        }
        return time / Double(commits)
      },
      { try seconds { bf_lists_commits(shelves.lmdb, Int64(commits), $0) } },
    ])
}

/// W11a: appends elements one by one to an empty list.
private func measureListAppends(_ bench: Bench, _ shelves: Shelves) throws {
  let realm = shelves.realm
  let count = bench.objects
  let medians = try bench.alternate(
    rounds: 3,
    [
      {
        let shelf = Shelf()
        try realm.write { realm.add(shelf) }
        let list = shelf.list
        let time = try benchTime {
          try realm.write { for number in 0..<count { list.append(number) } }
        }
        guard list.count == count else { throw ToolError("elements are missing") }
        return time / Double(count)
      },
      { try seconds { bf_lists_append(shelves.lmdb, Int64(count), $0) } },
      { try seconds { bf_sqlite_lists_append(shelves.sqlite, Int64(count), $0) } },
    ])
  bench.add(
    BenchFigure(
      "W11a", "append to a list one by one, per element", .seconds, ours: medians[0],
      floor: medians[1],
      sqlite: medians[2]))
}

/// W11d: assigns the elements that a list has plus one in the middle; the floor empties and refills
/// it. W11n: assigns other elements only.
private func measureListAssignments(_ bench: Bench, _ shelves: Shelves) throws {
  let realm = shelves.realm
  let count = max(2, bench.objects / 10)
  let shelf = Shelf()
  try realm.write { realm.add(shelf) }
  let list = shelf.list
  func figure(_ id: String, _ title: String, _ next: @escaping (Int) -> [Int]) throws {
    var round = 0
    func measure(_ change: ([Int]) -> Void) throws -> Double {
      try realm.write {
        list.removeAll()
        list.append(objectsIn: 0..<count)
      }
      round += 1
      let elements = next(round)
      let time = try benchTime { try realm.write { change(elements) } }
      guard list.count == elements.count else { throw ToolError("elements are missing") }
      return time / Double(count)
    }
    let medians = try bench.alternate(
      rounds: 3,
      [
        {
          let other = List<Int>()
          return try measure { elements in
            other.append(objectsIn: elements)
            shelf.list = other
          }
        },
        {
          try measure { elements in
            list.removeAll()
            list.append(objectsIn: elements)
          }
        },
      ])
    bench.add(BenchFigure(id, title, .seconds, ours: medians[0], floor: medians[1]))
  }
  try figure("W11d", "assign a list of \(amount(count)) with one more, per element") { round in
    Array(0..<count / 2) + [-round] + Array(count / 2..<count)
  }
  try figure("W11n", "assign a list of \(amount(count)) others, per element") { round in
    (0..<count).map { -$0 - round }
  }
}
