import TarnStore
import Testing
@Suite(.serialized) struct ScratchPure {
  @Test func run() throws {
    var random = SeededGenerator(seed: 1)
    let n = 1_000_000
    func mix(_ k: ObjectKey) -> UInt64 { UInt64(bitPattern: k.rawValue) &* 0x9E37_79B9_7F4A_7C15 }
    func before(_ a: ObjectKey, _ b: ObjectKey) -> Bool { mix(a) < mix(b) }
    var present = (0..<n).map { ObjectKey(Int64($0)) }
    var absent = (n..<2 * n).map { ObjectKey(Int64($0)) }
    present.shuffle(using: &random); absent.shuffle(using: &random)
    var root = OrderedRoot(sorted: present.sorted(by: before))
    for k in [1, 1000, 100_000] {
      let rounds = k == 1 ? 20000 : k == 1000 ? 50 : 7
      var list: [Double] = [], listD: [Double] = []
      for _ in 0..<rounds {
        let at = Int.random(in: 0..<n - k, using: &random)
        let out = Array(present[at..<at + k]), into = Array(absent[at..<at + k])
        for i in 0..<k { present[at + i] = into[i]; absent[at + i] = out[i] }
        let old = root
        let t = cpu()
        let up = try root.updating(removals: out, insertions: into, isOrderedBefore: before); root = up.root
        let t1 = cpu()
        _ = old
        let t2 = cpu()
        _ = CollectionDifference.of(up) { _ in true }
        let t3 = cpu()
        list.append((t1 - t) / 1000); listD.append((t3 - t2) / 1000)
      }
      list.sort(); listD.sort()
      print("BENCH pure k=\(k) apply median", list[rounds / 2], "min", list[0], "diff", listD[rounds / 2])
    }
    root.checkInvariants()
  }
}
