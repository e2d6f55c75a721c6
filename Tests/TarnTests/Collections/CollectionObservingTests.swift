import Foundation
import TestSupport
import Testing

@testable import Tarn

struct CollectionObservingTests {
  private let shelter: Shelter
  private let a: Instance
  private let b: Instance
  private let chest: Chest

  init() throws {
    shelter = try Shelter()
    let a = try shelter.openChests()
    self.a = a
    b = try shelter.openChests()
    try a.write {
      let made = a.realm.create(Chest.self, value: ["id": 1])
      made.numbers.append(objectsIn: 0..<5)
      made.tags.insert(objectsIn: ["a", "b", "c"])
      made.scores.merge(["a": 1, "b": 2]) { _, new in new }
      for value in 0..<3 { made.coins.append(Coin(value)) }
      made.gems.insert(objectsIn: made.coins)
      made.named["x"] = made.coins[0]
      a.realm.create(Chest.self, value: ["id": 2])
    }
    b.realm.refresh()
    chest = try #require(a.chest(1))
  }

  private func seen() throws -> ChestRecorder {
    let recorder = ChestRecorder(try #require(b.chest(1)))
    b.pump()
    return recorder
  }

  private func write(_ block: () throws -> Void) throws {
    try a.write(block)
    b.pump()
  }

  @Test func positionsOfLists() throws {
    let recorder = try seen()
    #expect(recorder.numbers.calls == ["initial 5"])
    try write { chest.numbers[1] = 1 }
    try write { chest.numbers.move(from: 0, to: 4) }
    try write { chest.numbers.swapAt(0, 1) }
    try write {
      chest.numbers.removeAll()
      chest.numbers.append(7)
    }
    try write { a.chest(2)?.numbers.append(1) }
    #expect(
      Array(recorder.numbers.calls.dropFirst()) == [
        "-[] +[] ~[1]", "-[0] +[4] ~[]", "-[0] +[1] ~[]", "-[0, 1, 2, 3, 4] +[0] ~[]",
      ])
    #expect(recorder.problems == [])
    #expect(recorder.tags.calls == ["initial 3"])
  }

  @Test func elementsThatWentAndCameBack() throws {
    let recorder = try seen()
    try write {
      chest.tags.removeAll()
      chest.tags.insert(objectsIn: ["c", "d", "a"])
      chest.scores.removeAll()
      chest.scores["b"] = 2
    }
    try write { chest.tags.insert("a") }
    #expect(recorder.tags.calls == ["initial 3", "-[1] +[2] ~[]"])
    #expect(recorder.scores.calls == ["initial 2", #"-["a"] +[] ~["b"]"#])
    // In two commits that are told in one call.
    try a.write {
      chest.tags.remove("a")
      chest.scores["b"] = nil
    }
    try write {
      chest.tags.insert("a")
      chest.scores["b"] = 3
    }
    #expect(recorder.tags.calls.count == 2)
    #expect(recorder.scores.calls.last == #"-[] +[] ~["b"]"#)
    #expect(recorder.problems == [])
  }

  /// In the map's own order, which is bytewise, not in that of the assignments.
  @Test func keysAreToldInTheirOrder() throws {
    let recorder = try seen()
    try write { for key in ["z", "Z", "é", "a2", "a10"] { chest.scores[key] = 1 } }
    #expect(recorder.scores.calls.last == #"-[] +["Z", "a10", "a2", "z", "é"] ~[]"#)
    try write {
      for key in ["b", "é", "a2", "Z"] { chest.scores[key] = 2 }
      for key in ["z", "a10"] { chest.scores.removeObject(for: key) }
    }
    #expect(recorder.scores.calls.last == #"-["a10", "z"] +[] ~["Z", "a2", "b", "é"]"#)
  }

