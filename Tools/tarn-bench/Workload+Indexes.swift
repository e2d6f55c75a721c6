import BenchFloors
import Foundation
import Tarn
import ToolSupport

/// An object with an indexed property whose values are all different and unordered.
class Member: Object {
  @Persisted(primaryKey: true) var _id: Int
  @Persisted(indexed: true) var rank = 0
  @Persisted var age = 0
  @Persisted var score = 0.0
}

/// W5q, W5i, W5y: objects by primary key or by an indexed property, from the results to the object,
/// and the cost of building such results. The floor is that of W3.
func measureIndexedLookups(_ bench: Bench) throws {
  let (members, count) = (try bench.members(), bench.objects)
  let stores = try bench.stores()
  let lookups = bench.rounds(5000, tiny: 50)
  var round = 0
  var building: [Double] = []
  func ours(_ query: @escaping (Int) -> Results<Member>) -> () throws -> Double {
    {
      round += 1
      var results: [Results<Member>] = []
      results.reserveCapacity(lookups)
      building.append(
        benchTime {
          for number in 0..<lookups {
            results.append(query(BenchStores.scattered(round * lookups + number, count)))
          }
        } / Double(lookups))
      var found = 0
      let time = benchTime { for one in results where one.first != nil { found += 1 } }
      guard found == lookups else { throw ToolError("\(found) of \(lookups) are found") }
      return time / Double(lookups)
    }
  }
  let medians = try bench.alternate([
    ours { id in members.where { $0._id == id } },
    ours { id in members.where { $0.rank == Member.rank(of: id, among: count) } },
    { try seconds { bf_lmdb_lookup(stores.lmdb, Int64(lookups), $0) } * 1e-9 },
  ])
  bench.add(
    BenchFigure(
      "W5q", "first object where primary key == x", .seconds, ours: medians[0], floor: medians[2],
      target: .ratio(3)))
  bench.add(
    BenchFigure(
      "W5i", "first object where an indexed property == x", .seconds, ours: medians[1],
      floor: medians[2],
      target: .ratio(3)))
  bench.add(
    BenchFigure(
      "W5y", "build results of such a query", .seconds, ours: Statistics.median(building),
      target: .value(3e-6)))
}

/// W5r: a hundred objects by a range of an indexed property, in its order; reads two properties of
/// each.
func measureIndexedRange(_ bench: Bench) throws {
  let (members, count) = (try bench.members(), bench.objects)
  let stores = try bench.stores()
  let (ranges, width) = (bench.rounds(500, tiny: 10), min(100, bench.objects / 4))
  let firsts = (0..<ranges).map { BenchStores.scattered($0, count - width) }
  let floorFirsts = firsts.map { Int64($0) }
  var sums = (0.0, 0.0)
  let medians = try bench.alternate([
    {
      sums.0 = 0
      return benchTime {
        for first in firsts {
          let found = members.where { $0.rank.contains(first..<first + width) }
          for member in found.sorted(by: \.rank) { sums.0 += Double(member.age) + member.score }
        }
      } / Double(ranges)
    },
    {
      let time = try seconds {
        bf_lmdb_ranges(
          stores.lmdb, floorFirsts, Int64(ranges), Int64(width), &sums.1, $0)
      }
      return time / Double(ranges)
    },
  ])
  guard abs(sums.0 - sums.1) < 1e-6 * sums.1 else {
    throw ToolError("the sums of the ranges are \(sums.0) here and \(sums.1) on the floor")
  }
  bench.add(
    BenchFigure(
      "W5r", "100 objects by a range of an index, in its order", .seconds, ours: medians[0],
      floor: medians[1], target: .ratio(3)))
}

/// W6i, W6w: the first of all objects by an indexed property; the same inside a write that has
/// changed the property of a hundred objects.
func measureFirstByIndex(_ bench: Bench) throws {
  let members = try bench.members()
  let stores = try bench.stores()
  let rounds = bench.rounds(1000, tiny: 10)
  var (found, foundWriting, expected) = (0, 0, Int64(0))
  func first(_ found: inout Int) -> Double {
    benchTime {
      for _ in 0..<rounds { found = members.sorted(by: \.rank).first?.rank ?? 0 }
    } / Double(rounds)
  }
  let changed = Array(members.prefix(100))
  let medians = try bench.alternate([
    { first(&found) },
    {
      let realm = members.realm!
      realm.beginWrite()
      defer { realm.cancelWrite() }
      for (number, member) in changed.enumerated() { member.rank = -number }
      return first(&foundWriting)
    },
    { try seconds { bf_lmdb_first(stores.lmdb, Int64(rounds), &expected, $0) } / Double(rounds) },
  ])
  guard found == Int(expected), foundWriting == 1 - changed.count else {
    throw ToolError("\(found) and \(foundWriting) are first, not \(expected) and the last written")
  }
  for (name, title, time) in [
    ("W6i", "sort by an indexed property, read the first", medians[0]),
    ("W6w", "W6i in a write that has changed 100 objects", medians[1]),
  ] {
    bench.add(BenchFigure(name, title, .seconds, ours: time, floor: medians[2]))
  }
}

extension Member {
  /// The ranks are a permutation of 1...count, so they correspond to the floor's ids.
  static func rank(of id: Int, among count: Int) -> Int { count + 1 - id }
}

extension Bench {
  /// All members; the one with a rank has the values of the person with that number.
  func members() throws -> Results<Member> {
    var configuration = configuration("members")
    configuration.objectTypes = [Member.self]
    let realm = try Realm(configuration: configuration, scheduler: scheduler)
    let members = realm.objects(Member.self)
    if !members.isEmpty { return members }
    try realm.write {
      var values = bf_person()
      for id in 1...objects {
        let member = Member()
        member._id = id
        member.rank = Member.rank(of: id, among: objects)
        bf_person_make(Int64(member.rank), &values)
        member.age = Int(values.age)
        member.score = values.score
        realm.add(member)
      }
    }
    return members
  }
}
