import TarnStore
import TestSupport
import Testing

@Suite struct KeyedRootBuilderTests {
  private let schema = ClusterFixture.schema([(.int, false)])

  private func bytes(_ keys: [Int64]) throws -> [UInt8] {
    let cluster = WorkingCluster(schema)
    for key in keys { cluster.insert(ObjectKey(key)) }
    var model = ClusterModel(schema)
    return try model.encode(cluster)[0].bytes
  }

  /// Clusters with and without gaps, beginning anywhere, in order or not.
  @Test(arguments: 0..<12 as Range<UInt64>)
  func `a root has the rows whose bits are set`(_ seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    var next: Int64 = seed % 3 == 0 ? -700 : (seed % 3 == 1 ? 0 : .max - 4000)
    var clusters: [[Int64]] = []
    for _ in 0..<8 {
      let step = random.chance(50) ? 1 : Int64(1 + random.below(3))
      next += Int64(random.below(100))
      clusters.append((0..<Int64(1 + random.below(130))).map { next + $0 * step })
      next = clusters.last!.last! + 1
    }
    if seed >= 9 { clusters.shuffle(using: &random) }
    var builder = KeyedRootBuilder()
    var expected: [Int64] = []
    for keys in clusters {
      var matches = [UInt64](repeating: 0, count: (keys.count + 63) / 64)
      for slot in keys.indices where random.chance(60) {
        matches[slot >> 6] |= 1 << UInt64(slot & 63)
        expected.append(keys[slot])
      }
      try ClusterFixture.validated(bytes(keys)) { image in
        #expect(image.rowCount == keys.count)
        matches.withUnsafeBufferPointer { builder.append(image, $0.baseAddress!) }
      }
    }
    let root = builder.root()
    root.checkInvariants()
    #expect(root.keys.map(\.rawValue) == expected.sorted())
  }
}
