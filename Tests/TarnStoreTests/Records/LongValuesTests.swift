import TarnStore
import TestSupport
import Testing

private let column = LongValues(ClassID(2), ColumnID(3))

private func put(_ value: [UInt8], _ object: Int64, _ environment: Environment) throws {
  try environment.write { transaction throws(StorageError) in
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
        #expect(try TreeTest.contents(environment).count == pieces + 3)
      }
      try environment.write { transaction throws(StorageError) in
        try column.delete(ObjectKey(1), in: transaction)
      }
      #expect(try read(2, 9_000, environment) == other)
      #expect(try TreeTest.contents(environment).count == 3)
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

  @Test func `pieces can be read until one has seen enough`() throws {
    try TreeTest.withStore { environment in
      try put([UInt8](repeating: 1, count: 20_000), 1, environment)
      var seen = 0
      try TreeTest.withCursor(environment) { cursor throws in
        try column.forEachPiece(ObjectKey(1), byteCount: 20_000, &cursor) { piece in
          seen += piece.count
          return seen < 8_000
        }
      }
      #expect(seen == 2 * Pieces.byteCountMax)
    }
  }
}
