import Foundation
import TestSupport
import Testing

@testable import Tarn

/// The collections of many objects, each observed, and random changes of objects that are in some
/// of them: each observer knows afterwards what its collection shows.
struct RoutedCollectionsTests {
  @Test(arguments: Seeds.of(1...4))
  func collectionsFollowTheirObjects(seed: Int) throws {
    var numbers = SeededRandom(seed: UInt64(seed))
    let instance = try PackInstance(try Shelter())
    let realm = instance.realm
    try realm.write {
      for id in 0..<30 { realm.add(Cub(id, "cub", age: numbers.below(9))) }
      for id in 2..<20 { realm.create(Pack.self, value: ["id": id]) }
    }
    let packs = Array(realm.objects(Pack.self))
    func text(_ cub: Cub) -> String { "\(cub.id) \(cub.name) \(cub.age)" }
    let lists = packs.map { SequenceRecorder($0.cubs, text) }
    let sets = packs.map { SequenceRecorder($0.friends, text) }
    let derived = packs.flatMap { pack in
      [
        pack.cubs.sorted(by: \.age), pack.cubs.where { $0.age == 3 },
        pack.cubs.where { $0.age < 4 }.sorted(by: \.name),
      ]
    }
    let results = derived.map { SequenceRecorder($0, text) }
    instance.pump()
    for serial in 0..<60 {
      try realm.write {
        for _ in 0...numbers.below(3) {
          let pack = packs[numbers.below(packs.count)]
          let cub = instance.cubs.isEmpty ? nil : instance.cubs[numbers.below(instance.cubs.count)]
          switch numbers.below(10) {
          case 0: if let cub { pack.friends.insert(cub) }
          case 1: if let cub { pack.friends.remove(cub) }
          case 2, 3: if let cub { pack.cubs.append(cub) }
          case 4: if !pack.cubs.isEmpty { pack.cubs.remove(at: numbers.below(pack.cubs.count)) }
          case 5: if let cub { realm.delete(cub) }
          case 6: realm.add(Cub(100 * serial + numbers.below(90) + 100, "new"), update: .all)
          case 7: cub?.name = "name \(serial)"
          default: cub?.age = numbers.below(9)
          }
        }
      }
      instance.pump()
      for (pack, (list, set)) in zip(packs, zip(lists, sets)) {
        #expect(list.mirror == pack.cubs.map(text))
        #expect(set.mirror == pack.friends.map(text))
      }
      for (results, recorder) in zip(derived, results) {
        #expect(recorder.mirror == results.map(text))
      }
    }
    for recorder in lists { #expect(recorder.problems == []) }
    for recorder in sets { #expect(recorder.problems == []) }
    for recorder in results { #expect(recorder.problems == []) }
  }

  @Test func backlinksFollowTheObjectsThatLink() throws {
    var numbers = SeededRandom(seed: 7)
    let instance = try Shelter().open(cats: 40)
    let realm = instance.realm
    try realm.write { for number in 0..<20 { realm.add(Home("street \(number)")) } }
    let homes = Array(realm.objects(Home.self))
    func text(_ cat: Cat) -> String { "\(cat.id) \(cat.name) \(cat.age)" }
    let recorders = homes.map { SequenceRecorder($0.cats, text) }
    instance.pump()
    for serial in 0..<150 {
      try realm.write {
        guard let cat = instance.cat(numbers.below(40)) else { return }
        switch numbers.below(8) {
        case 0: realm.delete(cat)
        case 1...4: cat.home = numbers.chance(20) ? nil : homes[numbers.below(homes.count)]
        default: cat.name = "name \(serial)"
        }
      }
      instance.pump()
      for (home, recorder) in zip(homes, recorders) {
        #expect(recorder.mirror == home.cats.map(text))
      }
    }
    for recorder in recorders { #expect(recorder.problems == []) }
  }
}
