import BenchFloors
import Foundation
import Tarn
import ToolSupport

/// W3: finds an object by its primary key and reads two properties.
func measureLookup(_ bench: Bench) throws {
  let stores = try bench.stores()
  let lookups = bench.rounds(200_000, tiny: 2000)
  var sum = 0.0
  let medians = try bench.alternate([
    {
      let time = try benchTime {
        for number in 0..<lookups {
          let person = try stores.person(BenchStores.scattered(number, bench.objects))
          sum += Double(person.age) + person.score
        }
      }
      return time / Double(lookups)
    },
    { try seconds { bf_lmdb_lookup(stores.lmdb, Int64(lookups), $0) } * 1e-9 },
    { try seconds { bf_sqlite_lookup(stores.sqlite, Int64(lookups), $0) } * 1e-9 },
  ])
  guard sum > 0 else { throw ToolError("the persons have no ages") }
  bench.add(
    BenchFigure(
      "W3", "find by primary key, read two properties", .seconds, ours: medians[0],
      floor: medians[1], sqlite: medians[2], target: .ratio(0.7)))
}

/// W4: reads one property of live objects repeatedly.
func measureReads(_ bench: Bench) throws {
  let stores = try bench.stores()
  let people = try (1...100).map { try stores.person($0) }
  let reads = bench.rounds(10_000_000, tiny: 10_000)
  let passes = reads / people.count
  var sums = (0, 0)
  var intFloor = 0.0
  var stringFloor = 0.0
  let ours = try bench.alternate([
    {
      try floor(bf_memory_reads(Int64(reads), &intFloor, &stringFloor))
      return intFloor * 1e-9
    },
    { benchTime { sums.0 &+= readAges(people, passes) } / Double(reads) },
    { benchTime { sums.1 &+= readNames(people, passes) } / Double(reads) },
    { stringFloor * 1e-9 },
  ])
  guard sums.0 > 0, sums.1 > 0 else { throw ToolError("the persons are empty") }
  bench.add(
    BenchFigure(
      "W4", "read an Int of a live object; baseline: of memory", .seconds, ours: ours[1],
      floor: ours[0],
      target: .value(5e-9)))
  bench.add(try measureTrackedReads(bench, floor: ours[0]))
  bench.add(
    BenchFigure(
      "W4s", "read a 12-character String; baseline: of memory", .seconds, ours: ours[2],
      floor: ours[3],
      target: .value(25e-9)))
}

/// W4o: the same where Swift's Observation could track the reads, but does not.
private func measureTrackedReads(_ bench: Bench, floor: Double) throws -> BenchFigure {
  var configuration = bench.configuration("main")
  configuration.tracksObservation = true
  let realm = try Realm(configuration: configuration, scheduler: ManualScheduler())
  let people = Array(realm.objects(Person.self).prefix(100))
  let reads = bench.rounds(1_000_000, tiny: 10_000)
  var sum = 0
  let ours = try bench.alternate([
    { benchTime { sum &+= readAges(people, reads / people.count) } / Double(reads) }
  ])
  guard sum > 0 else { throw ToolError("the persons are empty") }
  return BenchFigure(
    "W4o", "read an Int with Observation on; baseline: of memory", .seconds, ours: ours[0],
    floor: floor)
}

@inline(never)
private func readAges(_ people: [Person], _ passes: Int) -> Int {
  var sum = 0
  for _ in 0..<passes {
    for person in people { sum &+= person.age }
  }
  return sum
}

@inline(never)
private func readNames(_ people: [Person], _ passes: Int) -> Int {
  var sum = 0
  for _ in 0..<passes {
    for person in people { sum &+= person.name.utf8.count }
  }
  return sum
}

/// W5: counts matches without an index; each count evaluates the query again, because the rows of
/// the count before are released.
func measureCounting(_ bench: Bench) throws {
  let stores = try bench.stores()
  var someone = bf_person()
  bf_person_make(Int64(bench.objects / 2), &someone)
  let name = benchText(&someone.name)
  let part = String(name.prefix(2))
  let people = { stores.realm.objects(Person.self) }
  func measure(
    _ id: String, _ title: String, _ query: bf_query, _ text: String, _ target: Double,
    _ count: () -> Int
  ) throws {
    var expected: Int64 = 0
    let floor = try seconds {
      bf_lmdb_scan(
        bench.folder, Int64(bench.objects), Int32(query.rawValue), text, &expected, $0)
    }
    var found = 0
    let ours = (0..<5).map { _ in benchTime { found = count() } }.min() ?? 0
    guard found == expected else {
      throw ToolError("\(title): \(found) match here and \(expected) on the floor")
    }
    bench.add(
      BenchFigure(id, title, .seconds, ours: ours, floor: floor, target: .ratio(target)))
  }
  try measure("W5", "count age == 42", BF_AGE_IS_42, "", 0.6) {
    people().where { $0.age == 42 }.count
  }
  try measure("W5n", "count name == x", BF_NAME_IS, name, 1) {
    people().where { $0.name == name }.count
  }
  try measure("W5c", "count name CONTAINS xy", BF_NAME_CONTAINS, part, 1) {
    people().where { $0.name.contains(part) }.count
  }
  try measure("W5a", "count age > 30 AND score < 0.5", BF_AGE_AND_SCORE, "", 1) {
    people().where { $0.age > 30 && $0.score < 0.5 }.count
  }
}

/// W6: sorts all persons and reads the first.
func measureSorting(_ bench: Bench) throws {
  let stores = try bench.stores()
  let people = stores.realm.objects(Person.self)
  func measure(
    _ id: String, _ title: String, _ byName: Int32, _ target: Double,
    _ first: @escaping () -> Person?
  ) throws {
    var found: [Int64] = [0, 0, 0]
    let medians = try bench.alternate(
      rounds: 3,
      [
        { benchTime { found[0] = Int64(first()?._id ?? 0) } },
        { try seconds { bf_lmdb_sort(stores.lmdb, byName, &found[1], $0) } },
        { try seconds { bf_sqlite_sort(stores.sqlite, byName, &found[2], $0) } },
      ])
    guard found[0] == found[1] else {
      throw ToolError("\(title): person \(found[0]) is first here and \(found[1]) on the floor")
    }
    bench.add(
      BenchFigure(
        id, title, .seconds, ours: medians[0], floor: medians[1], sqlite: medians[2],
        target: .ratio(target)))
  }
  try measure("W6", "sort by age, read the first", 0, 0.3) { people.sorted(by: \.age).first }
  try measure("W6n", "sort by name, read the first", 1, 0.4) { people.sorted(by: \.name).first }
}
