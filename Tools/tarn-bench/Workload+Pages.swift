import BenchFloors
import Tarn
import ToolSupport

/// W6p, W6pk, W6pf: a page of fifty members that is not observed: the last by an indexed property,
/// the newest by primary key, and the last by the property among the half that matches a filter
/// without an index. Includes building the results and reading two properties of each member. The
/// floor reads as many rows with consecutive ids.
func measurePages(_ bench: Bench) throws {
  let members = try bench.members()
  let stores = try bench.stores()
  let (rounds, size) = (bench.rounds(200, tiny: 5), min(50, bench.objects / 8))
  let pages: [(name: String, title: String, page: () -> Results<Member>)] = [
    (
      "W6p", "the last 50 by an indexed property, built and read",
      { members.sorted(by: \.rank, ascending: false).limit(size) }
    ),
    (
      "W6pk", "the newest 50 by primary key, built and read",
      { members.sorted(by: \._id, ascending: false).limit(size) }
    ),
    (
      "W6pf", "W6p with a condition that half meet",
      { members.where { $0.age < 50 }.sorted(by: \.rank, ascending: false).limit(size) }
    ),
  ]
  var sums = [Double](repeating: 0, count: pages.count)
  var floorSum = 0.0
  // Ranks descend from that of the first member, and correspond to the floor's ids.
  let firsts = [Int64](repeating: Int64(bench.objects - size + 1), count: rounds)
  let medians = try bench.alternate(
    pages.indices.map { index in
      {
        sums[index] = 0
        return benchTime {
          for _ in 0..<rounds {
            for member in pages[index].page() { sums[index] += Double(member.age) + member.score }
          }
        } / Double(rounds)
      }
    } + [
      {
        let time = try seconds {
          bf_lmdb_ranges(stores.lmdb, firsts, Int64(rounds), Int64(size), &floorSum, $0)
        }
        return time / Double(rounds)
      }
    ])
  try check(sums, floorSum, members, size, rounds)
  for (index, page) in pages.enumerated() {
    bench.add(
      BenchFigure(page.name, page.title, .seconds, ours: medians[index], floor: medians[3]))
  }
}

/// Compares the sums with the floor's, and with those of a Swift loop over all members.
private func check(
  _ sums: [Double], _ floorSum: Double, _ members: Results<Member>, _ size: Int, _ rounds: Int
) throws {
  func sum(_ page: some Sequence<Member>) -> Double {
    page.reduce(0) { $0 + Double($1.age) + $1.score } * Double(rounds)
  }
  let newest = Array(members.suffix(size).reversed())
  let old = members.lazy.filter { $0.age < 50 }.prefix(size)
  for (found, expected) in [(sums[0], floorSum), (sums[1], sum(newest)), (sums[2], sum(old))]
  where abs(found - expected) > 1e-6 * expected {
    throw ToolError("the sums of the pages are \(found), not \(expected)")
  }
}
