import CTarn
import TarnStore
import TestSupport
import Testing

private let index = PackedIndex(ClassID(3), ColumnID(7))

private func changes(_ random: inout SeededRandom, _ isVariable: Bool) -> PackedIndexChanges {
  var changes = PackedIndexChanges()
  for _ in 0..<random.pick([1, 3, 40, 200]) {
    let object = ObjectKey(Int64(random.below(100_000)))
    let key =
      isVariable
      ? random.bytes(random.below(200)).withUnsafeBytes { OrderKey(bytes: $0) }
      : OrderKey(Int64(random.below(1_000)))
    if random.below(3) == 0 { changes.remove(key, object) } else { changes.add(key, object) }
  }
  changes.sort()
  return changes
}

/// Flips, overwrites, cuts or extends; sometimes with a checksum that fits afterwards.
private func damaged(_ page: [UInt8], _ random: inout SeededRandom) -> [UInt8] {
  var page = page
  for _ in 0...random.below(4) {
    let position =
      random.below(3) == 0 ? random.below(page.count) : random.below(min(page.count, 64))
    page[position] = random.below(2) == 0 ? UInt8(random.below(256)) : page[position] ^ 1
  }
  if random.below(6) == 0 { page.removeLast(random.below(page.count)) }
  if random.below(10) == 0, page.count < 4_000 { page += random.bytes(30) }
  if random.below(2) == 0, page.count > 12 {
    let sum = page[12...].withUnsafeBytes { tarn_crc32c($0.baseAddress!, $0.count) }
    for byte in 0..<4 { page[8 + byte] = UInt8(truncatingIfNeeded: sum >> (8 * UInt32(byte))) }
  }
  return page
}

private func apply(_ changes: PackedIndexChanges, _ environment: Environment) throws {
  try environment.write { transaction throws(StorageError) in
    try index.apply(changes, in: transaction)
  }
}

private func readEverything(_ environment: Environment, _ random: inout SeededRandom) {
  let key = OrderKey(Int64(random.below(1_000)))
  TreeTest.expectDamageIsReported {
    try TreeTest.withCursor(environment) { cursor throws in
      _ = try index.lookup(key, &cursor)
      _ = try index.contains(key, ObjectKey(4), &cursor)
    }
  }
  for descending in [false, true] {
    TreeTest.expectDamageIsReported {
      try TreeTest.withCursor(environment) { cursor throws in
        try index.forEach(descending: descending, &cursor) { key, _ in
          key.count <= OrderKey.byteCountMax
        }
      }
    }
  }
}

@Suite struct PackedIndexDamageTests {
  @Test(arguments: [false, true], TreeTest.seeds)
  func `damaged pages are reported and never trap`(isVariable: Bool, seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    try TreeTest.withStore { environment in
      for _ in 0..<20 { try apply(changes(&random, isVariable), environment) }
      let pages = try TreeTest.contents(environment)
      for _ in 0..<300 {
        let (key, value) = random.pick(pages)
        try TreeTest.put(damaged(value, &random), under: key, environment)
        readEverything(environment, &random)
        let batch = changes(&random, isVariable)
        TreeTest.expectDamageIsReported { try apply(batch, environment) }
        try environment.write { transaction throws(StorageError) in
          try index.removeAll(in: transaction)
        }
        try TreeTest.put(pages, environment)
      }
    }
  }

  @Test func `an edit of a page whose sum is wrong is refused`() throws {
    var random = SeededRandom(seed: 5)
    try TreeTest.withStore { environment in
      try apply(changes(&random, false), environment)
      let (key, value) = try TreeTest.contents(environment)[0]
      var wrong = value
      wrong[8] ^= 1
      try TreeTest.put(wrong, under: key, environment)
      var addition = PackedIndexChanges()
      addition.add(OrderKey(5), ObjectKey(-1))
      #expect(StorageError.code { try apply(addition, environment) } == .corrupted)
    }
  }

  @Test func `a page under a key that is not its first entry's is refused`() throws {
    try TreeTest.withStore { environment in
      var changes = PackedIndexChanges()
      changes.add(OrderKey(5), ObjectKey(1))
      try apply(changes, environment)
      let (key, value) = try TreeTest.contents(environment)[0]
      try TreeTest.put(value, under: key.dropLast() + [2], environment)
      var addition = PackedIndexChanges()
      addition.add(OrderKey(9), ObjectKey(1))
      #expect(StorageError.code { try apply(addition, environment) } == .corrupted)
    }
  }
}
