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
        if let after { #expect(Array(cursor.key) == after && Array(cursor.value) == after + [1]) }
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
      #expect(Array(cursor.key) == [7] && Array(cursor.value) == [1])
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
