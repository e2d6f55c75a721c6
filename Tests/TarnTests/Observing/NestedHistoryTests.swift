import Dispatch
import Foundation
import TestSupport
import Testing

@testable import Tarn

/// From which version to which nested changes are told, and how long that is kept.
struct NestedHistoryTests {
  @Test func severalCommitsOfAnotherThreadAreOneChange() throws {
    let shelter = try Shelter()
    let instance = try shelter.openIsles(3)
    try instance.write {
      instance.isle(0).list.append(objectsIn: [instance.isle(1), instance.isle(2)])
    }
    let recorder = NestedRecorder(instance.isles)
    instance.pump()
    try DispatchQueue(label: "writer").sync {
      let other = try shelter.openIsles()
      try other.write { other.isle(0).list.remove(at: 0) }
      try other.write { other.isle(2).name = "a" }
      try other.write { other.isle(2).name = "b" }
      try other.write { other.isle(0).list.insert(other.isle(1), at: 1) }
    }
    instance.pump()
    let own = ["list -[0] +[1] ~[]>[]", "list[1>0].name"]
    #expect(recorder.take() == [[0: own, 2: ["name"]]])
  }

  @Test func aCallTellsWhatIsNewSinceTheOneBefore() throws {
    let instance = try Shelter().openIsles(2)
    let recorder = NestedRecorder(instance.isles)
    instance.pump()
    try instance.write { instance.isle(0).name = "a" }
    try instance.write { instance.isle(0).numbers.append(1) }
    try instance.realm.write(withoutNotifying: [recorder.token!]) {
      instance.isle(1).name = "left out"
    }
    try instance.write { instance.isle(1).numbers.append(2) }
    instance.pump()
    let appended = "numbers -[] +[0] ~[]>[]"
    #expect(recorder.take() == [[0: ["name"]], [0: [appended]], [1: [appended]]])
    try instance.write { instance.isle(1).name = "b" }
    instance.pump()
    #expect(recorder.take() == [[1: ["name"]]])
  }

  @Test func aDeltaGoesOnWithItsVersions() throws {
    let instance = try Shelter().openIsles(3)
    try instance.write {
      instance.isle(0).list.append(objectsIn: [instance.isle(1), instance.isle(2)])
    }
    var kept: CollectionDelta<Isle>?
    let token = instance.isles.observeChanges { change in
      guard case .update(_, let delta) = change, kept == nil else { return }
      kept = delta
    }
    instance.pump()
    try instance.write { instance.isle(2).name = "new" }
    instance.pump()
    try instance.write {
      instance.isle(0).list.removeAll()
      instance.realm.delete(instance.isle(2))
    }
    instance.pump()
    let delta = try #require(kept)
    let changes = delta.nested(at: 0)
    #expect(changes.map(\.text) == ["list[1>1].name"])
    #expect(changes.map(\.keyPath) == ["list.name"])
    #expect(changes[0].object?.isInvalidated == true)
    #expect(delta.nested(at: 1).isEmpty)
    token.invalidate()
  }

  /// Of a migration nobody knows what it changed behind an element, and so elements are named as a
  /// whole: those that are there after it, of whatever class its links lead to.
  @Test func overAMigrationElementsAreNamedAsAWhole() throws {
    let shelter = try Shelter()
    let instance = try shelter.openIsles(4)
    try instance.write {
      instance.isle(0).list.append(instance.isle(1))
      instance.isle(0).map["k"] = instance.isle(1)
    }
    let recorder = NestedRecorder(instance.isles)
    var keys: [[String: [String]]] = []
    let token = instance.isle(0).map.observeChanges { change in
      guard case .update(_, let delta) = change else { return }
      keys.append(
        Dictionary(
          uniqueKeysWithValues: delta.modifications.map { ($0, delta.nested(for: $0).map(\.text)) }
        ))
    }
    instance.pump()
    var configuration = instance.realm.configuration
    configuration.schemaVersion = 1
    configuration.migrationBlock = { migration, _ in
      migration.enumerateObjects(ofType: "Isle") { old, new in
        switch old?.id as? Int {
        case 1: new?.name = "migrated"
        case 3: new.map { migration.delete($0) }
        default: break
        }
      }
    }
    try Realm.performMigration(for: configuration)
    instance.pump()
    #expect(recorder.take() == [[0: ["self"], 1: ["self"]]])
    #expect(keys == [["k": ["self"]]])
    try instance.write { instance.isle(1).name = "new" }
    instance.pump()
    #expect(recorder.take() == [[0: ["list[0>0].name", "map[k].name"], 1: ["name"]]])
    #expect(keys.last == ["k": ["name"]])
    token.invalidate()
  }

  /// The same where one call covers a migration and commits before and after it.
  @Test func aMigrationBetweenCommitsOfOneCall() throws {
    let shelter = try Shelter()
    let instance = try shelter.openIsles(2)
    let recorder = NestedRecorder(instance.isles)
    instance.pump()
    var configuration = instance.realm.configuration
    try DispatchQueue(label: "writer").sync {
      let other = try shelter.openIsles()
      try other.write { other.isle(0).name = "before" }
    }
    configuration.schemaVersion = 1
    configuration.migrationBlock = { _, _ in }
    try Realm.performMigration(for: configuration)
    instance.pump()
    let told = recorder.take()
    try #require(told.count == 1)
    #expect(told[0].values.allSatisfy { $0 == ["self"] })
    #expect(told[0][0] != nil)
  }