  @Test func objectsThatChanged() throws {
    let recorder = try seen()
    try write { chest.coins.append(chest.coins[0]) }
    try write { chest.coins[0].weight = 4 }
    #expect(recorder.coins.calls == ["initial 3", "-[] +[3] ~[]", "-[] +[] ~[0, 3]"])
    #expect(recorder.gems.calls == ["initial 3", "-[] +[] ~[0]"])
    #expect(recorder.named.calls == ["initial 1", #"-[] +[] ~["x"]"#])
    // Twice more without a move: from the index.
    try write { chest.coins[1].weight = 4 }
    try write { chest.coins[0].weight = 4 }
    #expect(Array(recorder.coins.calls.suffix(2)) == ["-[] +[] ~[1]", "-[] +[] ~[0, 3]"])
    // Setting an element makes the index useless.
    let second = chest.coins[1]
    try write { chest.coins[1] = chest.coins[2] }
    try write { second.weight = 5 }
    try write { chest.coins[2].weight = 5 }
    #expect(Array(recorder.coins.calls.suffix(2)) == ["-[] +[] ~[1]", "-[] +[] ~[1, 2]"])
    try write { chest.coins[1] = second }
    try write { a.realm.delete(chest.coins[0]) }
    #expect(recorder.coins.calls.last == "-[0, 3] +[] ~[]")
    #expect(recorder.gems.calls.last == "-[0] +[] ~[]")
    #expect(recorder.named.calls.last == #"-[] +[] ~["x"]"#)
    try write { a.realm.delete(a.realm.objects(Coin.self)) }
    #expect(recorder.coins.calls.last == "-[0, 1] +[] ~[]")
    #expect(recorder.problems == [])
  }

  @Test func theObjectWithThemIsDeleted() throws {
    let recorder = try seen()
    try write { chest.coins.removeAll() }
    try write { a.realm.delete(chest) }
    try write { a.realm.create(Chest.self, value: ["id": 1, "numbers": [1]]) }
    #expect(recorder.numbers.calls == ["initial 5", "-[0, 1, 2, 3, 4] +[] ~[]"])
    #expect(recorder.tags.calls == ["initial 3", "-[0, 1, 2] +[] ~[]"])
    #expect(recorder.scores.calls == ["initial 2", #"-["a", "b"] +[] ~[]"#])
    #expect(recorder.coins.calls == ["initial 3", "-[0, 1, 2] +[] ~[]"])
    #expect(recorder.words.calls == ["initial 0"])
    #expect(recorder.problems == [])
  }

  @Test func theObjectWithThemIsDeletedWithItsClass() throws {
    let recorder = try seen()
    try write { a.realm.deleteAll() }
    #expect(recorder.numbers.calls == ["initial 5", "-[0, 1, 2, 3, 4] +[] ~[]"])
    #expect(recorder.named.calls == ["initial 1", #"-["x"] +[] ~[]"#])
    #expect(recorder.words.calls == ["initial 0"])
    #expect(recorder.problems == [])
  }

  @Test func ownCommitsCanBeLeftOut() throws {
    let recorder = try seen()
    let chest = try #require(b.chest(1))
    let token = try #require(recorder.numbers.token)
    try b.write { chest.numbers.append(5) }
    try b.realm.write(withoutNotifying: [token]) { chest.numbers.removeFirst() }
    try b.write { chest.numbers[0] = 1 }
    b.pump()
    #expect(recorder.numbers.calls == ["initial 5", "-[] +[5] ~[]", "-[] +[] ~[0]"])
  }

