import CTarn
import TarnStore
import TestSupport
import Testing

private let counts = RowCounts(ClassID(5))

private func apply(_ changes: [RowCount], _ environment: Environment) throws {
  try environment.write { transaction throws(StorageError) in
    try counts.apply(changes, in: transaction)
  }
}

private func check(
  _ model: [ObjectKey: Int], _ environment: Environment, _ random: inout SeededRandom
) throws {
  let expected = model.sorted { $0.key < $1.key }
    .map { RowCount(first: $0.key, rows: $0.value) }
  let total = expected.reduce(0) { $0 + $1.rows }
  try TreeTest.withCursor(environment) { cursor throws in
    var found: [RowCount] = []
    try counts.forEach(&cursor) { entry in
      found.append(entry)
      return true
    }
    #expect(found == expected)
    #expect(try counts.problem(listing: expected, &cursor) == nil)
    #expect(try counts.count(&cursor) == total)
    #expect(try counts.select(total, &cursor) == nil)
    for _ in 0..<10 where total > 0 {
      let position = random.below(total)
      let (first, offset, rows) = try #require(try counts.select(position, &cursor))
      let before = expected.prefix { $0.first < first }.reduce(0) { $0 + $1.rows }
      #expect(before + offset == position)
      #expect(offset < rows)
      #expect(rows == model[first]!)
      #expect(try counts.rank(first, &cursor) == before)
    }
    for key in [ObjectKey.smallest, ObjectKey(Int64(random.below(1_000_000))), .largest] {
      let before = expected.prefix { $0.first < key }.reduce(0) { $0 + $1.rows }
      #expect(try counts.rank(key, &cursor) == before)
    }
  }
}

@Suite struct RowCountsTests {
  @Test(arguments: [1_000, 1_000_000, Int.max], TreeTest.seeds)
  func `row counts agree with a dictionary`(keyMax: Int, seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    try TreeTest.withStore { environment in
      for id in [4, 6] as [UInt32] {
        try environment.write { transaction throws(StorageError) in
          try RowCounts(ClassID(id)).apply(
            [RowCount(first: ObjectKey(1), rows: 9)], in: transaction)
        }
      }
      var model: [ObjectKey: Int] = [:]
      for round in 0..<300 {
        var batch: [ObjectKey: Int] = [:]
        let present = Array(model.keys)
        let isShrinking = round % 100 > 60
        for _ in 0..<random.pick([1, 1, 2, 10, 100, 1_000]) {
          let isOld = !present.isEmpty && random.below(10) < (isShrinking ? 9 : 4)
          let key = isOld ? random.pick(present) : ObjectKey(Int64(random.below(keyMax)))
          batch[key] = isShrinking && random.below(4) > 0 ? 0 : random.pick([0, 1, 100, 65_535])
        }
        try apply(
          batch.map { RowCount(first: $0.key, rows: $0.value) }
            .sorted { $0.first < $1.first }, environment)
        for (key, rows) in batch { model[key] = rows > 0 ? rows : nil }
        if round % 10 == 9 { try check(model, environment, &random) }
      }
      try apply(
        model.keys.sorted().map { RowCount(first: $0, rows: 0) }, environment)
      #expect(try TreeTest.contents(environment).count == 2)
    }
  }

  @Test func `clusters that are added at the end fill the pages`() throws {
    try TreeTest.withStore { environment in
      for number in 0..<2_000 {
        try apply(
          [RowCount(first: ObjectKey(Int64(number) * 100), rows: 100)], environment)
      }
      #expect(try TreeTest.contents(environment).count <= 8)
      try TreeTest.withCursor(environment) { cursor throws in
        let found = try #require(try counts.select(123_456, &cursor))
        #expect(found == (ObjectKey(123_400), 56, 100))
        #expect(try counts.rank(ObjectKey(150_000), &cursor) == 150_000)
      }
    }
  }

  @Test(arguments: TreeTest.seeds)
  func `damaged pages are reported and never trap`(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    try TreeTest.withStore { environment in
      try apply(
        (0..<900).map { RowCount(first: ObjectKey($0 * 100), rows: 100) }, environment)
      let pages = try TreeTest.contents(environment)
      for _ in 0..<500 {
        var (key, value) = random.pick(pages)
        for _ in 0...random.below(3) {
          value[random.below(random.pick([24, value.count]))] = UInt8(random.below(256))
        }
        if random.below(5) == 0 { value.removeLast(random.below(value.count)) }
        if random.below(2) == 0, value.count > 12 {
          let sum = value[12...].withUnsafeBytes { tarn_crc32c($0.baseAddress!, $0.count) }
          for byte in 0..<4 { value[8 + byte] = UInt8(truncatingIfNeeded: sum >> (8 * byte)) }
        }
        try TreeTest.put(value, under: key, environment)
        for position in [0, 50_000, 89_999] {
          TreeTest.expectDamageIsReported {
            try TreeTest.withCursor(environment) { cursor throws in
              _ = try counts.select(position, &cursor)
              _ = try counts.rank(ObjectKey(Int64(position)), &cursor)
              _ = try counts.count(&cursor)
            }
          }
        }
        let entry = RowCount(first: ObjectKey(Int64(random.below(90_000))), rows: 3)
        let wholeKey = key
        TreeTest.expectDamageIsReported {
          try environment.write { transaction throws(StorageError) in
            try counts.apply([entry], in: transaction)
            throw StorageError(.corrupted, operation: "test", path: "", detail: "take it back")
          }
        }
        try TreeTest.put(pages.first { $0.key == wholeKey }!.value, under: key, environment)
        key.removeAll()
      }
    }
  }
}
