import Dispatch
import Foundation
import Testing

@testable import Tarn

/// All that is known of a change of sections.
struct SectionDeltaTests {
  private typealias ByName = SectionedResults<String, Cat>
  private typealias Delta = SectionsDelta<String, Cat>

  /// Cats named a, b, a, c, b with ages 0, 10, …
  private func open() throws -> Instance {
    let instance = try Shelter().open()
    try instance.write {
      for (id, name) in ["a", "b", "a", "c", "b"].enumerated() {
        instance.realm.add(Cat(id, name, age: 10 * id))
      }
    }
    return instance
  }

  /// Sections by name in the order of their youngest.
  private func byAge(_ instance: Instance) -> ByName {
    instance.cats.sectioned(by: { $0.name }, sortDescriptors: ["age"])
  }

  private func keeper(_ sections: ByName, _ instance: Instance) -> SectionCopyKeeper<String, Cat> {
    let keeper = SectionCopyKeeper(sections)
    instance.pump()
    return keeper
  }

  private func last(
    _ keeper: SectionCopyKeeper<String, Cat>, _ instance: Instance
  ) throws -> Delta {
    instance.pump()
    #expect(keeper.problems == [])
    return try #require(keeper.lastDelta)
  }

  @Test func aModifiedElementHasItsOldAndItsNewPosition() throws {
    let a = try open()
    let keeper = keeper(a.cats.sectioned(by: \.name), a)
    try a.write {
      a.realm.delete(a.cat(0)!)
      a.cat(2)?.age += 1
      a.realm.add(Cat(9, "A"))
      a.cat(4)?.age += 1
    }
    let delta = try last(keeper, a)
    #expect(delta.modifications == [[0, 1], [1, 1]])
    #expect(delta.modificationsNew == [[1, 0], [2, 1]])
    #expect(delta.deletions == [[0, 0]])
    #expect(delta.insertions == [[0, 0]])
    #expect(delta.sectionsToInsert == [0])
    #expect(delta.moves.isEmpty)
    #expect(delta.sectionMoves.isEmpty)
    #expect(delta.keys == ["A", "a", "b", "c"])
    #expect(delta.count == 4)
    #expect(delta.count(of: 2) == 2)
    #expect(delta.key(of: 2) == "b")
    #expect(delta.element(at: [2, 1]).id == 4)
  }