  @Test func objectObserversAreToldTheName() throws {
    var told: [String] = []
    let token = try #require(b.chest(1)).observe { change in
      if case .change(_, let properties) = change {
        told += properties.map { "\($0.name) \($0.oldValue == nil) \($0.newValue == nil)" }
      }
    }
    try write {
      chest.numbers.append(1)
      chest.tags.insert("z")
      chest.tags.insert("a")
      chest.scores["a"] = 5
    }
    #expect(told == ["numbers true true", "tags true true", "scores true true"])
    token.invalidate()
  }

  @Test func anEndedObservationIsSilent() throws {
    let recorder = try seen()
    recorder.end()
    try write { chest.numbers.append(1) }
    #expect(recorder.numbers.calls == ["initial 5"])
    // And one that begins anew starts from what is there.
    let again = try seen()
    try write { chest.numbers.append(1) }
    #expect(again.numbers.calls == ["initial 6", "-[] +[6] ~[]"])
  }

  @Test func whatLinksHere() throws {
    let coin = try #require(b.realm.objects(Coin.self).first)
    let recorder = SequenceRecorder(coin.chests) { "\($0.id)" }
    b.pump()
    #expect(recorder.calls == ["initial 1"])
    let (mine, second) = (try #require(a.realm.objects(Coin.self).first), try #require(a.chest(2)))
    try write {
      second.coins.append(objectsIn: [mine, mine])
      chest.numbers.append(1)
    }
    try write { second.numbers.append(1) }
    try write { second.coins.remove(at: 0) }
    try write { a.realm.delete(chest) }
    try write { mine.value = 8 }
    try write { a.realm.delete(mine) }
    try write { a.realm.delete(second) }
    #expect(
      Array(recorder.calls.dropFirst()) == [
        "-[] +[1, 2] ~[0]", "-[] +[] ~[1, 2]", "-[2] +[] ~[1]", "-[0] +[] ~[]", "-[] +[] ~[0]",
        "-[0] +[] ~[]",
      ])
    #expect(recorder.problems == [])
    recorder.token?.invalidate()
  }

  @Test func anObserverThatIsFirstCalledInsideAWrite() throws {
    // The begin of this write makes the first calls; the earlier observer changes the list there.
    let chest = try #require(b.chest(1))
    var isFirst = true
    let meddler = chest.tags.observe { _ in
      guard isFirst, b.realm.isInWriteTransaction else { return }
      isFirst = false
      chest.numbers.removeAll()
      chest.numbers.append(objectsIn: [8, 9])
      chest.scores["new"] = 3
    }
    let numbers = SequenceRecorder(chest.numbers) { "\($0)" }
    let scores = MapRecorder(chest.scores) { "\($0)" }
    try b.write { chest.numbers.append(10) }
    b.pump()
    #expect(numbers.calls == ["initial 2", "-[0, 1] +[0, 1, 2] ~[]"])
    #expect(scores.calls.first == "initial 3")
    #expect(numbers.mirror == ["8", "9", "10"])
    #expect(numbers.problems == [])
    #expect(scores.problems == [])
    for token in [meddler, numbers.token, scores.token] { token?.invalidate() }
  }

  @Test func anotherProcessChangesThem() async throws {
    let recorder = try seen()
    let said = KeptErrors(in: shelter.folder)
    let result = await #expect(processExitsWith: .success) {
      [path = shelter.folder + "/chests.realm" as String, said = said as KeptErrors] in
      said.keep()
      var configuration = Realm.Configuration(fileURL: URL(fileURLWithPath: path))
      configuration.objectTypes = [Chest.self, Coin.self, Elements.self]
      configuration.durability = .relaxed
      let realm = try Realm(configuration: configuration)
      let chest = realm.object(ofType: Chest.self, forPrimaryKey: 1)!
      try realm.write {
        chest.numbers.move(from: 4, to: 0)
        chest.numbers.append(objectsIn: 0..<1000)
      }
      try realm.write {
        chest.tags.remove("b")
        chest.scores["a"] = 9
        chest.coins[2].weight = 1
        chest.numbers[500] = -1
      }
    }
    said.tell(result)
    b.scheduler.adopt()
    b.pump()
    #expect(recorder.tags.calls == ["initial 3", "-[1] +[] ~[]"])
    #expect(recorder.scores.calls == ["initial 2", #"-[] +[] ~["a"]"#])
    #expect(recorder.coins.calls == ["initial 3", "-[] +[] ~[2]"])
    #expect(recorder.numbers.calls == ["initial 5", "-[4] +\([0] + Array(5..<1005)) ~[]"])
    #expect(recorder.problems == [])
    recorder.end()
  }

  @Test func objectsOfSeveralClassesInOneList() throws {
    var configuration = shelter.configuration
    configuration.objectTypes = [Safe.self, Coin.self, Chest.self]
    let (a, b) = (try Instance(configuration, shelter), try Instance(configuration, shelter))
    let safe = Safe()
    let coins = (0..<3).map { Coin($0) }
    safe.other.append(objectsIn: [.object(coins[0]), .object(safe), .object(coins[1])])
    safe.other.append(objectsIn: [.int(0), .object(coins[0])])
    safe.other.append(objectsIn: (0..<100).map { .int($0) })
    try a.write { a.realm.add([safe, coins[2]]) }
    b.realm.refresh()
    let other = try #require(b.realm.objects(Safe.self).first?.other)
    let recorder = SequenceRecorder(other) { "\($0.object(Coin.self)?.value ?? -1)" }
    b.pump()
    for value in 10..<13 {
      try a.write { coins[0].value = value }
      b.pump()
    }
    try a.write { coins[2].value = 20 }
    b.pump()
    try a.write { safe.other.remove(at: 3) }
    b.pump()
    try a.write { coins[0].value = 30 }
    b.pump()
    try a.write {
      safe.number = 1
      coins[1].value = 1
    }
    b.pump()
    #expect(
      recorder.calls == ["initial 105"] + Array(repeating: "-[] +[] ~[0, 1, 4]", count: 3) + [
        "-[3] +[] ~[1]", "-[] +[] ~[0, 1, 3]", "-[] +[] ~[1, 2]",
      ])
    #expect(recorder.problems == [])
    recorder.token?.invalidate()
  }

  @Test func listsAndMapsWithinValues() throws {
    var configuration = shelter.configuration
    configuration.objectTypes = [Safe.self]
    let (a, b) = (try Instance(configuration, shelter), try Instance(configuration, shelter))
    let safe = Safe()
    safe.content = .fromArray([.int(1), .string("two"), .fromDictionary(["a": .int(1)])])
    try a.write { a.realm.add(safe) }
    b.realm.refresh()
    let list = try #require(b.realm.objects(Safe.self).first?.content.listValue)
    let map = try #require(list[2].dictionaryValue)
    let listRecorder = SequenceRecorder(list) { "\($0.intValue ?? 0) \($0.stringValue ?? "")" }
    let mapRecorder = MapRecorder(map) { "\($0.intValue ?? 0)" }
    b.pump()
    try a.write {
      safe.content.listValue?[0] = .int(7)
      safe.content.listValue?[2].dictionaryValue?["b"] = .int(2)
      safe.other.append(objectsIn: [.bool(true), .object(safe)])
    }
    b.pump()
    let other = try #require(b.realm.objects(Safe.self).first?.other)
    let otherRecorder = SequenceRecorder(other) { _ in "" }
    b.pump()
    try a.write { safe.number += 1 }
    b.pump()
    #expect(otherRecorder.calls == ["initial 2", "-[] +[] ~[1]"])
    otherRecorder.token?.invalidate()
    try a.write { safe.content.listValue?.remove(at: 2) }
    b.pump()
    try a.write { safe.content = .none }
    b.pump()
    try a.write { safe.content = .fromArray([.int(1)]) }
    b.pump()
    #expect(listRecorder.calls == ["initial 3", "-[] +[] ~[0]", "-[2] +[] ~[]", "-[0, 1] +[] ~[]"])
    #expect(mapRecorder.calls == ["initial 1", #"-[] +["b"] ~[]"#, #"-["a", "b"] +[] ~[]"#])
    #expect(list.isInvalidated)
    #expect(map.isInvalidated)
    #expect(listRecorder.problems == [])
    #expect(mapRecorder.problems == [])
    listRecorder.token?.invalidate()
    mapRecorder.token?.invalidate()
  }
}

class Safe: Object {
  @Persisted var number = 0
  @Persisted var content: AnyRealmValue
  @Persisted var other: List<AnyRealmValue>
}
