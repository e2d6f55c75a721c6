import Foundation
import RealmFileWriter
import RealmFiles
import RealmFixtures
import TarnStore
import TestSupport
import Testing

@testable import TarnRealmFiles

/// Files whose arrays are sound, but whose objects contradict each other or the rules of a store:
/// errors, and never the end of the process.
@Suite struct HostileImportTests {
  private let folder = TemporaryFolder()

  private func message(
    _ writer: inout RealmFileWriter, _ tables: [(String, Int)],
    _ position: SourceLocation = #_sourceLocation
  ) throws -> String {
    let top = writer.group(tables.map { (name: $0.0, ref: $0.1) })
    let path = try folder.file("hostile.realm", writer.file(top: top))
    let error = try #require(throws: RealmFiles.RealmFileError.self, sourceLocation: position) {
      try RealmImport(path, into: folder.file("imported.tarn")).run()
    }
    #expect(folder.names == ["hostile.realm"], sourceLocation: position)
    return error.description
  }

  private func column(
    _ type: Int, _ attributes: Int = 0, table: Int? = nil
  ) -> RealmFileWriter.Column {
    RealmFileWriter.Column("a", type: type, attributes: attributes, table: table, place: 0)
  }

  @Test(arguments: [0, 2])
  func aPrimaryKeyOccursOnce(_ type: Int) throws {
    var writer = RealmFileWriter()
    let leaf = type == 0 ? writer.numbers([5, 7, 5]) : writer.strings(["x", "y", "x"])
    let column = column(type)
    let root = writer.cluster(count: 3, [leaf])
    let table = writer.table([column], root: root, key: 0, primaryKey: column.key)
    let text = try message(&writer, [("class_A", table)])
    #expect(text.contains("two objects have the primary key \(type == 0 ? "5" : "x")"))
  }

  @Test func aRequiredPropertyHasAValue() throws {
    var writer = RealmFileWriter()
    let leaf = writer.strings([nil])
    let root = writer.cluster(count: 1, [leaf])
    let table = writer.table([column(2)], root: root, key: 0)
    let text = try message(&writer, [("class_A", table)])
    #expect(text.contains("a required property is nil (class 'A', property 'a')"))
  }

  @Test(arguments: [1 << 8 | 2, 0])
  func aDictionaryHasValuesOfItsType(_ code: Int) throws {
    var writer = RealmFileWriter()
    let codes = writer.numbers([Int64(code)])
    let values = writer.refs([.ref(codes), .empty, .empty, .empty, .empty, .empty])
    let keys = writer.strings(["key"])
    let pair = writer.refs([.ref(keys), .ref(values)])
    let leaf = writer.refs([.ref(pair)])
    let root = writer.cluster(count: 1, [leaf])
    let table = writer.table([column(0, 64)], root: root, key: 0)
    let text = try message(&writer, [("class_A", table)])
    #expect(text.contains(code == 0 ? "a required element is nil" : "another type"))
  }

  /// Each embedded object owns itself twice: without a bound their number would double at each of
  /// many levels.
  @Test func anEmbeddedObjectHasOneOwner() throws {
    var writer = RealmFileWriter()
    let one = writer.numbers([1])
    let other = writer.numbers([1])
    let owned = RealmFileWriter.Column("b", type: 12, attributes: 24, table: 1, place: 1)
    let owner = writer.cluster(count: 1, [one])
    let embedded = writer.cluster(count: 1, [one, other])
    let tables = [
      ("class_Owner", writer.table([column(12, 24, table: 1)], root: owner, key: 0)),
      (
        "class_Part",
        writer.table([column(12, 24, table: 1), owned], root: embedded, key: 1, flags: 1)
      ),
    ]
    let text = try message(&writer, tables)
    #expect(text.contains("an embedded object has several owners, or owns itself"))
  }

  /// Links to objects that do not exist are nil, and counted.
  @Test func lostLinksAreCounted() throws {
    var writer = RealmFileWriter()
    let leaf = writer.numbers([1, 100, 3])
    let root = writer.cluster(count: 3, [leaf])
    let table = writer.table([column(12, 16, table: 0)], root: root, key: 0)
    let top = writer.group([(name: "class_A", ref: table)])
    let path = try folder.file("lost.realm", writer.file(top: top))
    let report = try RealmImport(path, into: folder.file("imported.tarn")).run()
    #expect(report.notes == ["links to missing objects, which are nil or left out: 1"])
  }

  @Test func randomBytesCanChange() throws {
    var random = SeededRandom(seed: 3)
    for name in ["embedded", "links", "mixed", "keys"] {
      let bytes = try RealmFixture.named(name).bytes
      for _ in 0..<Seeds.rounds(200, few: 15) {
        var changed = bytes
        changed[random.below(bytes.count)] ^= 1 << UInt8(random.below(8))
        let path = try folder.file("changed.realm", changed)
        let destination = folder.file("changed.tarn")
        do {
          _ = try RealmImport(path, into: destination).run()
          try StoreRegistry.removeUnused(.file(destination))
        } catch is RealmFiles.RealmFileError {
        } catch is StorageError {
          // A name or a value that a store cannot have.
        }
      }
    }
    #expect(folder.names == ["changed.realm"])
  }
}
