import Foundation
import TestSupport
import Testing

@testable import Tarn

/// Values of any type in a list.
class Mixture: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var values: List<AnyRealmValue>
  @Persisted var friend: Mixture?
}

/// Results of collections of values.
struct ValueResultsTests {
  private let shelter: Shelter
  private let a: Instance
  private let b: Instance
  private var chest: Chest { a.chest(1)! }

  init() throws {
    shelter = try Shelter()
    a = try shelter.openChests()
    b = try shelter.openChests()
    try a.write {
      let chest = Chest(1)
      a.realm.add(chest)
      chest.numbers.append(objectsIn: [3, 1, 2, 3, 1])
      chest.words.append(objectsIn: ["b", nil, "a", "B", nil])
      chest.sizes.insert(objectsIn: [2.5, nil, .nan, -1])
      chest.scores.merge(["x": 7, "y": 3, "z": 7]) { $1 }
      chest.moods.append(objectsIn: [.wild, .sleepy, .wild])
    }
    _ = b.realm.refresh()
  }

  private func observe<E>(
    _ results: Results<E>
  ) -> (SequenceRecorder<Results<E>>, (() throws -> Void) throws -> [String]) {
    let recorder = SequenceRecorder(results) { "\($0)" }
    a.pump()
    return (
      recorder,
      { change in
        let before = recorder.calls.count
        try b.write(change)
        a.pump()
        #expect(recorder.problems.isEmpty)
        return Array(recorder.calls.dropFirst(before))
      }
    )
  }

  @Test func sortedByValue() {
    #expect(Array(chest.numbers.sorted(ascending: true)) == [1, 1, 2, 3, 3])
    #expect(Array(chest.numbers.sorted(ascending: false)) == [3, 3, 2, 1, 1])
    #expect(Array(chest.words.sorted()) == [nil, nil, "B", "a", "b"])
    #expect(Array(chest.words.sorted(ascending: false)) == ["b", "a", "B", nil, nil])
    #expect(chest.sizes.sorted().map { "\($0 ?? 0)" } == ["0.0", "nan", "-1.0", "2.5"])
    #expect(Array(chest.scores.sorted(ascending: true)) == [3, 7, 7])
    #expect(Array(chest.moods.sorted(ascending: true)) == [.sleepy, .wild, .wild])
    #expect(Array(AnyRealmCollection(chest.numbers).sorted(ascending: true)) == [1, 1, 2, 3, 3])
  }

  @Test func withoutRepeats() {
    #expect(Array(chest.numbers.distinct()) == [3, 1, 2])
    #expect(Array(chest.words.distinct()) == ["b", nil, "a", "B"])
    #expect(Array(chest.scores.distinct()) == [7, 3])
    #expect(Array(chest.moods.distinct()) == [.wild, .sleepy])
    #expect(Array(chest.numbers.distinct().sorted(ascending: false)) == [3, 2, 1])
    #expect(Array(chest.numbers.sorted(ascending: true).distinct()) == [1, 2, 3])
    #expect(Array(chest.numbers.sorted(ascending: true).sorted(ascending: false)).first == 3)
  }

