import Dispatch
import Foundation
import TestSupport
import Testing

@testable import Tarn

/// Compiles as a client's code does: in Swift 6 mode, where every warning is an error.
@MainActor @Suite(.timeLimit(.minutes(30))) struct ChangeSequenceTests {
  private let shelter: Shelter
  private let realm: Realm

  init() throws {
    shelter = try Shelter()
    realm = try Realm(configuration: PackInstance.configuration(shelter))
    try realm.write { realm.create(Pack.self, value: ["id": 1]) }
  }

  private var pack: Pack { realm.object(ofType: Pack.self, forPrimaryKey: 1)! }
  private var cubs: Results<Cub> { realm.objects(Cub.self) }
  private var isObserved: Bool { !realm.core.delivery.observers.isEmpty }

  @Test func aLoopFollowsResults() async throws {
    var copy: [Cub] = []
    for await change in cubs.changes {
      change.apply(to: &copy)
      if copy.count == 3 { break }
      try realm.write { realm.add(Cub(copy.count)) }
    }
    #expect(copy.map(\.id) == [0, 1, 2])
    #expect(!isObserved)
  }

  @Test func everyKindOfCollectionHasChanges() async throws {
    try realm.write {
      pack.cubs.append(Cub(1, "a"))
      pack.numbers.append(1)
      pack.tags.insert("x")
      pack.scores["k"] = 1
    }
    var numbers = pack.numbers.changes.makeAsyncIterator()
    var tags = pack.tags.changes.makeAsyncIterator()
    var scores = pack.scores.changes.makeAsyncIterator()
    var links = realm.object(ofType: Cub.self, forPrimaryKey: 1)!.packs.changes.makeAsyncIterator()
    var erased = AnyRealmCollection(pack.cubs).changes.makeAsyncIterator()
    var names = pack.cubs.projectTo.name.changes.makeAsyncIterator()
    let sections = cubs.sectioned(by: \.name)
    var sectioned = sections.changes.makeAsyncIterator()
    var section = sections[0].changes.makeAsyncIterator()
    var copies = ([Int](), [String](), [String: Int](), [Pack](), [Cub](), [String]())
    var (all, one) = ([SectionCopy<String, Cub>](), [Cub]())
    for round in 0..<2 {
      await numbers.next(isolation: #isolation)?.apply(to: &copies.0)
      await tags.next(isolation: #isolation)?.apply(to: &copies.1)
      await scores.next(isolation: #isolation)?.apply(to: &copies.2)
      await links.next(isolation: #isolation)?.apply(to: &copies.3)
      await erased.next(isolation: #isolation)?.apply(to: &copies.4)
      await names.next(isolation: #isolation)?.apply(to: &copies.5)
      await sectioned.next(isolation: #isolation)?.apply(to: &all)
      await section.next(isolation: #isolation)?.apply(to: &one)
      if round == 1 { break }
      try realm.write {
        pack.numbers.append(2)
        pack.tags.insert("y")
        pack.scores["l"] = 2
        pack.cubs.append(Cub(2, "a"))
        let other = realm.create(Pack.self, value: ["id": 2])
        other.cubs.append(realm.object(ofType: Cub.self, forPrimaryKey: 1)!)
      }
    }
    #expect(copies.0 == [1, 2])
    #expect(copies.1 == ["x", "y"])
    #expect(copies.2 == ["k": 1, "l": 2])
    #expect(copies.3.map(\.id) == [1, 2])
    #expect(copies.4.map(\.id) == [1, 2])
    #expect(copies.5 == ["a", "a"])
    try #require(all.map(\.key) == ["a"])
    #expect(all[0].elements.map(\.id) == [1, 2])
    #expect(one.map(\.id) == [1, 2])
  }

  @Test func aSlowLoopGetsOneMergedDifference() async throws {
    var copy: [Int] = []
    var changes = pack.numbers.changes.makeAsyncIterator()
    await changes.next(isolation: #isolation)?.apply(to: &copy)
    for number in 0..<200 {
      try realm.write { pack.numbers.insert(number, at: number / 2) }
      await Task.yield()
    }
    try realm.write { pack.numbers.removeLast() }
    let change = try #require(await changes.next(isolation: #isolation))
    guard case .update(_, let delta) = change else {
      Issue.record("no update")
      return
    }
    #expect(delta.deletions == [])
    #expect(delta.insertions == Array(0..<199))
    change.apply(to: &copy)
    #expect(copy == Array(pack.numbers))
  }

  @Test func whatALoopHasNotAskedForIsKeptAsOneStep() async throws {
    var first: [Int] = []
    var second: [Int] = []
    var early = pack.numbers.changes.makeAsyncIterator()
    var late = pack.numbers.changes.makeAsyncIterator()
    await early.next(isolation: #isolation)?.apply(to: &first)
    await late.next(isolation: #isolation)?.apply(to: &second)
    let source = pack.numbers.backing as? ManagedSequence
    let live = try #require(source.map { $0.instance.liveSequence(at: $0.place, $0.kind) })
    for number in 0..<500 {
      try realm.write { pack.numbers.append(number) }
      if number == 250 { await early.next(isolation: #isolation)?.apply(to: &first) }
      #expect(live.log(.standard).stepNumbers.count < 50)
    }
    await early.next(isolation: #isolation)?.apply(to: &first)
    await late.next(isolation: #isolation)?.apply(to: &second)
    #expect(first == Array(0..<500))
    #expect(second == first)
    #expect(live.log(.standard).stepNumbers.isEmpty)
  }

  @Test func cancellingTheTaskEndsTheObservation() async throws {
    let (told, tell) = AsyncStream.makeStream(of: Int.self)
    let cubs = cubs
    let task = Task { @MainActor in
      for await change in cubs.changes {
        if case .initial(let cubs) = change { tell.yield(cubs.count) }
      }
      tell.yield(-1)
    }
    var seen = told.makeAsyncIterator()
    #expect(await seen.next() == 0)
    #expect(isObserved)
    task.cancel()
    #expect(await seen.next() == -1)
    #expect(!isObserved)
  }

  @Test func lettingGoOfTheIteratorEndsTheObservation() async throws {
    var changes: ChangeSequence<ObservedChange<Results<Cub>, CollectionDelta<Cub>>>.Iterator? =
      cubs.changes.makeAsyncIterator()
    #expect(!isObserved)
    _ = await changes?.next(isolation: #isolation)
    #expect(isObserved)
    changes = nil
    #expect(!isObserved)
  }

  @Test func anObjectsChangesEndWithItsDeletion() async throws {
    try realm.write { realm.add(Cub(1, "a")) }
    let cub = try #require(realm.object(ofType: Cub.self, forPrimaryKey: 1))
    var changes = cub.changes.makeAsyncIterator()
    let waiting = Task { @MainActor in
      var told: [String] = []
      for await change in cub.changes {
        switch change {
        case .change(_, let properties): told.append(properties.map(\.name).joined(separator: " "))
        case .deleted: told.append("deleted")
        case .error(let error): told.append("\(error)")
        }
        if told.count == 1 { try realm.write { realm.delete(cub) } }
      }
      return told
    }
    try await yieldUntil { isObserved }
    try realm.write { cub.name = "b" }
    try realm.write { cub.age = 4 }
    #expect(try await waiting.value == ["name age", "deleted"])
    #expect(!isObserved)
    changes = cub.changes.makeAsyncIterator()
    _ = changes
  }

  @Test func aListsChangesEndWithItsObject() async throws {
    try realm.write { pack.numbers.append(1) }
    var copies: [[Int]] = []
    var copy: [Int] = []
    for await change in pack.numbers.changes {
      change.apply(to: &copy)
      copies.append(copy)
      if copies.count == 1 { try realm.write { realm.delete(pack) } }
    }
    #expect(copies == [[1], []])
    #expect(!isObserved)
  }

  @Test func anEmptyListsChangesEndWithItsObject() async throws {
    var count = 0
    for await _ in pack.numbers.changes {
      count += 1
      let pack = pack
      Task { @MainActor in try realm.write { realm.delete(pack) } }
    }
    #expect(count == 1)
  }

  @Test func aRealmTellsThatItMoved() async throws {
    var told: [Realm.Notification] = []
    let changes = realm.changes
    let task = Task { @MainActor in
      for try await change in changes {
        told.append(change)
        if told.count == 2 { break }
        try realm.write { realm.add(Cub(told.count)) }
      }
    }
    try await yieldUntil { isObserved }
    try realm.write { realm.add(Cub(7)) }
    try realm.write { realm.add(Cub(8)) }
    try await task.value
    #expect(told == [.didChange, .didChange])
    #expect(!isObserved)
  }
}
