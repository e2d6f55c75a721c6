import RealmFileWriter
import RealmFixtures
import TestSupport
import Testing

@testable import RealmFiles

/// What only files of older formats have. The project has none of them that a library wrote: these
/// are made by the tests, and `ReadingTests` compares real ones by hand.
@Suite struct OldFormatTests {
  private let folder = TemporaryFolder()

  /// A file with one object, which has one property.
  private func file(
    _ writer: inout RealmFileWriter, _ column: RealmFileWriter.Column, _ leaf: Int,
    _ format: UInt8, flags: Int = 0
  ) throws -> RealmFile {
    let root = writer.cluster(count: 1, [leaf])
    let table = writer.table([column], root: root, key: 0, flags: flags)
    let top = writer.group([("class_Old", table)])
    return try RealmFile(folder.file("old.realm", writer.file(top: top, format: format)))
  }

  private func first(_ file: RealmFile) throws -> RealmValue {
    var objects = try RealmObjects(file, try #require(file.classes.first))
    return try #require(try objects.next()).value(0, 0)
  }

  /// 1, nil and a text, with the four arrays of older writers.
  private func mixedLeaf(_ writer: inout RealmFileWriter) -> Int {
    let codes = writer.numbers([1 << 8 | 1, 0, 3 | 3 << 5])
    let texts = writer.strings(["text"])
    return writer.refs([.ref(codes), .empty, .empty, .ref(texts)])
  }

  @Test(arguments: [21, 22] as [UInt8])
  func dictionariesAreTreesOfHashes(_ format: UInt8) throws {
    var writer = RealmFileWriter()
    let hashes = writer.numbers([5, 200, 70_000])
    let keys = writer.strings(["b", "", "a"])
    let values = mixedLeaf(&writer)
    let tree = writer.refs([.ref(hashes), .ref(keys), .ref(values)])
    let leaf = writer.refs([.ref(tree)])
    let column = RealmFileWriter.Column("any", type: 6, attributes: 64 | 16, place: 0)
    let file = try file(&writer, column, leaf, format)
    #expect(
      try first(file)
        == .dictionary([
          RealmEntry(key: "b", value: .int(1)), RealmEntry(key: "", value: .null),
          RealmEntry(key: "a", value: .string("text")),
        ]))
  }

  @Test func valuesOfAnyTypeHaveFourArrays() throws {
    var writer = RealmFileWriter()
    let leaf = mixedLeaf(&writer)
    let list = writer.refs([.ref(leaf)])
    let column = RealmFileWriter.Column("any", type: 6, attributes: 32 | 16, place: 0)
    let file = try file(&writer, column, list, 23)
    #expect(try first(file) == .list([.int(1), .null, .string("text")]))
  }

  @Test func listsOfLinksHaveATypeOfTheirOwn() throws {
    var writer = RealmFileWriter()
    let leaf = writer.numbers([0, -3, 0])
    let list = writer.refs([.ref(leaf)])
    let column = RealmFileWriter.Column("links", type: 13, attributes: 32, table: 0, place: 0)
    let file = try file(&writer, column, list, 23)
    #expect(file.classes.first?.columns.first?.type == .link)
    #expect(try first(file) == .list([.link(table: 0, key: 0), .link(table: 0, key: 0)]))
  }

  @Test func objectsForAServerAreNoObjects() throws {
    var writer = RealmFileWriter()
    let leaf = writer.numbers([7])
    let column = RealmFileWriter.Column("a", type: 0, place: 0)
    let file = try file(&writer, column, leaf, 22, flags: 2)
    #expect(file.classes.first?.kind == .asymmetric)
    #expect(try RealmDump.lines(of: file).count == 2)
  }
}
