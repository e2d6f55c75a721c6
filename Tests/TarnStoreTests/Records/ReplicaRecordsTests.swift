import TarnStore
import TestSupport
import Testing

struct ReplicaRecordsTests {
  private func written(_ store: Store, _ records: ReplicaRecords) throws {
    let cursor = try store.openCursor(CursorRequest("replica"))
    try cursor.keep(records)
    cursor.release()
  }

  private func bytes(_ key: ReplicaKey, _ store: Store) throws -> [UInt8]? {
    let snapshot = try store.newestSnapshot()
    return try ReplicaRecords.bytes(key, in: snapshot.transaction)
  }

  @Test(arguments: [0, 1, 3_995, 3_996, 3_997, 8_000, 100_000])
  func `a record is what was kept, however long`(_ count: Int) throws {
    let file = TemporaryStore()
    let store = try file.open()
    let key = ReplicaKey(128, ClassID(3), -5)
    let long = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    var records = ReplicaRecords()
    records.set(key, long)
    try written(store, records)
    #expect(try bytes(key, store) == long)
    #expect(try bytes(ReplicaKey(128, ClassID(3), -4), store) == nil)
    // Nothing is left of it under a shorter one, nor after it was deleted.
    records.set(key, [1, 2])
    try written(store, records)
    #expect(try bytes(key, store) == [1, 2])
    records.set(key, nil)
    try written(store, records)
    #expect(try bytes(key, store) == nil)
    #expect(try TreeCheck(SnapshotReader(store.newestSnapshot())).problems == [])
  }

  @Test func `records of a kind and class come in the order of their numbers`() throws {
    let file = TemporaryStore()
    let store = try file.open()
    var records = ReplicaRecords()
    for number in [Int64.max, 7, -7, .min, 0] {
      records.set(ReplicaKey(1, ClassID(2), number), [UInt8(truncatingIfNeeded: number)])
      records.set(ReplicaKey(1, ClassID(3), number), [9])
      records.set(ReplicaKey(2, ClassID(2), number), [9])
    }
    try written(store, records)
    let snapshot = try store.newestSnapshot()
    var found: [Int64] = []
    try ReplicaRecords.forEach(1, ClassID(2), from: -7, in: snapshot.transaction) { number, _ in
      found.append(number)
      return number < 7
    }
    #expect(found == [-7, 0, 7])
  }

  @Test func `appended records are changed and found like others, in any order`() throws {
    var random = SeededRandom(seed: 7)
    for _ in 0..<20 {
      let file = TemporaryStore()
      let store = try file.open()
      var records = ReplicaRecords()
      var model: [ReplicaKey: [UInt8]?] = [:]
      for step in 0..<60 {
        let kind: UInt8 = random.chance(80) ? 1 : 2
        let number = random.chance(50) ? Int64(step) : Int64(random.below(step + 1))
        let key = ReplicaKey(kind, ClassID(2), number)
        let bytes = random.bytes(random.below(4))
        if random.chance(70) {
          records.append(key, bytes)
          model[key] = .some(bytes)
        } else {
          let changed = random.chance(50) ? bytes : nil
          records.set(key, changed)
          model.updateValue(changed, forKey: key)
        }
        #expect(!records.isEmpty)
        for key in model.keys { #expect(records.change(of: key) == .some(model[key]!)) }
        #expect(records.change(of: ReplicaKey(1, ClassID(2), 60)) == nil)
      }
      try written(store, records)
      for (key, expected) in model { #expect(try bytes(key, store) == expected) }
      #expect(try TreeCheck(SnapshotReader(store.newestSnapshot())).problems == [])
    }
  }

  @Test func `records that are appended fill their pages, and those behind them stay`() throws {
    let file = TemporaryStore()
    let store = try file.open()
    let others = (0..<40).map { ReplicaKey(UInt8($0 % 2 == 0 ? 2 : 128), ClassID(2), Int64($0)) }
    func content(_ key: ReplicaKey) -> [UInt8] {
      [UInt8](repeating: 7, count: key.isLong ? Int(key.number) * 300 : 30)
    }
    var records = ReplicaRecords()
    for key in others { records.set(key, content(key)) }
    try written(store, records)
    let before = store.environment.statistics.leafPages
    func append(_ numbers: Range<Int>, _ bytes: [UInt8]) throws {
      records = ReplicaRecords()
      for number in numbers { records.append(ReplicaKey(1, ClassID(2), Int64(number)), bytes) }
      try written(store, records)
    }
    let (rounds, count) = (10, 1_000)
    for round in 0..<rounds { try append(round * count..<(round + 1) * count, [1, 2, 3, 4]) }
    // Key, value with its checksum, header and place of each.
    let full = rounds * count * (16 + 8 + 8 + 2) / 4_080
    #expect(store.environment.statistics.leafPages - before < full * 11 / 10)
    // Those that are there are replaced.
    try append((rounds - 1) * count..<rounds * count, [5])
    let (first, last) = (ReplicaKey(1, ClassID(2), 0), ReplicaKey(1, ClassID(2), 9_999))
    #expect(try bytes(first, store) == [1, 2, 3, 4])
    #expect(try bytes(last, store) == [5])
    for key in others { #expect(try bytes(key, store) == content(key)) }
    #expect(try TreeCheck(SnapshotReader(store.newestSnapshot())).problems == [])
  }
}
