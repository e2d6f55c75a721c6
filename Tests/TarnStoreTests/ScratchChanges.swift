import TarnStore
import Testing
func bench(_ name: String, _ n: Int, runs: Int = 7, _ body: () -> Void) {
  var best: [Double] = []
  let clock = ContinuousClock()
  _ = clock; for _ in 0..<runs { let t = cpu(); body(); best.append(cpu() - t) }
  best.sort()
  print("BENCH \(name): median \(best[runs/2] / Double(n)) ns/op  (min \(best[0] / Double(n)))  total \(best[runs/2]/1e6) ms")
}
@Suite(.serialized) struct ScratchChanges {
  @Test func run() throws {
    var random = SeededGenerator(seed: 1)
    let keys = (0..<100_000).map { _ in ObjectKey(Int64.random(in: 0..<1_000_000, using: &random)) }
    let id = ClassID(2), col = ColumnID(3)
    let r = ChangeRecorder()
    bench("touch scattered 100k", 100_000) { r.reset(); for k in keys { r.touch(id, k, col) } }
    bench("touch 2 columns alternating", 200_000) { r.reset(); for k in keys { r.touch(id, k, col); r.touch(id, k, ColumnID(5)) } }
    bench("insert 1M sequential", 1_000_000) { r.reset(); for k in 0..<1_000_000 { r.insert(id, ObjectKey(Int64(k))) } }
    bench("insert 1M + 7 touches", 1_000_000) { r.reset(); for k in 0..<1_000_000 { let key = ObjectKey(Int64(k)); r.insert(id, key); for c in 0..<7 { r.touch(id, key, ColumnID(UInt16(c))) } } }
    bench("one touch: reset, touch, changeSet", 10_000) { for k in 0..<10_000 { r.reset(); r.touch(id, keys[k], col); _ = r.changeSet(from: Version(1), to: Version(2)) } }
    r.reset(); for k in keys { r.touch(id, k, col) }
    bench("changeSet of 100k scattered", 1) { _ = r.changeSet(from: Version(1), to: Version(2)) }
    let big = r.changeSet(from: Version(1), to: Version(2))
    r.reset(); r.touch(id, keys[0], col)
    let one = r.changeSet(from: Version(2), to: Version(3))
    let two = ChangeSet(from: Version(3), to: Version(4), classes: one.classes)
    bench("merge 1 + 1", 10_000) { for _ in 0..<10_000 { _ = one.merging(two) } }
    bench("merge 100k + 1", 1) { _ = big.merging(one) }
    let meta = ChangeRecord.Meta(historyID: Bytes16(high: 1, low: 2), commitID: 3, transactionID: 4, schemaEpoch: 5)
    bench("encode one", 10_000) { for _ in 0..<10_000 { _ = try? ChangeRecord.encode(one, meta) } }
    bench("encode 100k", 1) { _ = try? ChangeRecord.encode(big, meta) }
    let p = try ChangeRecord.encode(one, meta)
    print("BENCH one record bytes", p[0].bytes.count)
    let pb = try ChangeRecord.encode(big, meta)
    print("BENCH big record bytes", pb.reduce(0) { $0 + $1.bytes.count }, pb.count)
    p[0].bytes.withUnsafeBytes { b in
      bench("decodeHeader one", 10_000) { for _ in 0..<10_000 { _ = try? ChangeRecord.decodeHeader(b, version: Version(3)) } }
      bench("decode one", 10_000) { for _ in 0..<10_000 { _ = try? ChangeRecord.decode(version: Version(3)) { (f, c) throws(StorageError) in b } } }
    }
    bench("KeySet from 100k scattered", 1) { _ = KeySet(keys) }
    let set = KeySet(keys)
    bench("contains in 95k", 100_000) { var n = 0; for k in keys where set.contains(k) { n += 1 }; if n == 3 { print() } }
  }
}
