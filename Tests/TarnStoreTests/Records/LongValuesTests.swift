import TarnStore
import TestSupport
import Testing

private let column = LongValues(ClassID(2), ColumnID(3))

private func put(_ value: [UInt8], _ object: Int64, _ environment: Environment) throws {
  try environment.write { transaction throws(StorageError) in
    try column.delete(ObjectKey(object), in: transaction)
    try value.withUnsafeBufferPointer { value throws(StorageError) in
      try column.put(UnsafeRawBufferPointer(value), ObjectKey(object), in: transaction)
    }
  }
}

private func read(_ object: Int64, _ count: Int, _ environment: Environment) throws -> [UInt8] {
  try TreeTest.withCursor(environment) { cursor throws in
    try column.read(ObjectKey(object), byteCount: count, &cursor)
  }
}

private func check(_ object: Int64, _ count: Int, _ environment: Environment) throws -> Int {
  try TreeTest.withCursor(environment) { cursor throws in
    try column.check(ObjectKey(object), byteCount: count, &cursor)
  }
}

@Suite struct LongValuesTests {
  @Test func `values of any length read back, also instead of others`() throws {
    var random = SeededRandom(seed: 9)
    try TreeTest.withStore { environment in
      let lengths = [0, 1, 4_079, 4_080, 4_081, 8_160, 8_161, 1_000_000, 5_000, 8_160, 1]
      let other = random.bytes(9_000)
      try put(other, 2, environment)
      for length in lengths {
        let value = random.bytes(length)
        try put(value, 1, environment)
        #expect(try read(1, length, environment) == value)
        let pieces = (length + Pieces.byteCountMax - 1) / Pieces.byteCountMax
        #expect(try TreeTest.contents(environment).count == (pieces == 0 ? 4 : pieces + 5))
        #expect(try check(1, length, environment) == (pieces == 0 ? 0 : pieces + 1))
      }
      try environment.write { transaction throws(StorageError) in
        try column.delete(ObjectKey(1), in: transaction)
      }
      #expect(try read(2, 9_000, environment) == other)
      #expect(try TreeTest.contents(environment).count == 4)
    }
  }

  @Test func `a length that does not fit the pieces is damage`() throws {
    try TreeTest.withStore { environment in
      try put([UInt8](repeating: 1, count: 10_000), 1, environment)
      try put([UInt8](repeating: 1, count: 10_000), 2, environment)
      for count in [-1, 1, 9_999, 10_001, 12_240, 100_000, Int.max] {
        #expect(StorageError.code { try read(1, count, environment) } == .corrupted)
        #expect(StorageError.code { try read(2, count, environment) } == .corrupted)
      }
      #expect(StorageError.code { try read(3, 5, environment) } == .corrupted)
      #expect(try read(3, 0, environment).isEmpty)
    }
  }

  @Test func `a changed byte is damage, and so is a value under another one's keys`() throws {
    var random = SeededRandom(seed: 11)
    try TreeTest.withStore { environment in
      for length in [1, 300, 4_080, 4_081, 20_000] {
        try put(random.bytes(length), 1, environment)
        let sound = try TreeTest.contents(environment)
        for (key, value) in sound {
          var changed = value
          changed[Int.random(in: 0..<value.count, using: &random)] ^=
            1 << UInt8.random(in: 0..<8, using: &random)
          try TreeTest.put(changed, under: key, environment)
          #expect(StorageError.code { try check(1, length, environment) } == .corrupted)
          try TreeTest.put(value, under: key, environment)
        }
        #expect(try check(1, length, environment) == sound.count)
      }
      for (key, value) in try TreeTest.contents(environment) {
        var other = key
        other[12] = 2
        try TreeTest.put(value, under: other, environment)
      }
      #expect(StorageError.code { try check(2, 20_000, environment) } == .corrupted)
    }
  }

  /// A library that does not know checksums removes and overwrites pieces while there are some.
  @Test func `a value that an older library writes or deletes leaves no checksum`() throws {
    var random = SeededRandom(seed: 12)
    try TreeTest.withStore { environment in
      for before in [1, 4_080, 4_084, 9_000, 20_000] {
        for after in [1, 4_080, 4_084, 9_000, 20_000, 0] {
          try put(random.bytes(before), 1, environment)
          let value = random.bytes(after)
          try putAsBefore(value, 1, environment)
          #expect(try read(1, after, environment) == value)
          let pieces = (after + Pieces.byteCountMax - 1) / Pieces.byteCountMax
          #expect(try check(1, after, environment) == pieces)
          #expect(try TreeTest.contents(environment).count == pieces)
        }
      }
    }
  }

  private func putAsBefore(_ value: [UInt8], _ object: Int64, _ environment: Environment) throws {
    var pieces: [[UInt8]] = []
    for start in stride(from: 0, to: value.count, by: Pieces.byteCountMax) {
      pieces.append(Array(value[start..<min(start + Pieces.byteCountMax, value.count)]))
    }
    func key(_ piece: Int) -> [UInt8] {
      TreeKey.longValue(
        column.classID, ObjectKey(object), column.column, piece: UInt32(piece)
      ).withBytes { Array($0) }
    }
    try TreeTest.put(pieces.enumerated().map { (key($0), $1) }, environment)
    try environment.write { transaction throws(StorageError) in
      var piece = pieces.count
      while try withBytes(
        of: key(piece),
        { key throws(StorageError) in
          try transaction.delete(key)
        })
      { piece += 1 }
    }
  }
}
