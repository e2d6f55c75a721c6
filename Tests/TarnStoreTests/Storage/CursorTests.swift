import Foundation
import TestSupport
import Testing

@testable import TarnStore

@Suite struct CursorTests {
  let folder = TemporaryFolder()

  @Test(arguments: [1, 2, 3, 4] as [UInt64])
  func `seeks and steps agree with a sorted array`(seed: UInt64) throws {
    let environment = try Environment.open(path: folder.file("x.realm"))
    defer { environment.close() }
    var random = SeededRandom(seed: seed)
    func randomKey() -> [UInt8] {
      (0..<Int.random(in: 1...3, using: &random)).map { _ in .random(in: 0...9, using: &random) }
    }
    let keys = Set((0..<300).map { _ in randomKey() }).sorted { $0.lexicographicallyPrecedes($1) }
    try environment.put(Dictionary(uniqueKeysWithValues: keys.map { ($0, $0 + [1]) }))

    let transaction = try environment.beginRead()
    defer { transaction.end() }
    var cursor = try Cursor(transaction)
    for _ in 0..<200 {
      let wanted = randomKey()
      let after = keys.first { !$0.lexicographicallyPrecedes(wanted) }
      let before = keys.last { !wanted.lexicographicallyPrecedes($0) }
      try withBytes(wanted) { wanted throws(StorageError) in
        #expect(try cursor.seek(atOrAfter: wanted) == (after != nil))
        if let after {
          #expect(Array(cursor.key) == after)
          #expect(Array(cursor.value) == after + [1])
        }
        #expect(try cursor.seek(atOrBefore: wanted) == (before != nil))
        if let before { #expect(Array(cursor.key) == before) }
      }
    }
    #expect(try cursor.first())
    var met = [Array(cursor.key)]
    while try cursor.next() { met.append(Array(cursor.key)) }
    #expect(met == keys)
    #expect(try cursor.last())
    met = [Array(cursor.key)]
    while try cursor.previous() { met.append(Array(cursor.key)) }
    #expect(met == keys.reversed())
  }

  @Test(.timeLimit(.minutes(30)))
  func `a key out of order ends every walk with an error`() throws {
    let path = folder.file("x.realm")
    let environment = try Environment.open(path: path)
    let marker: [UInt8] = [0xab, 0xcd, 0xef, 0x12]
    try environment.put(
      Dictionary(uniqueKeysWithValues: (0..<20).map { ([7, 0, $0], marker + [$0]) }))
    environment.close()
    // The first key of the page is now above the others: a cursor finds it, a search does not.
    var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    let node = try #require(bytes.range(of: Data([7, 0, 0] + marker + [0])))
    bytes[node.lowerBound + 1] = 0xff
    try bytes.write(to: URL(fileURLWithPath: path))

    let damaged = try Environment.open(path: path)
    defer { damaged.close() }
    func code(_ body: () throws(StorageError) -> Void) -> StorageError.Code? {
      do throws(StorageError) { try body() } catch { return error.code }
      return nil
    }
    #expect(
      code { () throws(StorageError) in
        try damaged.write { transaction throws(StorageError) in
          try withBytes([7]) { start throws(StorageError) in
            try transaction.deleteAll(from: start) { $0.first == 7 }
          }
        }
      } == .corrupted)
    let transaction = try damaged.beginRead()
    defer { transaction.end() }
    var cursor = try Cursor(transaction)
    #expect(try cursor.first())
    #expect(code { () throws(StorageError) in while try cursor.next() {} } == .corrupted)
    #expect(try cursor.last())
    #expect(code { () throws(StorageError) in while try cursor.previous() {} } == .corrupted)
  }

  @Test func `a renewed cursor reads the newer view`() throws {
    let environment = try Environment.open(path: folder.file("x.realm"))
    defer { environment.close() }
    try environment.put([[1]: [1]])
    let old = try environment.beginRead()
    var cursor = try Cursor(old)
    #expect(try cursor.first())
    try environment.put([[1]: [2]])
    let new = try environment.beginRead()
    try cursor.renew(new)
    old.end()
    #expect(try cursor.first())
    #expect(Array(cursor.value) == [2])
  }

  @Test func `a cursor of a write sees the write's changes and ends with it`() throws {
    let environment = try Environment.open(path: folder.file("x.realm"))
    defer { environment.close() }
    try environment.write { transaction throws(StorageError) in
      try transaction.put([1], [7])
      var cursor = try Cursor(transaction)
      #expect(try cursor.last())
      #expect(Array(cursor.key) == [7])
      #expect(Array(cursor.value) == [1])
      try transaction.put([2], [8])
      #expect(try cursor.last())
      #expect(Array(cursor.key) == [8])
    }
    #expect(try environment.get([8]) == [2])
  }

  @Test func `an empty file has no first and no last key`() throws {
    let environment = try Environment.open(path: folder.file("x.realm"))
    defer { environment.close() }
    let transaction = try environment.beginRead()
    var cursor = try Cursor(transaction)
    #expect(try !cursor.first())
    #expect(try !cursor.last())
    try withBytes([1]) { key throws(StorageError) in
      #expect(try !cursor.seek(atOrBefore: key))
    }
  }
}
