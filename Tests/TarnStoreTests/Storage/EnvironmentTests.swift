import Foundation
import TestSupport
import Testing

@testable import TarnStore

@Suite struct EnvironmentTests {
  let folder = TemporaryFolder()
  var path: String { folder.file("x.realm") }

  @Test func `what one write stored, the next read shows`() throws {
    let environment = try Environment.open(path: path)
    defer { environment.close() }
    try environment.put([[1]: [10, 11], [2]: []])
    #expect(try environment.get([1]) == [10, 11])
    #expect(try environment.get([2]) == [])
    #expect(try environment.get([3]) == nil)
  }

  @Test func `a read transaction keeps its view while others write`() throws {
    let environment = try Environment.open(path: path)
    defer { environment.close() }
    try environment.put([[1]: [1]])
    let before = try environment.beginRead()
    try environment.put([[1]: [2]])
    #expect(try before.get([1]) == [1])
    #expect(try environment.get([1]) == [2])
    #expect(environment.readers().count == 1)
    #expect(environment.oldestReaderTransactionID == before.transactionID)
    before.end()
    before.end()
    #expect(environment.readers().isEmpty)
  }

  @Test func `a body that throws leaves the file as it was`() throws {
    let environment = try Environment.open(path: path)
    defer { environment.close() }
    try environment.put([[1]: [1]])
    let failure = StorageError(.conflict, operation: "test", path: "", detail: "on purpose")
    #expect(throws: failure) {
      try environment.write { transaction throws(StorageError) in
        try transaction.put([9], [1])
        throw failure
      }
    }
    #expect(try environment.get([1]) == [1])
    try environment.put([[1]: [2]])
    #expect(try environment.get([1]) == [2])
  }

  @Test func `a key can be removed once`() throws {
    let environment = try Environment.open(path: path)
    defer { environment.close() }
    try environment.put([[5]: [7, 8, 9]])
    let wasThere = try environment.write { transaction throws(StorageError) -> [Bool] in
      try withBytes([5]) { key throws(StorageError) in
        [try transaction.delete(key), try transaction.delete(key)]
      }
    }
    #expect(wasThere == [true, false])
    #expect(try environment.get([5]) == nil)
  }

  @Test func `a second opening gives the same object, and a last close closes`() throws {
    let first = try Environment.open(path: path)
    let second = try Environment.open(path: folder.path + "/./x.realm")
    #expect(first === second)
    let transaction = try first.beginRead()
    first.close()
    second.close()
    #expect(StorageError.code { try second.beginRead() } == .failed)
    // The live transaction still reads; the file closes when it ends.
    #expect(try transaction.get([1]) == nil)
    transaction.end()
    let third = try Environment.open(path: path)
    #expect(third !== first)
    third.close()
  }

  @Test func `an error of LMDB's or the system's becomes one of ours, without LMDB's words`() {
    let cases: [(Int32, StorageError.Code)] = [
      (ENOSPC, .diskFull), (EDQUOT, .diskFull), (EACCES, .permissionDenied),
      (EROFS, .permissionDenied), (ENOENT, .notFound), (ENOMEM, .addressSpace), (EIO, .inputOutput),
      (-30797, .corrupted), (-30796, .corrupted), (-30795, .failed), (-30794, .newerFormat),
      (-30792, .addressSpace), (-30785, .addressSpace), (-30790, .readersFull),
      (-30781, .invalidInput), (-30789, .inputOutput),
    ]
    for (number, code) in cases {
      let error = StorageError(lmdb: number, operation: "test", path: "x")
      #expect(error.code == code, "\(number)")
      #expect(!error.description.contains("MDB"))
    }
  }

  @Test func `a key of no length or too much is refused`() throws {
    let environment = try Environment.open(path: path)
    defer { environment.close() }
    for count in [0, 512] {
      let error = #expect(throws: StorageError.self) {
        try environment.put([[UInt8](repeating: 1, count: count): [1]])
      }
      #expect(error?.code == .invalidInput)
    }
  }

  @Test func `less address space is taken where the options say so, and its end is named`() throws {
    var options = EnvironmentOptions()
    options.mapByteCount = 1 << 20
    let environment = try Environment.open(path: path, options: options)
    defer { environment.close() }
    let value = [UInt8](repeating: 7, count: 4000)
    let error = #expect(throws: StorageError.self) {
      for round in 0..<64 {
        try environment.write { transaction throws(StorageError) in
          for n in 0..<8 { try transaction.put(value, [UInt8(round), UInt8(n)]) }
        }
      }
    }
    #expect(error?.code == .addressSpace)
    #expect(try environment.get([0, 0]) == value)
    let report = try Environment.verifyPages(path: path)
    #expect(report.isSound)
  }

  @Test func `the file is never shorter than its last page after a commit`() throws {
    let environment = try Environment.open(path: path)
    defer { environment.close() }
    for seed in [1, 2, 3] as [UInt64] {
      var random = SeededRandom(seed: seed)
      for _ in 0..<40 {
        try environment.write { transaction throws(StorageError) in
          for _ in 0..<30 {
            let key = [UInt8.random(in: 1...99, using: &random)]
            if Bool.random(using: &random) {
              try transaction.put([UInt8](repeating: 1, count: 3000), key)
            } else {
              _ = try withBytes(key) { key throws(StorageError) in try transaction.delete(key) }
            }
          }
        }
        let statistics = environment.statistics
        #expect(
          statistics.fileByteCount >= statistics.pageCount * statistics.pageByteCount)
      }
    }
    #expect(try Environment.verifyPages(path: path).problems == [])
  }

  @Test func `reads and writes of many threads agree`() async throws {
    let environment = try Environment.open(path: path)
    defer { environment.close() }
    try environment.put([[1]: [0], [2]: [0]])
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        group.addTask {
          for _ in 0..<200 {
            guard let transaction = try? environment.beginRead() else { return }
            let pair = [try? transaction.get([1]), try? transaction.get([2])]
            #expect(pair[0] == pair[1])
            transaction.end()
          }
        }
      }
      group.addTask {
        for n in 0..<200 { try? environment.put([[1]: [UInt8(n)], [2]: [UInt8(n)]]) }
      }
    }
    #expect(try environment.get([1]) == [199])
  }
}
