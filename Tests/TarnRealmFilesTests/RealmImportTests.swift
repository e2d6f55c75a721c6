import Foundation
import RealmFileWriter
import RealmFiles
import RealmFixtures
import Tarn
import TarnStore
import TestSupport
import Testing

@testable import TarnRealmFiles

/// Imports of files that Realm's library wrote.
@Suite struct RealmImportTests {
  private let folder = TemporaryFolder()
  private var destination: URL { folder.url("imported.tarn") }

  private func open(_ path: String? = nil) throws -> Store {
    var options = Store.Options()
    options.createsStore = false
    return try StoreRegistry.open(path ?? destination.path, options)
  }

  private func expectSame(
    _ path: String, _ key: [UInt8]?, _ position: SourceLocation = #_sourceLocation
  ) throws {
    let lines = try StoreLines(open()).all()
    let expected = try RealmLines(RealmFile(path, key: key)).all()
    let pair = zip(lines, expected).first { $0 != $1 }
    #expect(pair?.0 == pair?.1, sourceLocation: position)
    #expect(lines.count == expected.count, sourceLocation: position)
  }

  @Test(arguments: RealmFixture.all)
  func everyObjectArrives(_ fixture: RealmFixture) throws {
    let report = try importRealmFile(
      at: URL(fileURLWithPath: fixture.path), into: destination,
      encryptionKey: fixture.key.map { Data($0) })
    try expectSame(fixture.path, fixture.key)
    let snapshot = try open().newestSnapshot()
    let check = try StoreCheck(snapshot, pages: StoreCheck(pagesOf: destination.path).pages)
    #expect(check.problems == [])
    #expect(report.classCount == snapshot.schema.schema.classes.count)
    #expect(folder.names.filter { $0.hasPrefix(".") } == [])
  }

  /// Transactions end in the middle of classes, with links to objects that come later.
  @Test func severalTransactionsMakeTheSameStore() throws {
    let source = folder.file("items.realm")
    try ItemFile.write(to: source, count: 3000)
    let report = try RealmImport(source, into: destination.path, objectsPerTransaction: 500).run()
    #expect(report.objectCount == 3000)
    #expect(report.notes == [])
    try expectSame(source, nil)
  }

  @Test func theSchemaIsThatOfTheFile() throws {
    let fixture = RealmFixture.named("keys")
    try importRealmFile(at: URL(fileURLWithPath: fixture.path), into: destination)
    let schema = try open().newestSnapshot().schema.schema
    for table in try RealmFile(fixture.path).classes {
      let described = try #require(schema.named(table.className!))
      #expect(described.columns.map(\.name) == table.columns.map(\.name))
      let key = table.primaryKey.map { table.columns[$0].name }
      #expect(described.primaryKey.map { described[$0].name } == key)
      for column in table.columns where column.index == .values && column.name != key {
        #expect(described.named(column.name)?.isIndexed == true)
      }
    }
  }

  @Test func theSchemaVersionIsThatOfTheFile() throws {
    let path = RealmFixture.named("migrated").path
    try importRealmFile(at: URL(fileURLWithPath: path), into: destination)
    #expect(try schemaVersionAtURL(destination) == 7)
  }

  /// A program goes on with its classes, whose properties are those of before.
  @Test func aProgramOpensTheStore() throws {
    let path = RealmFixture.named("tiny").path
    try importRealmFile(at: URL(fileURLWithPath: path), into: destination)
    let realm = try Realm(
      configuration: .init(fileURL: destination, objectTypes: [ImportedDog.self]))
    let dogs = realm.objects(ImportedDog.self)
    #expect(dogs.map(\.name) == ["Rex", "", "Fido the dog"])
    #expect(dogs.where { $0.good }.map(\.age) == [3, 7])
    try realm.write { realm.add(ImportedDog()) }
    #expect(dogs.count == 4)
  }

  @Test func notesNameWhatIsLeftOut() throws {
    let path = RealmFixture.named("kinds").path
    let report = try importRealmFile(at: URL(fileURLWithPath: path), into: destination)
    #expect(
      report.notes.contains("class 'Asym' is not imported: its objects only go to a server"))
    #expect(report.notes.contains { $0.contains("'FullText.text' has no full-text index") })
  }

  /// Each zero of another sign or exponent is an element of its own in the file.
  @Test func notesCountEqualElementsOfSets() throws {
    let path = RealmFixture.named("collections").path
    let report = try importRealmFile(at: URL(fileURLWithPath: path), into: destination)
    #expect(report.notes.contains { $0.contains("elements of sets that equal another one") })
  }

  @Test func progressEndsWithAllObjects() throws {
    var last: RealmImportProgress?
    let path = RealmFixture.named("many").path
    let report = try importRealmFile(at: URL(fileURLWithPath: path), into: destination) {
      #expect($0.objects > last?.objects ?? 0)
      last = $0
    }
    #expect(last?.objects == report.objectCount)
    #expect(last?.objectCount == report.objectCount)
  }

  // MARK: - Whole, or not at all

  @Test func anExistingFileStays() throws {
    let path = try folder.file("imported.tarn", [1, 2, 3])
    #expect(throws: Realm.Error(.fileExists)) {
      try importRealmFile(
        at: URL(fileURLWithPath: RealmFixture.named("tiny").path), into: destination)
    }
    #expect(FileManager.default.contents(atPath: path) == Data([1, 2, 3]))
    #expect(folder.names == ["imported.tarn"])
  }

  @Test func anErrorOfTheProgressLeavesNothing() {
    struct Stop: Error {}
    #expect(throws: Stop.self) {
      try importRealmFile(
        at: URL(fileURLWithPath: RealmFixture.named("many").path), into: destination
      ) { if $0.objects > 3000 { throw Stop() } }
    }
    #expect(folder.names == [])
  }

  @Test func damageLeavesNothing() throws {
    var bytes = try RealmFixture.named("tiny").bytes
    bytes[0x2bf] = 0x80
    let source = try folder.file("damaged.realm", bytes)
    let error = #expect(throws: TarnRealmFiles.RealmFileError.self) {
      try importRealmFile(at: URL(fileURLWithPath: source), into: destination)
    }
    #expect(error?.code == .damaged)
    #expect(folder.names == ["damaged.realm"])
  }

  @Test func aMissingFolderIsAnError() {
    #expect(throws: Realm.Error(.fileNotFound)) {
      try importRealmFile(
        at: URL(fileURLWithPath: RealmFixture.named("tiny").path),
        into: folder.url("none/imported.tarn"))
    }
  }

  @Test func whatAKilledImportLeftIsRemoved() throws {
    let left = folder.file(".imported.tarn.tarn-import-abcdef")
    try FileManager.default.createDirectory(atPath: left, withIntermediateDirectories: false)
    try Data([1]).write(to: URL(fileURLWithPath: left + "/store"))
    try importRealmFile(
      at: URL(fileURLWithPath: RealmFixture.named("tiny").path), into: destination)
    #expect(folder.names.filter { $0.hasPrefix(".") } == [])
  }
}

final class ImportedDog: Object {
  @Persisted var name: String
  @Persisted var age: Int
  @Persisted var good: Bool

  override class func className() -> String { "Dog" }
}
