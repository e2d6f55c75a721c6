import Foundation
import Testing

@testable import Tarn

struct CollectionDeltaTests {
  @Test func whatWasModifiedHasItsNewPositionsBesideTheOldOnes() throws {
    let instance = try PackInstance(Shelter())
    try instance.write { for id in 0..<5 { instance.realm.add(Cub(id)) } }
    let keeper = CopyKeeper(instance.cubs)
    instance.pump()
    try instance.write {
      instance.realm.delete(instance.cub(1)!)
      instance.cub(3)!.name = "new"
      instance.realm.add(Cub(9))
    }
    instance.pump()
    let delta = try #require(keeper.lastDelta)
    #expect(delta.deletions == [1])
    #expect(delta.insertions == [4])
    #expect(delta.modifications == [3])
    #expect(delta.modificationsNew == [2])
    #expect(delta.moves == [])
    #expect(delta.count == 5)
    #expect(delta.element(at: 4).id == 9)
    #expect(keeper.copy.map(\.id) == [0, 2, 3, 4, 9])
  }

  @Test func whatMovedIsAPairBesideDeletionAndInsertion() throws {
    let instance = try PackInstance(Shelter())
    try instance.write {
      for id in 0..<4 { instance.realm.add(Cub(id, age: id)) }
      instance.pack.numbers.append(objectsIn: [10, 11, 12, 13])
    }
    let sorted = CopyKeeper(instance.cubs.sorted(by: \.age))
    let numbers = CopyKeeper(instance.pack.numbers)
    instance.pump()
    try instance.write {
      instance.cub(0)!.age = 99
      instance.pack.numbers.move(from: 3, to: 0)
    }
    instance.pump()
    let rows = try #require(sorted.lastDelta)
    #expect(rows.deletions == [0])
    #expect(rows.insertions == [3])
    #expect(rows.moves == [.init(from: 0, to: 3)])
    let list = try #require(numbers.lastDelta)
    #expect(list.moves == [.init(from: 3, to: 0)])
    #expect(numbers.copy == [13, 10, 11, 12])
  }

  @Test func aModificationIsARemovalAndAnInsertionOfOneIdentity() throws {
    let instance = try PackInstance(Shelter())
    try instance.write { for id in 0..<3 { instance.realm.add(Cub(id, age: id)) } }
    let keeper = CopyKeeper(instance.cubs.sorted(by: \.age))
    instance.pump()
    let old = keeper.identities
    try instance.write {
      instance.cub(1)!.name = "new"
      instance.cub(0)!.age = 5
    }
    instance.pump()
    let difference = try #require(keeper.lastDelta).difference(from: old)
    let expected: [Swift.CollectionDifference<ElementIdentity>.Change] = [
      .remove(offset: 0, element: old[0], associatedWith: 2),
      .remove(offset: 1, element: old[1], associatedWith: nil),
      .insert(offset: 0, element: old[1], associatedWith: nil),
      .insert(offset: 2, element: old[0], associatedWith: 0),
    ]
    #expect(Array(difference.removals) + Array(difference.insertions) == expected)
    #expect(old.applying(difference) == keeper.identities)
  }

  @Test func aMapIsFollowedByKeys() throws {
    let instance = try PackInstance(Shelter())
    try instance.write { instance.pack.scores["a"] = 1 }
    var copy: [String: Int] = [:]
    let token = instance.pack.scores.observeChanges { change in
      change.apply(to: &copy)
      guard case .update(let map, let delta) = change else { return }
      #expect(delta.insertions == ["b"])
      #expect(delta.modifications == ["a"])
      #expect(delta.deletions == [])
      #expect(delta.value(for: "a") == 2)
      #expect(delta.value(for: "z") == nil)
      #expect(map.count == 2)
    }
    instance.pump()
    #expect(copy == ["a": 1])
    try instance.write {
      instance.pack.scores["a"] = 2
      instance.pack.scores["b"] = 3
    }
    instance.pump()
    #expect(copy == ["a": 2, "b": 3])
    token.invalidate()
  }

  @Test func projectedAndErasedCollectionsAreFollowed() throws {
    let instance = try PackInstance(Shelter())
    try instance.write { instance.pack.cubs.append(objectsIn: [Cub(1, "a"), Cub(2, "b")]) }
    let erased = CopyKeeper(AnyRealmCollection(instance.pack.cubs))
    let backward = CopyKeeper(instance.cub(1)!.packs)
    var names: [String] = []
    let token = instance.pack.cubs.projectTo.name.observeChanges { $0.apply(to: &names) }
    instance.pump()
    #expect(names == ["a", "b"])
    #expect(backward.copy.map(\.id) == [1])
    try instance.write {
      instance.cub(1)!.name = "new"
      instance.pack.cubs.append(Cub(3, "c"))
    }
    instance.pump()
    #expect(names == ["new", "b", "c"])
    #expect(erased.copy.map(\.id) == [1, 2, 3])
    try instance.write { instance.pack.cubs.remove(at: 0) }
    instance.pump()
    #expect(backward.copy.isEmpty)
    #expect(names == ["b", "c"])
    token.invalidate()
  }

