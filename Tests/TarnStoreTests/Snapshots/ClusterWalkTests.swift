import TestSupport
import Testing

@testable import TarnStore

/// A walk over the clusters of a class is ahead of who uses it: it still gives each of the class
/// once and in order, none of another, and reads no more than it is asked for.
@Suite struct ClusterWalkTests {
  private static let (first, middle, last) = (ClassID(0), ClassID(1), ClassID(2))
  private static let classes = ["First", "Middle", "Last"].map { name in
    ClassDefinition(
      name: name,
      properties: [
        .init(name: "text", type: .string), .init(name: "count", type: .int, isOptional: true),
      ])
  }

  /// Texts so long that a cluster has few rows.
  private static func values(_ number: Int) -> [ColumnID: Value] {
    [
      ColumnID(0): .string("\(number) " + String(repeating: "x", count: 200)),
      ColumnID(1): number % 3 == 0 ? .null : .int(Int64(number)),
    ]
  }

  private static func reader(
    rows: Int, _ file: TemporaryStore
  ) throws -> (reader: SnapshotReader, keys: [ObjectKey]) {
    let store = try file.open(classes)
    var keys: [ObjectKey] = []
    try store.write { session in
      for id in [first, middle, last] {
        for number in 0..<(id == middle ? rows : 40) {
          let key = try session.create(values(number), in: id)
          if id == middle { keys.append(key) }
        }
      }
    }
    return (try SnapshotReader(store.newestSnapshot()), keys)
  }

  /// Columns that a scan may name: those there are, none, and one that no cluster has yet.
  private static let named: [[ColumnID]] = [[], [ColumnID(0), ColumnID(1)], [ColumnID(9)]]

  @Test(arguments: [0, 1, 7, 8, 9, 100, 700])
  func everyRowOnce(rows: Int) throws {
    let file = TemporaryStore()
    let (reader, keys) = try Self.reader(rows: rows, file)
    for columns in Self.named {
      var found: [ObjectKey] = []
      try reader.forEachCluster(in: Self.middle, reading: columns) { cluster in
        for slot in 0..<cluster.image.rowCount { found.append(cluster.image.key(at: slot)) }
        return true
      }
      #expect(found == keys)
    }
  }

  @Test func aRangeOfKeys() throws {
    let file = TemporaryStore()
    let (reader, keys) = try Self.reader(rows: 700, file)
    for range in [0..<1, 350..<351, 200..<500, 699..<700] {
      var found: Set<ObjectKey> = []
      try reader.forEachCluster(
        in: Self.middle, holding: keys[range.lowerBound]...keys[range.upperBound - 1]
      ) { cluster in
        for slot in 0..<cluster.image.rowCount { found.insert(cluster.image.key(at: slot)) }
        return true
      }
      #expect(found.isSuperset(of: keys[range]))
      #expect(found.count < range.count + 200, "clusters far from \(range) were handed out")
    }
  }

  @Test func endingEarlyCountsWhatWasRead() throws {
    let file = TemporaryStore()
    let (reader, _) = try Self.reader(rows: 700, file)
    for most in [1, 2, 8, 11] {
      let before = reader.clustersRead
      var seen = 0
      try reader.forEachCluster(in: Self.middle, reading: [ColumnID(0)]) { _ in
        seen += 1
        return seen < most
      }
      #expect(seen == most)
      #expect(reader.clustersRead - before == most)
    }
  }

  /// Other rows are looked up meanwhile, and another walk goes on within.
  @Test func walksWithinWalks() throws {
    let file = TemporaryStore()
    let (reader, keys) = try Self.reader(rows: 300, file)
    var pairs = 0
    try reader.forEachCluster(in: Self.middle) { outer throws(StorageError) in
      try reader.forEachCluster(in: Self.middle) { inner throws(StorageError) in
        pairs += outer.image.rowCount * inner.image.rowCount
        return true
      }
      let row = try reader.row(keys[150], in: Self.middle)
      #expect(row?.image.key(at: row?.slot ?? 0) == keys[150])
      return true
    }
    #expect(pairs == 300 * 300)
  }
}
