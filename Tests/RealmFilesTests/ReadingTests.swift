import Foundation
import RealmFileWriter
import RealmFixtures
import TestSupport
import Testing

@testable import RealmFiles

/// Files that the peer's library wrote, compared with what that library reads in them.
@Suite struct ReadingTests {
  /// The first line that differs, for a message that can be read.
  private func expect(
    _ lines: [String], toEqual dump: [String], _ position: SourceLocation = #_sourceLocation
  ) {
    let pair = zip(lines, dump).first { $0 != $1 }
    #expect(pair?.0 == pair?.1, sourceLocation: position)
    #expect(lines.count == dump.count, sourceLocation: position)
  }

  @Test(arguments: RealmFixture.all)
  func aFileIsReadAsThePeerReadsIt(_ fixture: RealmFixture) throws {
    let file = try RealmFile(fixture.path, key: fixture.key)
    expect(
      try RealmDump.lines(of: file, all: fixture.hasAllTables), toEqual: try fixture.dump)
  }

  /// A check by hand: the peer's own files are not part of the project. `TARN_REALM_FILES` names a
  /// folder with files and their dumps; those without a dump are refused, or read to the end.
  @Test(.enabled(if: ProcessInfo.processInfo.environment["TARN_REALM_FILES"] != nil))
  func filesOfAFolderAreReadAsThePeerReadsThem() throws {
    let folder = try #require(ProcessInfo.processInfo.environment["TARN_REALM_FILES"])
    let names = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
    for name in names where name.hasSuffix(".realm") {
      let path = folder + "/" + name.dropLast(6)
      let hasDump = names.contains { $0.hasPrefix(name.dropLast(6) + ".jsonl") }
      do {
        let file = try RealmFile(folder + "/" + name)
        let lines = try RealmDump.lines(of: file, all: true)
        print("\(name): format \(file.format), \(lines.count) lines")
        guard hasDump else { continue }
        let dump = try RealmFixture.dump(path)
        let isAll = dump.filter { $0.hasPrefix(#"{"class""#) }.count == file.classes.count
        expect(isAll ? try RealmDump.lines(of: file) : lines, toEqual: dump)
      } catch let error as RealmFileError {
        print("\(name): \(error)")
        #expect(!hasDump, "\(name): \(error)")
      }
    }
  }

  @Test(arguments: [0, 1, 255, 256, 257, 65_536, 66_000])
  func theGeneratedFileHasItsObjects(_ count: Int) throws {
    let folder = TemporaryFolder()
    try ItemFile.write(to: folder.file("items.realm"), count: count)
    let file = try RealmFile(folder.file("items.realm"))
    let table = try #require(file.classes.first)
    #expect(table.columns.map(\.name) == ["a", "b", "c", "d", "e", "f", "g", "h"])
    var objects = try RealmObjects(file, table)
    #expect(objects.count == count)
    var number = 0
    while let cluster = try objects.next(trimming: true) {
      for row in 0..<cluster.count {
        try #require(try cluster.key(row) == ItemFile.key(number))
        try #require(try cluster.value(0, row) == .int(Int64(number)))
        try #require(try cluster.value(1, row) == .string("n\(number)"))
        try #require(
          try cluster.value(6, row) == ItemFile.text(number).map { .string($0) } ?? .null)
        let link = ItemFile.target(number).map { RealmValue.link(table: 0, key: ItemFile.key($0)) }
        try #require(try cluster.value(7, row) == link ?? .null)
        number += 1
      }
    }
    #expect(number == count)
  }

  /// Pages are forgotten between clusters, and read again where a tree or a lookup goes on.
  @Test(arguments: [false, true])
  func memoryIsGivenBackBetweenClusters(_ isEncrypted: Bool) throws {
    let fixture = RealmFixture.named(isEncrypted ? "streaming_encrypted" : "many")
    let whole = try RealmFile(fixture.path, key: fixture.key)
    let part = try RealmFile(fixture.path, key: fixture.key, residentBytesMax: 0)
    let table = try #require(part.classes.first)
    let link = try #require(table.columns.firstIndex { $0.name == "h" })
    let lookup = RealmLookup(part, table)
    var all = try RealmObjects(whole, table)
    var some = try RealmObjects(part, table)
    var count = 0
    while let expected = try all.next() {
      let found = try #require(try some.next(trimming: true))
      for row in 0..<expected.count {
        for column in table.columns.indices {
          try #require(try found.value(column, row) == expected.value(column, row))
        }
        if case .link(_, let key) = try found.value(link, row) {
          let target = try #require(try lookup.find(key))
          try #require(try target.cluster.key(target.row) == key)
        }
      }
      lookup.forget()
      count += expected.count
    }
    #expect(try some.next(trimming: true)?.count == nil)
    #expect(count == 8907)
  }

  /// What a file can have in its small decimals, but no library writes there.
  @Test func smallDecimalsHaveTheirLargeCoefficients() {
    func text(_ value: RealmValue) -> String {
      guard case .decimal(let number) = value else { return "\(value)" }
      return RealmDump.text(of: number)
    }
    // The exponent 0 stands for 101 in 32 bits and 398 in 64.
    #expect(text(DecimalLeaf.decimal32(0x6000_0000 | 101 << 21)) == "8388608E0")
    #expect(text(DecimalLeaf.decimal32(0xe000_0000 | 101 << 21 | 0x0f_ffff)) == "-9437183E0")
    #expect(text(DecimalLeaf.decimal32(0x6000_0000 | 101 << 21 | 0x1f_ffff)) == "0E0")
    #expect(text(DecimalLeaf.decimal32(0x7800_0000)) == "Inf")
    #expect(text(DecimalLeaf.decimal32(0x7c00_0000)) == "NaN")
    #expect(text(DecimalLeaf.decimal32(0x7c00_00aa)) == "null")
    #expect(text(DecimalLeaf.decimal64(0x6000_0000_0000_0000 | 398 << 51)) == "9007199254740992E0")
    #expect(text(DecimalLeaf.decimal64(0xf800_0000_0000_0000)) == "-Inf")
    #expect(text(DecimalLeaf.decimal64(0x7c00_0000_0000_00aa)) == "null")
  }

  @Test func aLookupFindsEachObjectAndNoOther() throws {
    let folder = TemporaryFolder()
    try ItemFile.write(to: folder.file("items.realm"), count: 66_000)
    let file = try RealmFile(folder.file("items.realm"))
    let table = try #require(file.classes.first)
    let lookup = RealmLookup(file, table)
    for number in stride(from: 0, to: 66_000, by: 97) {
      let found = try #require(try lookup.find(ItemFile.key(number)))
      try #require(try found.cluster.value(0, found.row) == .int(Int64(number)))
    }
    for key in [256, 65_535, ItemFile.key(66_000), .max, -1] {
      #expect(try lookup.find(key)?.row == nil)
    }
  }
}