  /// A callback before this one has written, so that the list shows more than is told.
  @Test func aDeltaGivesWhatItLeadsToThoughACallbackHasWrittenSince() throws {
    let instance = try PackInstance(Shelter())
    try instance.write { instance.pack.numbers.append(objectsIn: [1, 2]) }
    var mayWrite = false
    let writer = instance.pack.numbers.observe { change in
      guard mayWrite, case .update(let numbers, _, _, _) = change else { return }
      mayWrite = false
      instance.realm.beginWrite()
      numbers.removeFirst()
      numbers[0] = 20
      #expect(throws: Never.self) { try instance.realm.commitWrite() }
    }
    var copies: [[Int]] = []
    let keeper = CopyKeeper(instance.pack.numbers) { copies.append($0.copy) }
    let filtered = CopyKeeper(instance.pack.numbers.sorted(ascending: false))
    instance.pump()
    mayWrite = true
    try instance.write { instance.pack.numbers.append(3) }
    instance.pump()
    #expect(copies == [[1, 2], [1, 2, 3], [20, 3]])
    #expect(filtered.copy == [20, 3])
    writer.invalidate()
    keeper.token?.invalidate()
  }

  @Test func aCallLeadsToTheStateBeforeACommitThatWasLeftOut() throws {
    let instance = try PackInstance(Shelter())
    var copies: [[Int]] = []
    let keeper = CopyKeeper(instance.pack.numbers) { copies.append($0.copy) }
    instance.pump()
    var mayWrite = true
    let first = instance.cubs.observe { change in
      guard mayWrite, case .update = change else { return }
      mayWrite = false
      #expect(throws: Never.self) {
        try instance.write { instance.pack.numbers.append(2) }
        instance.realm.beginWrite()
        instance.pack.numbers[0] = 10
        try instance.realm.commitWrite(withoutNotifying: [keeper.token!])
      }
    }
    instance.pump()
    try instance.write {
      instance.realm.add(Cub(1))
      instance.pack.numbers.append(1)
    }
    instance.pump()
    // The observer was told of the first append before its own turn came.
    #expect(copies.first == [])
    #expect(copies.dropFirst().first == [1])
    // What was left out is in no delta, and what came before it is.
    #expect(copies.last == [1, 2])
    #expect(instance.pack.numbers.elementsEqual([10, 2]))
    first.invalidate()
  }

  /// The same of results whose steps do not say what they led to: that is read from the file.
  @Test(arguments: [true, false])
  func soItDoesWithDistinctResults(isLeftOut: Bool) throws {
    let instance = try PackInstance(Shelter())
    try instance.write { for id in 1...3 { instance.realm.add(Cub(id, "\(id % 2)")) } }
    var copies: [[Int]] = []
    var token: NotificationToken?
    var mayWrite = true
    let first = instance.cubs.observe { change in
      guard mayWrite, case .update = change else { return }
      mayWrite = false
      #expect(throws: Never.self) {
        instance.realm.beginWrite()
        instance.cub(1)!.name = "0"
        try instance.realm.commitWrite(withoutNotifying: isLeftOut ? [token!] : [])
      }
    }
    let keeper = CopyKeeper(instance.cubs.distinct(by: ["name"])) {
      copies.append($0.copy.map(\.id))
    }
    token = keeper.token
    instance.pump()
    try instance.write { for id in 1...2 { instance.cub(id)!.age = 5 } }
    instance.pump()
    #expect(copies == [[1, 2], [1, 2]] + (isLeftOut ? [] : [[1, 3]]))
    first.invalidate()
  }

  @Test func aDeltaReadsItsOwnVersionAfterALaterWrite() throws {
    let instance = try PackInstance(Shelter())
    let keeper = CopyKeeper(instance.pack.numbers)
    instance.pump()
    try instance.write { instance.pack.numbers.append(objectsIn: [1, 2]) }
    instance.pump()
    let delta = try #require(keeper.lastDelta)
    var array = [Int]()
    delta.apply(to: &array)
    #expect(array == [1, 2])
    let kept = delta.element(at: 0)
    try instance.write { instance.pack.numbers.removeAll() }
    #expect(kept == 1)
    #expect(delta.element(at: 1) == 2)
    #expect(delta.count == 2)
  }
}
