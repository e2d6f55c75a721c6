import CTarn
import TarnStore
import Testing

private func decodeHead(_ bytes: [UInt8]) throws -> HeadRecord {
  try bytes.withUnsafeBytes { try HeadRecord(decoding: $0) }
}

private func decodeClass(_ bytes: [UInt8]) throws -> ClassRecord {
  try bytes.withUnsafeBytes { try ClassRecord(decoding: $0) }
}

private func code(_ body: () throws -> Void) -> StorageError.Code? {
  do {
    try body()
    return nil
  } catch {
    return (error as? StorageError)?.code
  }
}

/// The bytes with a right checksum in their last four.
private func resealed(_ bytes: [UInt8]) -> [UInt8] {
  let body = bytes.dropLast(4)
  let sum = Array(body).withUnsafeBytes { tarn_crc32c($0.baseAddress!, $0.count) }
  return body + (0..<4).map { UInt8(truncatingIfNeeded: sum >> (8 * $0)) }
}

@Suite struct StoreRecordTests {
  private let head: HeadRecord = {
    var head = HeadRecord(historyID: Bytes16(high: 1 << 60, low: 77), commitID: 123)
    head.version = Version(9)
    head.schemaEpoch = 4
    head.schemaVersion = 12
    head.nextCollectionID = CollectionID(3)
    head.durability = 2
    return head
  }()

  @Test func `a head record reads back as it was written`() throws {
    let bytes = head.withEncoded { Array($0) }
    #expect(bytes.count == HeadRecord.byteCount)
    #expect(Array(bytes[24..<32]) == [0x10, 0, 0, 0, 0, 0, 0, 0])
    #expect(try decodeHead(bytes) == head)
  }

  @Test func `no flipped bit of a head record goes unseen`() {
    let bytes = head.withEncoded { Array($0) }
    for bit in 0..<bytes.count * 8 {
      var damaged = bytes
      damaged[bit / 8] ^= 1 << (bit % 8)
      #expect(code { _ = try decodeHead(damaged) } == .corrupted)
    }
    for count in 0..<bytes.count {
      #expect(code { _ = try decodeHead(Array(bytes[..<count])) } == .corrupted)
    }
  }

  @Test func `a newer format and an unknown feature are named as such`() {
    var newer = head.withEncoded { Array($0) }
    newer[4] = 2
    newer.insert(contentsOf: [1, 2, 3], at: 40)
    #expect(code { _ = try decodeHead(resealed(newer)) } == .newerFormat)
    var featured = head
    featured.featureFlags = 1 << 40
    let bytes = featured.withEncoded { Array($0) }
    #expect(code { _ = try decodeHead(bytes) } == .newerFormat)
    var older = head.withEncoded { Array($0) }
    older[4] = 0
    #expect(code { _ = try decodeHead(resealed(older)) } == .corrupted)
  }

  @Test func `a class record reads back and no flipped bit goes unseen`() throws {
    var record = ClassRecord()
    #expect(record.smallestKey > record.largestKey)
    record.nextKey = ObjectKey(5)
    record.rowCount = 1 << 40
    record.smallestKey = .smallest
    record.largestKey = ObjectKey(99)
    let bytes = record.withEncoded { Array($0) }
    #expect(try decodeClass(bytes) == record)
    for bit in 0..<bytes.count * 8 {
      var damaged = bytes
      damaged[bit / 8] ^= 1 << (bit % 8)
      #expect(code { _ = try decodeClass(damaged) } == .corrupted)
    }
    #expect(code { _ = try decodeClass([]) } == .corrupted)
  }
}
