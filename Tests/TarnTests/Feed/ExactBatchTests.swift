import TestSupport
import Testing

@testable import Tarn
@testable import TarnStore

/// With old values, batches have the values of the version where they end.
@Suite struct ExactBatchTests {
  typealias Copies = [String: [ObjectIdentity: [String: RecordedValue]]]

  struct Selection: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let selection: CursorSelection
    var limit = BatchLimit.everyCommit
  }

  static let selections = [
    Selection(testDescription: "whole Realm", selection: .wholeRealm),
    Selection(
      testDescription: "three commits", selection: .wholeRealm, limit: BatchLimit(commits: 3)),
    Selection(
      testDescription: "own property",
      selection: .objects(of: FedDog.self) { $0.age > 3 }
        .adding(.objects(of: FedPerson.self) { $0.rank < 3 })),
    Selection(
      testDescription: "behind a link",
      selection: .objects(of: FedDog.self) { $0.owner.rank > 1 }
        .adding(.objects(of: FedNote.self) { $0.about.age < 5 })),
    Selection(
      testDescription: "behind a link, two commits",
      selection: .objects(of: FedDog.self) { $0.owner.rank > 1 }, limit: BatchLimit(commits: 2)),
    Selection(
      testDescription: "elements", selection: .objects(of: FedPerson.self) { $0.dogs.age > 4 }),
    Selection(
      testDescription: "embedded",
      selection: .objects(of: FedDog.self) { $0.kennel.city == "a" }),
  ]

  static let withPaths =
    selections + [
      Selection(
        testDescription: "a key path behind a link",
        selection: .objects(of: FedDog.self, keyPaths: ["owner.rank", "age"]) { $0.age > 1 })
    ]

  private let shelter: Shelter
  private let instance: Instance
  private var realm: Realm { instance.realm }

  init() throws {
    shelter = try Shelter()
    shelter.moreTypes = [FedDog.self, FedPerson.self, FedNote.self, FedAddress.self, FedRoom.self]
    instance = try shelter.open()
  }

  /// Everything that a selection has at the version of a snapshot, as data.
  private func all(_ selection: CursorSelection, _ frozen: Realm) throws -> Copies {
    let core = frozen.core
    let reader = core.rows().reader
    let rows = RecordedRows(core, PastRows(reader, RecordedPast(at: reader.snapshot.version)))
    var copies: Copies = [:]
    for part in try BoundSelection(selection, core).parts {
      let name = reader.schema[part.classID].name
      let spec = QuerySpec(dynamicClass: name).filtered(part.condition)
      let binding = core.dynamicBinding(name)
      let columns = binding.schema.columns.filter { !$0.isRemoved }.map(\.id)
      for object in Results<DynamicObject>(core, spec) {
        let key = ObjectKey(object._key)
        let identity = try rows.identity(ObjectRef(classID: part.classID, key: key))
        copies[name, default: [:]][identity] = try rows.values(of: key, columns, binding)
      }
    }
    return copies
  }

  private func apply(_ batch: ChangeBatch, to copies: inout Copies) {
    for name in batch.classNames {
      let changes = batch.changes(ofClass: name)
      #expect(changes.hasOwnValues)
      for change in changes.recorded {
        if let values = change.values {
          copies[name, default: [:]][change.identity] = values
        } else {
          #expect(change.kind != .gone)
          copies[name]?[change.identity] = nil
        }
      }
      if copies[name]?.isEmpty == true { copies[name] = nil }
    }
  }

  /// The changes of batches as data, class by class.
  private func data(_ batch: ChangeBatch) -> [[RecordedChange]] {
    batch.classNames.map { batch.changes(ofClass: $0).recorded }
  }

  @Test(arguments: selections, Seeds.of(1...6))
  func copiesEqualEachVersion(of selection: Selection, seed: Int) throws {
    var program = FedProgram(seed: seed)
    for _ in 0..<5 { try program.commit(realm) }
    let cursor = try realm.cursor("exact", of: selection.selection, keeping: .oldValues)
    var copies = try all(selection.selection, realm.freeze())
    var versions: [UInt64: Realm] = [:]
    for _ in 0..<30 {
      try program.commit(realm)
      let frozen = realm.freeze()
      versions[frozen.core.rows().reader.snapshot.version.rawValue] = frozen
    }
    while let batch = try cursor.next(limit: selection.limit) {
      #expect(batch.fullResync == nil)
      apply(batch, to: &copies)
      let right = try all(selection.selection, #require(versions[batch.to]))
      #expect(copies == right, "version \(batch.to)")
      try batch.acknowledge()
    }
    let newest = try all(selection.selection, realm.freeze())
    #expect(copies == newest)
  }

  /// However much is committed in between.
  @Test(arguments: withPaths, Seeds.of(1...3))
  func theSameRangeIsTheSameData(of selection: Selection, seed: Int) throws {
    var program = FedProgram(seed: seed)
    for _ in 0..<5 { try program.commit(realm) }
    let cursor = try realm.cursor("exact", of: selection.selection, keeping: .oldValues)
    for _ in 0..<12 { try program.commit(realm) }
    let end = try realm.core.store.newestSnapshot().version.rawValue
    let first = try data(#require(try cursor.next(through: end)))
    for _ in 0..<12 {
      try program.commit(realm)
      #expect(try data(#require(try cursor.next(through: end))) == first)
    }
    let from = try cursor.position.version
    let changes = try realm.changes(from: from, to: end, of: selection.selection)
    let all = Set(first.joined())
    for name in changes.classNames {
      for change in changes.changes(ofClass: name).recorded { #expect(all.contains(change)) }
    }
  }

  /// A daemon sends such a batch first, and asks for it by its end after an error.
  @Test(arguments: withPaths, Seeds.of(1...3))
  func anExactBatchIsThatOfItsEnd(of selection: Selection, seed: Int) throws {
    var program = FedProgram(seed: seed)
    for _ in 0..<5 { try program.commit(realm) }
    let cursor = try realm.cursor("exact", of: selection.selection, keeping: .oldValues)
    for _ in 0..<12 { try program.commit(realm) }
    var count = 0
    while let batch = try cursor.nextToDeliver(limit: selection.limit, isExact: true) {
      let first = data(batch)
      try program.commit(realm)
      #expect(try data(#require(try cursor.next(through: batch.to))) == first)
      try batch.acknowledge()
      count += 1
      // Each of them is followed by another commit.
      if count == 12 { break }
    }
    #expect(count > 0)
  }

  @Test func oldValuesAreWhole() throws {
    try realm.write {
      let owner = realm.create(FedPerson.self, value: ["name": "Ann"])
      let rex = realm.create(FedDog.self, value: ["id": 1, "tags": ["a", "b"]])
      rex.owner = owner
      rex.kennel = FedAddress()
      rex.kennel?.city = "Bonn"
    }
    let cursor = try realm.cursor("exact", keeping: .oldValues)
    try realm.write {
      let rex = try #require(realm.object(ofType: FedDog.self, forPrimaryKey: 1))
      rex.tags.append("c")
      rex.kennel?.city = "Rome"
      rex.owner = nil
      realm.delete(realm.objects(FedPerson.self))
    }
    let batch = try #require(try cursor.next())
    let old = try #require(batch[FedDog.self].modified.first).oldValues
    #expect(old["tags"] == .list([.string("a"), .string("b")]))
    #expect(old["kennel"] == .embedded(["city": .string("Bonn"), "room": RecordedValue.none]))
    guard case .object(let ann)? = old["owner"] else {
      Issue.record("\(String(describing: old["owner"]))")
      return
    }
    #expect(ann.primaryKey == .string("Ann"))
    let gone = try #require(batch[FedPerson.self].recorded.first)
    #expect(gone.kind == .deleted)
    #expect(gone.oldValues["name"]?.value(as: String.self) == "Ann")
  }

  /// The record of a commit that only touched an embedded object keeps nothing of its owner.
  @Test func withoutOldValuesAnEmbeddedChangeHasNone() throws {
    try realm.write {
      let rex = realm.create(FedDog.self, value: ["id": 1])
      rex.kennel = FedAddress()
    }
    let cursor = try realm.cursor("exact", keeping: .deletedObjects)
    try realm.write { realm.objects(FedDog.self).first?.kennel?.city = "Rome" }
    let change = try #require(try cursor.next()?[FedDog.self].recorded.first)
    #expect(change.kind == .modified)
    #expect(change.properties == ["kennel"])
    #expect(change.oldValues == [:])
  }

  /// Commits with nothing to report cost a catching-up cursor about as much each, however many.
  @Test func manyCommitsWithoutNews() throws {
    try realm.write { realm.create(FedDog.self, value: ["id": 1]) }
    let cursor = try realm.cursor(
      "exact", of: .objects(of: FedDog.self) { $0.age > 100 }, keeping: .oldValues)
    let dog = try #require(realm.object(ofType: FedDog.self, forPrimaryKey: 1))
    for age in 0..<600 { try realm.write { dog.age = age % 90 } }
    try realm.write { dog.age = 101 }
    let batch = try #require(try cursor.next(limit: .everyCommit))
    let change = try #require(batch[FedDog.self].recorded.first)
    #expect(change.kind == .entered)
    #expect(change.oldValues["age"] == .int(599 % 90))
  }
}