  @Test func elementsThatMoveArePairs() throws {
    let a = try open()
    let keeper = keeper(a.cats.sectioned(by: { $0.name }, sortDescriptors: ["name", "age"]), a)
    try a.write {
      // To another section, within its own, and into one that comes.
      a.cat(0)?.name = "b"
      a.cat(4)?.age = 5
      a.cat(3)?.name = "d"
    }
    let delta = try last(keeper, a)
    #expect(
      delta.moves == [
        Delta.Move(from: [0, 0], to: [1, 0]), Delta.Move(from: [1, 1], to: [1, 1]),
        Delta.Move(from: [2, 0], to: [2, 0]),
      ])
    #expect(delta.deletions == [[0, 0], [1, 1]])
    #expect(delta.insertions == [[1, 0], [1, 1], [2, 0]])
    #expect(delta.sectionsToDelete == [2])
    #expect(delta.sectionsToInsert == [2])
    #expect(delta.sectionMoves.isEmpty)
  }

  @Test func aSectionThatMovesIsAPairWithItsElements() throws {
    let a = try open()
    let keeper = keeper(byAge(a), a)
    try a.write { a.cat(4)?.age = -1 }
    let delta = try last(keeper, a)
    #expect(delta.keys == ["b", "a", "c"])
    #expect(delta.sectionMoves == [Delta.SectionMove(from: 0, to: 1)])
    #expect(
      delta.moves == [
        Delta.Move(from: [0, 0], to: [1, 0]), Delta.Move(from: [0, 1], to: [1, 1]),
        Delta.Move(from: [1, 1], to: [0, 0]),
      ])
    #expect(delta.deletions == [[1, 1]])
    #expect(delta.insertions == [[0, 0], [1, 0], [1, 1]])
  }

  /// The two positions of a move know of each other, those of what changed do not.
  @Test func theDifferenceOfIdentitiesAssociatesMoves() throws {
    let a = try open()
    let keeper = keeper(byAge(a), a)
    var old: [SectionedIdentity<String>] = []
    ObservedChange<ByName, Delta>.initial(byAge(a)).apply(toIdentities: &old)
    try a.write {
      a.cat(4)?.age = -1
      a.cat(3)?.age = 31
    }
    let delta = try last(keeper, a)
    let difference = delta.difference(from: old)
    let removed = difference.removals.compactMap { change -> [Int]? in
      guard case .remove(let offset, _, let target) = change else { return nil }
      return [offset, target ?? -1]
    }
    // Was a 0 2, b 1 4, c 3; is b 4 1, a 0 2, c 3.
    #expect(removed == [[0, 3], [1, 4], [2, 5], [5, 1], [7, -1]])
    #expect(old.applying(difference)?.first == .section("b"))
    var new: [SectionedIdentity<String>] = []
    ObservedChange<ByName, Delta>.initial(byAge(a)).apply(toIdentities: &new)
    #expect(old.applying(difference) == new)
  }

  /// Whatever a callback has written meanwhile, a delta is of the version that it leads to.
  @Test func aDeltaKeepsToItsVersion() throws {
    let a = try open()
    var left = 3
    let writer = a.cats.observe { _ in
      guard left > 0 else { return }
      left -= 1
      try! a.write {
        a.cat(0)?.name = "n\(left)"
        a.realm.add(Cat(100 + left, "n\(left)", age: 100 + left))
      }
    }
    let sections = byAge(a)
    var copy: [SectionCopy<String, Cat>] = []
    var held: [[String: [Int]]] = []
    let token = sections.observeChanges { change in
      change.apply(to: &copy)
      held.append(
        Dictionary(uniqueKeysWithValues: copy.map { ($0.key, $0.elements.map(\.id)) }))
    }
    a.pump()
    #expect(
      held.dropFirst().suffix(2) == [
        ["n1": [0, 101], "b": [1, 4], "a": [2], "c": [3], "n2": [102]],
        ["n0": [0, 100], "b": [1, 4], "a": [2], "c": [3], "n1": [101], "n2": [102]],
      ])
    #expect(copy.map(\.key) == sections.allKeys)
    #expect(held.count > 2)
    writer.invalidate()
    token.invalidate()
  }

  @Test func whatChangedBehindAnElement() throws {
    let instance = try Shelter().openIsles(5)
    try instance.write {
      instance.isle(3).list.append(objectsIn: [instance.isle(0), instance.isle(4)])
    }
    let sections = instance.isles.sectioned(by: { $0.id % 2 }, sortDescriptors: ["id"])
    var deltas: [SectionsDelta<Int, Isle>] = []
    var rows: [CollectionDelta<Isle>] = []
    let all = sections.observeChanges(depth: 1) { change in
      if case .update(_, let delta) = change { deltas.append(delta) }
    }
    let one = sections[1].observeChanges(keyPaths: [\.list[0].name]) { change in
      if case .update(_, let delta) = change { rows.append(delta) }
    }
    instance.pump()
    try instance.write {
      instance.realm.delete(instance.isle(1))
      instance.isle(4).name = "new"
      instance.isle(0).numbers.append(1)
    }
    instance.pump()
    let delta = try #require(deltas.last)
    #expect(delta.modificationsNew == [[0, 0], [0, 2], [1, 0]])
    let appended = "numbers -[] +[0] ~[]>[]"
    #expect(delta.nested(at: [0, 0]).map(\.text) == [appended])
    #expect(delta.nested(at: [0, 1]).isEmpty)
    #expect(delta.nested(at: [0, 2]).map(\.text) == ["name"])
    #expect(
      delta.nested(at: [1, 0]).map(\.text) == ["list[0>0].\(appended)", "list[1>1].name"])
    let section = try #require(rows.last)
    #expect(section.modifications == [1])
    #expect(section.modificationsNew == [0])
    #expect(section.nested(at: 0).map(\.text) == ["list[1>1].name"])
    all.invalidate()
    one.invalidate()
  }

  /// Wherever it is among the others.
  @Test func oneSectionHasADeltaOfItsElements() throws {
    let a = try open()
    var copy: [Cat] = []
    var calls: [String] = []
    let token = byAge(a)[1].observeChanges { change in
      change.apply(to: &copy)
      switch change {
      case .initial: calls.append("initial")
      case .update(_, let delta):
        let moves = delta.moves.map { "\($0.from)>\($0.to)" }
        calls.append(
          "-\(delta.deletions) +\(delta.insertions) ~\(delta.modificationsNew) \(moves)")
      case .error(let error): Issue.record(error)
      }
    }
    func told() -> [String] {
      a.pump()
      #expect(copy.map(\.id) == a.cats.where { $0.name == "b" }.sorted(by: \.age).map(\.id))
      defer { calls = [] }
      return calls
    }
    #expect(told() == ["initial"])
    try a.write { a.cat(0)?.age = 100 }
    #expect(told() == [])
    try a.write { a.cat(3)?.age = -5 }
    #expect(told() == [])
    try a.write { a.cat(1)?.age = 11 }
    #expect(told() == ["-[] +[] ~[0] []"])
    // It has moved among the rows of all sections.
    try a.write { a.cat(1)?.age = -10 }
    #expect(told() == ["-[0] +[0] ~[] [\"0>0\"]"])
    try a.write { a.cat(4)?.age = -20 }
    #expect(told() == ["-[1] +[0] ~[] [\"1>0\"]"])
    try a.write { for cat in [a.cat(1), a.cat(4)] { cat?.name = "x" } }
    #expect(told() == ["-[0, 1] +[] ~[] []"])
    try a.write { a.cat(1)?.name = "b" }
    #expect(told() == ["-[] +[0] ~[] []"])
    token.invalidate()
  }

  /// Deltas of sections go to other queues as those of collections do.
  @Test func aCopyOnAQueueFollows() async throws {
    let a = try open()
    let queue = DispatchQueue(label: "sections")
    nonisolated(unsafe) var copy: [SectionCopy<String, Cat>] = []  // because: it is the queue's
    let (told, calls) = AsyncStream.makeStream(of: [String].self)
    let token = a.cats.sectioned(by: \.name).observeChanges(on: queue) { change in
      change.apply(to: &copy)
      calls.yield(copy.map { "\($0.key): \($0.elements.map(\.age))" })
    }
    var next = told.makeAsyncIterator()
    #expect(await next.next() == ["a: [0, 20]", "b: [10, 40]", "c: [30]"])
    a.scheduler.adopt()
    try a.write { a.cat(3)?.name = "a" }
    #expect(await next.next() == ["a: [0, 20, 30]", "b: [10, 40]"])
    token.invalidate()
  }
}