  /// What was there before a reset is not there after it, whatever it was called.
  @Test func aResetTellsOfOtherObjects() throws {
    let shelter = try Shelter()
    let instance = try shelter.openIsles(2)
    let recorder = NestedRecorder(instance.isles)
    var deltas: [CollectionDelta<Isle>] = []
    let token = instance.isles.observeChanges { change in
      if case .update(_, let delta) = change { deltas.append(delta) }
    }
    instance.pump()
    try DispatchQueue(label: "writer").sync {
      let other = try shelter.openIsles()
      try other.write { other.isle(0).name = "before" }
      try other.write {
        other.realm.deleteAll()
        for id in 0..<3 { other.realm.add(Isle(id)) }
        other.isle(0).next = other.isle(1)
      }
      try other.write { other.isle(1).name = "after" }
    }
    instance.pump()
    #expect(recorder.take() == [[:]])
    let delta = try #require(deltas.first)
    #expect(deltas.count == 1)
    #expect(delta.deletions == [0, 1])
    #expect(delta.insertions == [0, 1, 2])
    #expect((0..<3).allSatisfy { delta.nested(at: $0).isEmpty })
    token.invalidate()
  }

  /// Nobody holds the version before a change when all have been told.
  @Test func noVersionIsKeptForWhoHasBeenTold() throws {
    let instance = try Shelter().openIsles(1)
    let recorder = NestedRecorder(instance.isles)
    instance.pump()
    for number in 0..<3 {
      weak let former = instance.realm.core.reader?.snapshot
      try instance.write { instance.isle(0).name = "\(number)" }
      #expect(former != nil)
      instance.pump()
      #expect(former == nil)
    }
    #expect(recorder.take().count == 3)
  }
}

/// The same for loops, which may take their time.
@MainActor struct NestedLoopTests {
  private let shelter: Shelter
  private let realm: Realm

  init() throws {
    shelter = try Shelter()
    var configuration = shelter.configuration
    configuration.objectTypes = [Isle.self, Port.self]
    realm = try Realm(configuration: configuration)
    try realm.write { for id in 0..<2 { realm.add(Isle(id)) } }
  }

  private func isle(_ id: Int) -> Isle { realm.object(ofType: Isle.self, forPrimaryKey: id)! }

  @Test func aLoopIsToldWhatLiesBehind() async throws {
    try realm.write { isle(0).next = isle(1) }
    let recorder = NestedRecorder()
    var changes = realm.objects(Isle.self).changes.makeAsyncIterator()
    _ = await changes.next(isolation: #isolation)
    for number in 0..<3 {
      try realm.write { isle(1).name = "\(number)" }
      try realm.write { isle(1).numbers.append(number) }
      let change = try #require(await changes.next(isolation: #isolation))
      recorder.record(change)
      let appended = "numbers -[] +[\(number)] ~[]>[]"
      let expected = [0: ["next.name", "next.\(appended)"], 1: ["name", appended]]
      #expect(recorder.take() == [expected])
    }
  }

  /// `changes(depth:)` tells what `observeChanges(depth:)` tells.
  @Test func aLoopLooksAsDeepAsItSays() async throws {
    try realm.write {
      isle(0).next = isle(1)
      isle(0).map["k"] = isle(1)
      isle(1).port = Port()
    }
    let recorder = NestedRecorder()
    var own = realm.objects(Isle.self).changes(depth: 0).makeAsyncIterator()
    var far = realm.objects(Isle.self).changes(depth: 1).makeAsyncIterator()
    var keys = isle(0).map.changes(depth: 0).makeAsyncIterator()
    _ = await (
      own.next(isolation: #isolation), far.next(isolation: #isolation),
      keys.next(isolation: #isolation)
    )
    try realm.write { isle(1).port!.depth = 1 }
    try realm.write { isle(1).name = "new" }
    recorder.record(try #require(await own.next(isolation: #isolation)))
    #expect(recorder.take() == [[1: ["name"]]])
    recorder.record(try #require(await far.next(isolation: #isolation)))
    #expect(
      recorder.take() == [[0: ["next.name", "map[k].name"], 1: ["name", "port.depth"]]])
    guard case .update(_, let delta)? = await keys.next(isolation: #isolation) else {
      Issue.record("no update")
      return
    }
    #expect(delta.nested(for: "k").map(\.text) == ["name"])
  }

  @Test func aLoopThatTakesItsTimeIsToldOfElementsAsAWhole() async throws {
    let recorder = NestedRecorder()
    var changes = realm.objects(Isle.self).changes.makeAsyncIterator()
    _ = await changes.next(isolation: #isolation)
    weak let former = realm.core.reader?.snapshot
    try realm.write { isle(1).name = "new" }
    #expect(former != nil)
    for number in 0..<ObserverTable.stepsKept {
      try realm.write { isle(0).name = "\(number)" }
    }
    #expect(former == nil)
    recorder.record(try #require(await changes.next(isolation: #isolation)))
    #expect(recorder.take() == [[0: ["self"], 1: ["self"]]])
    try realm.write { isle(0).name = "last" }
    recorder.record(try #require(await changes.next(isolation: #isolation)))
    #expect(recorder.take() == [[0: ["name"]]])
  }

  @Test func aLoopThatEndsKeepsNothing() async throws {
    var changes: ChangeSequence<ObservedChange<Results<Isle>, CollectionDelta<Isle>>>.Iterator?
    changes = realm.objects(Isle.self).changes.makeAsyncIterator()
    _ = await changes?.next(isolation: #isolation)
    weak let former = realm.core.reader?.snapshot
    try realm.write { isle(1).name = "new" }
    #expect(former != nil)
    changes = nil
    #expect(former == nil)
  }
}
