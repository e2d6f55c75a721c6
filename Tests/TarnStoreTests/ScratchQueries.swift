import TarnStore
import Testing
import Glibc
func cpu() -> Double { var t = timespec(); clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); return Double(t.tv_sec) * 1e9 + Double(t.tv_nsec) }
@Suite(.serialized) struct ScratchQueries {
  @Test func run() throws {
    var random = SeededGenerator(seed: 1)
    for n in [10_000, 1_000_000] {
      print("BENCH --- n =", n)
      // values per key: sort by values[key], then key
      var values = (0..<n * 2).map { _ in Int32.random(in: 0..<1_000_000_000, using: &random) }
      let vp = values.withUnsafeMutableBufferPointer { b -> UnsafeMutablePointer<Int32> in
        let p = UnsafeMutablePointer<Int32>.allocate(capacity: n * 2); p.initialize(from: b.baseAddress!, count: n * 2); return p }
      func before(_ a: ObjectKey, _ b: ObjectKey) -> Bool {
        let x = vp[Int(a.rawValue)], y = vp[Int(b.rawValue)]
        return x != y ? x < y : a < b
      }
      let sorted = (0..<n).map { ObjectKey(Int64($0 * 2)) }.sorted(by: before)
      bench("bulk build sorted", 1, runs: 5) { _ = OrderedRoot(sorted: sorted) }
      var root = OrderedRoot(sorted: sorted)
      print("BENCH bytes/row", Double(root.memoryBytes) / Double(n))
      let keyed = OrderedRoot(keyed: KeySet(sorted))
      bench("bulk build keyed", 1, runs: 5) { _ = OrderedRoot(keyed: KeySet(sorted)) }
      print("BENCH keyed bytes/row", Double(keyed.memoryBytes) / Double(n))
      let some = (0..<10_000).map { _ in sorted[Int.random(in: 0..<n, using: &random)] }
      bench("position(of:) random", 10_000) { var s = 0; for k in some { s &+= root.position(of: k)! }; if s == 1 { print() } }
      bench("keyed position(of:) random", 10_000) { var s = 0; for k in some { s &+= keyed.position(of: k)! }; if s == 1 { print() } }
      bench("key(at:) random", 10_000) { for k in some { _ = root.key(at: Int(k.rawValue) / 2) } }
      bench("keyed key(at:) random", 10_000) { for k in some { _ = keyed.key(at: Int(k.rawValue) / 2) } }
      bench("forEachKey all", n) { var s: Int64 = 0; root.forEachKey(in: 0..<n) { s &+= $0.rawValue; return true }; if s == 1 { print() } }
      var compares = 0
      for k in [1, 1000, 100_000] where k < n {
        var totalApply = 0.0, totalDiff = 0.0, bestA = 1e18, bestD = 1e18
        let rounds = k == 1 ? 5000 : k == 1000 ? 50 : 7
        var list: [Double] = [], listD: [Double] = []
        for _ in 0..<rounds {
          var set = Set<Int64>()
          while set.count < k { set.insert(Int64.random(in: 0..<Int64(n), using: &random) * 2) }
          let keys = set.map { ObjectKey($0) }
          for key in keys { vp[Int(key.rawValue)] = Int32.random(in: 0..<1_000_000_000, using: &random) }
          let old = root
          compares = 0
          let t0 = cpu()
          let up = try root.updating(removals: [], insertions: keys) { a, b in compares += 1; return before(a, b) }
          root = up.root; let t1 = cpu()
          _ = old
          let t2 = cpu()
          let d = CollectionDifference.of(up) { _ in true }
          let t3 = cpu()
          if d.isEmpty { print("?") }
          func ns(_ d: Double) -> Double { d }
          let a = ns(t1 - t0), b = ns(t3 - t2)
          totalApply += a; totalDiff += b; bestA = min(bestA, a); bestD = min(bestD, b)
          list.append(a); listD.append(b)
        }
        list.sort(); listD.sort()
        print("BENCH k=\(k): apply median \(list[rounds/2]/1000) us (min \(bestA/1000)), diff median \(listD[rounds/2]/1000) us (min \(bestD/1000)) compares \(compares)")
      }
      root.checkInvariants()
      print("BENCH bytes/row after", Double(root.memoryBytes) / Double(n), compares)
      var kr = keyed
      var list: [Double] = []
      for _ in 0..<2000 {
        let key = ObjectKey(Int64.random(in: 0..<Int64(n * 2), using: &random))
        let t = cpu()
        kr = kr.contains(key) ? kr.applying(removals: [key], insertions: []) : kr.applying(removals: [], insertions: [key])
        let d = cpu() - t
        list.append(d / 1000)
      }
      list.sort(); print("BENCH keyed k=1 apply median", list[1000], "us")
    }
  }
}
