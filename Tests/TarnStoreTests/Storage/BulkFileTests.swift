import Foundation
import TestSupport
import Testing

@testable import TarnStore

@Suite struct BulkFileTests {
  private let folder = TemporaryFolder()
  private var path: String { folder.file("x.realm") }

  private static let entries: [(key: [UInt8], value: [UInt8])] = (0..<6_000).map { number in
    let key = [UInt8(number >> 8), UInt8(number & 255)] + [UInt8](repeating: 7, count: number % 30)
    return (key, [UInt8](repeating: UInt8(number & 255), count: number % 40 == 0 ? 4_000 : 90))
  }

  private func fill(_ number: UInt64?, batch: Int) throws -> StoreHeader {
    let file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    defer { close(file) }
    let bulk = try BulkFile(file, path: path, roomFor: 1 << 20, batchByteCount: batch)
    for (key, value) in Self.entries {
      try withBytes(key) { key throws(StorageError) in
        try withBytes(value) { value throws(StorageError) in try bulk.append(value, forKey: key) }
      }
    }
    let byteCount = try bulk.finish(transactionID: number)
    #expect(Int(FileFacts.at(path)?.byteCount ?? 0) == byteCount)
    return try #require(try StoreHeader.read(descriptor: file, path: path))
  }

  /// With fewer, as many and more transactions than the number that the file continues after.
  @Test(arguments: [1, 2, 5, 40, 1_000] as [UInt64])
  func `both headers have the whole tree, and the number goes on`(_ number: UInt64) throws {
    let header = try fill(number, batch: 64 << 10)
    #expect(header.transactionID == number)
    #expect(try Environment.verifyPages(path: path).problems == [])
    // The other header alone.
    var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    for offset in 0..<8 { bytes[Int(number & 1) * 4096 + 144 + offset] = 0 }
    let older = try folder.file("older.realm", bytes)
    let pages = try Environment.verifyPages(path: older)
    #expect(pages.problems == [] || number == 1)
    let environment = try Environment.open(path: path)
    defer { environment.close() }
    #expect(try TreeTest.contents(environment).elementsEqual(Self.entries) { $0 == $1 })
    for round in 0..<4 { try TreeTest.put([UInt8(round)], under: [0xff], environment) }
    #expect(environment.newestTransactionIDHint == number + 4)
    #expect(try environment.verifyPages().problems == [])
  }

  @Test func `keys out of order are damage`() throws {
    let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    defer { close(file) }
    let bulk = try BulkFile(file, path: path, roomFor: 1 << 20)
    func add(_ key: UInt8) throws {
      try withBytes([key]) { key throws(StorageError) in try bulk.append(key, forKey: key) }
    }
    try add(2)
    #expect(StorageError.code { try add(1) } == .corrupted)
    #expect(StorageError.code { try add(2) } == .corrupted)
  }
}
