import Foundation
import TestSupport
import Testing

@testable import Tarn

/// `index(matching:)` of every kind of collection, in a Realm and in none.
struct MatchingPositionTests {
  private func steer() -> Steer {
    let steer = Steer()
    steer.scores.append(objectsIn: [1.1, 2.2, 3.3, 2.2])
    steer.moods.append(objectsIn: [.odd, .calm, .wild])
    steer.words.insert(objectsIn: ["Ab", "b", "c"])
    return steer
  }

  private func check(_ steer: Steer) {
    #expect(steer.scores.index(matching: { $0 > 1.1 }) == 1)
    #expect(steer.scores.index(matching: "SELF > %@", 2.2) == 2)
    #expect(steer.scores.index(matching: "SELF == 2.2") == 1)
    #expect(steer.scores.index(matching: { $0 > 1.1 && $0 != 2.2 || $0 == 9 }) == 2)
    #expect(steer.scores.index(matching: "self BETWEEN {2, 3} AND NOT SELF IN {7}") == 1)
    #expect(steer.scores.index(matching: { $0.contains(5...6) }) == nil)
    #expect(steer.moods.index(matching: { $0 == .calm }) == 1)
    #expect(steer.moods.index(matching: { $0.rawValue.starts(with: "w") }) == 2)
    #expect(steer.moods.index(matching: "SELF BEGINSWITH 'c'") == 1)
    #expect(steer.words.index(matching: "SELF ==[c] 'B'") == 1)
    #expect(steer.words.index(matching: { $0.contains("b") }) == 0)
    #expect(AnyRealmCollection(steer.scores).index(matching: { $0 >= 3 }) == 2)
  }

  @Test func valuesOfUnmanagedCollections() { check(steer()) }

  @Test func valuesOfManagedCollections() throws {
    let instance = try Shelter().openSteers()
    let steer = steer()
    try instance.write {
      instance.realm.add(steer)
      check(steer)
    }
    check(steer)
    #expect(steer.scores.sorted(ascending: false).index(matching: { $0 < 3 }) == 1)
  }

  @Test func objectsOfUnmanagedCollections() throws {
    let herd = SteerHerd()
    for id in 0..<4 {
      let steer = steer()
      (steer.id, steer.weight, steer.mood) = (id, [0, 1.1, 2.2, 3.3][id], .allCases[id % 3])
      steer.brand = id == 2 ? SteerBrand("x", 1, marks: [1]) : nil
      steer.ratings["k\(id)"] = id
      steer.tag = SteerTag(String(repeating: "long ", count: 100) + "\(id)")
      herd.animals.append(steer)
    }
    herd.chief = herd.animals[1]
    let animals = herd.animals
    #expect(animals.index(matching: { $0.weight > 1.1 }) == 2)
    #expect(animals.index(matching: "weight == 1.1") == 1)
    #expect(animals.index(matching: { $0.mood == .wild }) == 2)
    #expect(animals.index(matching: { $0.brand.sign == "x" }) == 2)
    #expect(animals.index(matching: { $0.brand == SteerBrand("x", 1, marks: [1]) }) == 2)
    #expect(animals.index(matching: "brand == %@", SteerBrand("x", 1)) == nil)
    #expect(animals.index(matching: { $0.scores > 3 }) == 0)
    #expect(animals.index(matching: "ANY ratings.@allKeys == 'k3' AND weight > 1") == 3)
    #expect(animals.index(matching: { $0.tag.persistableValue.ends(with: "long 3") }) == 3)
    #expect(animals.index(matching: { $0.herds.count > 0 }) == nil)
    let ranch = SteerRanch()
    ranch.herds.append(objectsIn: [SteerHerd(), herd])
    #expect(ranch.herds.index(matching: { $0.chief.weight == 1.1 }) == 1)
    #expect(ranch.herds.index(matching: "ANY animals.moods == 'wild'") == 1)
    #expect(ranch.herds.index(matching: { $0.animals.count == 0 }) == 0)
    #expect(ranch.herds.index(matching: "label == 'none'") == nil)
  }

  /// An unmanaged list may hold objects of a Realm.
  @Test func managedObjectsOfUnmanagedCollections() throws {
    let instance = try Shelter().openSteers()
    let (first, second) = try instance.realm.write {
      let herds = (0..<2).map { instance.realm.create(SteerHerd.self, value: ["id": $0]) }
      for id in 0..<2 {
        let steer = instance.realm.create(Steer.self, value: ["id": id])
        herds[id].chief = steer
        herds[1].animals.append(steer)
      }
      return (instance.steer(0)!, instance.steer(1)!)
    }
    let ranch = SteerRanch()
    ranch.herds.append(objectsIn: [SteerHerd(), instance.herd(0)!, instance.herd(1)!])
    #expect(ranch.herds.index(matching: { $0.chief == second }) == 2)
    #expect(ranch.herds.index(matching: "chief == %@", first) == 1)
    #expect(ranch.herds.index(matching: { $0.animals.contains(first) }) == 2)
    #expect(ranch.herds.index(matching: { $0.chief.herds.count == 1 }) == 1)
  }
}

/// What a program is told whose condition does not fit the values.
struct MatchingTrapTests: TrapSuite {
  private let shelter = Result { try Shelter() }
  private var folder: String { get throws { try shelter.get().folder } }

  static let traps: [TrapCase] = [
    TrapCase(
      "text", "Invalid filter \"SELF == 'a'\" on values of 'Float' at character 1: the value is"
    ) { _ in _ = Steer().scores.index(matching: "SELF == 'a'") },
    TrapCase("property", "Invalid filter \"legs == 1\" on values of 'Float' at character 1: values")
    { _ in _ = Steer().scores.index(matching: "legs == 1") },
    TrapCase(
      "unmanaged", "Invalid filter \"legs == 1\" on 'Steer' at character 1: class 'Steer' has"
    ) { _ in _ = SteerHerd().animals.index(matching: "legs == 1") },
  ]

  @Test(arguments: traps.map(\.name))
  func stops(_ name: String) async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      [folder = try folder as String, name] in
      try await MatchingTrapTests.traps.named(name).run(Shelter(within: folder))
    }
    try expect(Self.traps.named(name).message, in: result)
  }
}