  @Test func membersOfACollection() throws {
    let sorted = chest.numbers.sorted(ascending: true)
    try #require(sorted.count == 5)
    #expect(sorted[2] == 2)
    #expect(sorted.first == 1)
    #expect(sorted.last == 3)
    #expect(sorted.index(of: 3) == 3)
    #expect(sorted.index(of: 9) == nil)
    #expect(sorted.objects(at: [0, 4]) == [1, 3])
    #expect(sorted.min() == 1)
    #expect(sorted.max() == 3)
    #expect(sorted.sum() == 10)
    #expect(sorted.average() == 2.0)
    #expect(chest.sizes.sorted().max() == 2.5)
    #expect(chest.sizes.sorted().sum() == 1.5)
    #expect(sorted == chest.numbers.sorted(ascending: true))
    #expect(sorted != chest.numbers.distinct())
    #expect(
      chest.numbers.distinct().description == "Results<int> (\n\t[0] 3,\n\t[1] 1,\n\t[2] 2\n)")
    #expect(sorted.realm == a.realm)
    #expect(!sorted.isInvalidated)
    #expect(sorted.value(forKeyPath: "@sum.self") as? Int == 10)
    #expect(chest.words.sorted(ascending: false).first == "b")
  }

  @Test func everyTypeOfElement() throws {
    let elements = Elements()
    try a.write { a.realm.add(elements) }
    let (early, late) = (Date(timeIntervalSince1970: 1), Date(timeIntervalSince1970: 2))
    let ids = (0..<3).map { _ in ObjectId.generate() }
    let uuids = (0..<3).map { _ in UUID() }.sorted { $0.uuidString < $1.uuidString }
    try a.write {
      elements.bytes.append(objectsIn: [1, -1, 0])
      elements.bools.append(objectsIn: [true, false, true])
      elements.floats.append(objectsIn: [1, -1, 0.5])
      elements.doubles.append(objectsIn: [0, -0.0, .nan, -.infinity])
      elements.data.append(objectsIn: [Data([2]), Data([1, 9]), Data()])
      elements.dates.append(objectsIn: [late, early])
      elements.ids.append(objectsIn: ids.reversed())
      elements.uuids.append(objectsIn: uuids.reversed())
      elements.optionalInts.append(objectsIn: [2, nil, 1])
      elements.optionalMoods.append(objectsIn: [.wild, nil, .sleepy])
      elements.uuidMap["b"] = uuids[0]
      elements.uuidMap["a"] = uuids[1]
    }
    #expect(Array(elements.bytes.sorted(ascending: true)) == [-1, 0, 1])
    #expect(Array(elements.bools.sorted()) == [false, true, true])
    #expect(Array(elements.bools.distinct()) == [true, false])
    #expect(Array(elements.floats.sorted(ascending: false)) == [1, 0.5, -1])
    let doubles: [String] = elements.doubles.sorted(ascending: true).map { "\($0)" }
    #expect(doubles == ["nan", "-inf", "0.0", "-0.0"])
    #expect(elements.doubles.distinct().count == 3)
    #expect(Array(elements.data.sorted()) == [Data(), Data([1, 9]), Data([2])])
    #expect(Array(elements.dates.sorted(ascending: true)) == [early, late])
    #expect(Array(elements.ids.sorted(ascending: true)) == ids)
    #expect(Array(elements.uuids.sorted(ascending: true)) == uuids)
    #expect(Array(elements.optionalInts.sorted()) == [nil, 1, 2])
    #expect(Array(elements.optionalMoods.sorted()) == [nil, .sleepy, .wild])
    #expect(Array(elements.uuidMap.sorted(ascending: true)) == [uuids[0], uuids[1]])
  }

  @Test func valuesOfAnyType() throws {
    var configuration = shelter.configuration
    configuration.fileURL = URL(fileURLWithPath: shelter.folder + "/mixtures.realm")
    configuration.objectTypes = [Mixture.self]
    let instance = try Instance(configuration, shelter)
    let mixture = Mixture()
    try instance.write {
      instance.realm.add(mixture)
      mixture.values.append(objectsIn: [
        "text", 2, .none, 1.5, true, .fromArray([1, 2]), .object(mixture), 2,
      ])
    }
    let sorted = mixture.values.sorted(ascending: true)
    #expect(sorted.first == AnyRealmValue.none)
    #expect(sorted[1] == true)
    #expect(sorted[2] == 1.5)
    #expect(sorted[3] == 2)
    #expect(sorted[5] == "text")
    #expect(sorted[6].object(Mixture.self)?.id == 0)
    #expect(sorted.last?.listValue.map { Array($0) } == [1, 2])
    #expect(sorted.index(of: .object(mixture)) == 6)
    #expect(mixture.values.distinct().count == 7)
    let recorder = SequenceRecorder(sorted) { "\($0)" }
    instance.pump()
    try instance.write { mixture.friend = mixture }
    instance.pump()
    #expect(recorder.calls == ["initial 8", "-[] +[] ~[6]"])
    try instance.write { sorted.last?.listValue?.append(3) }
    #expect(sorted.last?.listValue?.count == 3)
  }

  @Test func followTheOpenWrite() throws {
    let sorted = chest.numbers.sorted(ascending: true)
    try a.write {
      chest.numbers.append(0)
      #expect(Array(sorted) == [0, 1, 1, 2, 3, 3])
      chest.numbers.removeAll()
      #expect(sorted.isEmpty)
      chest.numbers.append(4)
    }
    #expect(Array(sorted) == [4])
    a.realm.beginWrite()
    chest.numbers.append(1)
    #expect(sorted.first == 1)
    a.realm.cancelWrite()
    #expect(Array(sorted) == [4])
  }

  @Test func aLoopGoesOverWhatWasThere() throws {
    try a.write {
      var seen: [Int] = []
      for number in chest.numbers.sorted(ascending: true) {
        seen.append(number)
        chest.numbers.removeAll()
      }
      #expect(seen == [1, 1, 2, 3, 3])
    }
  }

  @Test func differencesOfSortedOnes() throws {
    let (_, change) = observe(chest.numbers.sorted(ascending: true))
    #expect(try change { b.chest(1)!.numbers.append(2) } == ["-[] +[3] ~[]"])
    #expect(try change { b.chest(1)!.numbers.move(from: 0, to: 3) } == [])
    #expect(try change { b.chest(1)!.numbers[0] = 9 } == ["-[1] +[5] ~[]"])
    #expect(try change { b.chest(1)!.numbers[0] = 8 } == ["-[] +[] ~[5]"])
    #expect(try change { b.chest(1)!.words.append("c") } == [])
    #expect(try change { b.chest(1)!.numbers.removeAll() } == ["-[0, 1, 2, 3, 4, 5] +[] ~[]"])
  }

  @Test func differencesOfDistinctOnes() throws {
    let (recorder, change) = observe(chest.numbers.distinct())
    // A hidden one goes, then the one that hid it.
    #expect(try change { b.chest(1)!.numbers.remove(at: 3) } == [])
    #expect(try change { b.chest(1)!.numbers.append(3) } == [])
    #expect(try change { b.chest(1)!.numbers.remove(at: 0) } == ["-[0] +[2] ~[]"])
    #expect(recorder.mirror == ["1", "2", "3"])
    // It becomes a repeat of another, and ceases to be one.
    #expect(try change { b.chest(1)!.numbers[1] = 3 } == ["-[1] +[] ~[]"])
    #expect(try change { b.chest(1)!.numbers[1] = 7 } == ["-[] +[1] ~[]"])
  }

  @Test func whenTheOwnerGoes() throws {
    let results = chest.scores.sorted(ascending: false)
    let (recorder, change) = observe(results)
    #expect(try change { b.chest(1)!.scores["w"] = 5 } == ["-[] +[2] ~[]"])
    #expect(try change { b.realm.delete(b.chest(1)!) } == ["-[0, 1, 2, 3] +[] ~[]"])
    #expect(results.isEmpty)
    #expect(recorder.mirror.isEmpty)
    #expect(try change { b.realm.add(Chest(1)) } == [])
    #expect(a.chest(1)!.scores.sorted(ascending: true).isEmpty)
  }

  @Test func anObjectOfACancelledWrite() throws {
    a.realm.beginWrite()
    let other = Chest(2)
    a.realm.add(other)
    other.numbers.append(1)
    let results = other.numbers.distinct()
    #expect(Array(results) == [1])
    a.realm.cancelWrite()
    #expect(results.isEmpty)
  }

  @Test func theRealmIsInvalidated() throws {
    let results = chest.numbers.sorted(ascending: true)
    let (recorder, change) = observe(results)
    a.realm.invalidate()
    #expect(results.isInvalidated)
    a.pump()
    #expect(try change { b.chest(1)!.numbers.append(5) } == ["-[] +[5] ~[]"])
    #expect(recorder.mirror.count == 6)
  }

  @Test func anObserverThatIsFirstCalledInsideAWrite() throws {
    var isFirst = true
    let meddler = chest.numbers.observe { _ in
      guard isFirst, a.realm.isInWriteTransaction else { return }
      isFirst = false
      chest.numbers.append(0)
    }
    let recorder = SequenceRecorder(chest.numbers.sorted(ascending: true)) { "\($0)" }
    try a.write { chest.numbers.append(9) }
    a.pump()
    #expect(recorder.calls.first == "initial 6")
    #expect(recorder.mirror == ["0", "1", "1", "2", "3", "3", "9"])
    #expect(recorder.problems == [])
    meddler.invalidate()
  }
}
