import Foundation
import Testing

@testable import Tarn

/// Results of collections of objects.
struct DerivedResultsTests {
  private let shelter: Shelter
  private let a: Instance
  private let b: Instance
  private var hounds: List<Hound> { a.kennel.hounds }

  init() throws {
    shelter = try Shelter()
    a = try shelter.openKennel(5, 1, 3, 1)
    b = try shelter.openKennels()
  }

  private func observe(
    _ results: Results<Hound>
  ) -> (SequenceRecorder<Results<Hound>>, (() throws -> Void) throws -> [String]) {
    let recorder = SequenceRecorder(results) { $0.text }
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

  @Test func filterKeepsTheOrderAndTheRepeats() throws {
    try a.write { hounds.append(a.hound(0)!) }
    #expect(hounds.where { $0.age > 2 }.map(\.id) == [0, 2, 0])
    #expect(hounds.where { $0.age > 2 }.first?.id == 0)
    #expect(hounds.where { $0.age > 2 }.objects(at: [1, 2]).map(\.id) == [2, 0])
    #expect(hounds.where { $0.age > 9 }.isEmpty)
    #expect(hounds.where { $0.age > 2 }.average(of: \.age) == 13.0 / 3)
  }

  @Test func equalOnesAreInTheOrderOfTheList() throws {
    try a.write { hounds.move(from: 3, to: 0) }
    #expect(hounds.sorted(by: \.age).map(\.id) == [3, 1, 2, 0])
    #expect(hounds.sorted(by: \.age, ascending: false).map(\.id) == [0, 2, 3, 1])
  }

  @Test func bothAreEqualIfTheyAskForTheSame() {
    #expect(hounds.where { $0.age > 2 } == hounds.where { $0.age > 2 })
    #expect(hounds.sorted(by: \.age) != hounds.sorted(by: \.name))
    #expect(hounds.where { $0.age > 2 } != a.realm.objects(Hound.self).where { $0.age > 2 })
  }

  @Test func embeddedObjects() throws {
    try a.write { for price in [3, 1, 2] { a.kennel.tickets.append(Ticket(price)) } }
    #expect(a.kennel.tickets.sorted(by: \.price).map(\.price) == [1, 2, 3])
    #expect(a.kennel.tickets.where { $0.price != 1 }.map(\.price) == [3, 2])
    try a.write { a.realm.delete(a.kennel.tickets.where { $0.price > 1 }) }
    #expect(a.kennel.tickets.map(\.price) == [1])
  }

  @Test func followTheOpenWrite() throws {
    let old = hounds.where { $0.age == 1 }
    #expect(old.count == 2)
    try a.write {
      hounds.removeAll()
      #expect(old.isEmpty)
      hounds.append(Hound(9, age: 1))
      #expect(old.map(\.id) == [9])
      old[0].age = 2
      #expect(old.isEmpty)
    }
    try a.write { hounds[0].age = 1 }
    a.realm.beginWrite()
    hounds.removeAll()
    #expect(old.isEmpty)
    a.realm.cancelWrite()
    #expect(old.map(\.id) == [9])
  }

  @Test func deletingTakesEachObjectOnce() throws {
    try a.write {
      hounds.append(a.hound(0)!)
      a.realm.add(Hound(7, age: 5))
      a.realm.delete(hounds.where { $0.age == 5 })
    }
    #expect(hounds.map(\.id) == [1, 2, 3])
    #expect(a.hound(7) != nil)
    try a.write { a.realm.delete(hounds.sorted(by: \.age)) }
    #expect(a.realm.objects(Hound.self).map(\.id) == [7])
  }

  @Test func anObjectOfACancelledWrite() throws {
    a.realm.beginWrite()
    let other = Kennel(2)
    a.realm.add(other)
    other.hounds.append(objectsIn: hounds)
    let results = other.hounds.sorted(by: \.age)
    #expect(results.count == 4)
    a.realm.cancelWrite()
    try a.write {
      a.realm.add(Kennel(2))
      a.realm.object(ofType: Kennel.self, forPrimaryKey: 2)!.hounds.append(a.hound(0)!)
    }
    #expect(results.isEmpty)
  }

  @Test func movesAreToldToFiltersOnly() throws {
    let (filtered, change) = observe(hounds.where { $0.age < 4 })
    let sorted = SequenceRecorder(hounds.sorted(by: \.age)) { $0.text }
    a.pump()
    let told = try change { b.kennel.hounds.move(from: 2, to: 0) }
    #expect(told == ["-[0] +[1] ~[]"])
    // One that does not match moved.
    #expect(try change { b.kennel.hounds.move(from: 1, to: 3) } == [])
    #expect(filtered.mirror.count == 3)
    #expect(sorted.calls == ["initial 4"])
  }

  @Test func sortedOnesAreModifiedInPlaceOrMove() throws {
    let (_, change) = observe(hounds.sorted(by: \.age))
    #expect(try change { b.hound(2)!.age = 4 } == ["-[] +[] ~[2]"])
    #expect(try change { b.hound(0)!.age = 0 } == ["-[3] +[0] ~[]"])
    #expect(try change { b.kennel.hounds.append(b.hound(2)!) } == ["-[] +[4] ~[]"])
    #expect(try change { b.hound(2)!.name = "x" } == ["-[] +[] ~[3, 4]"])
    #expect(try change { b.realm.delete(b.hound(2)!) } == ["-[3, 4] +[] ~[]"])
  }

  @Test func filtersSeeWhatBeginsAndCeasesToMatch() throws {
    let (_, change) = observe(hounds.where { $0.age > 2 })
    #expect(try change { b.hound(1)!.age = 4 } == ["-[] +[1] ~[]"])
    #expect(try change { b.hound(0)!.age = 0 } == ["-[0] +[] ~[]"])
    #expect(try change { b.hound(0)!.name = "x" } == [])
    #expect(try change { b.kennel.hounds[1] = b.hound(3)! } == ["-[0] +[] ~[]"])
    #expect(try change { b.hound(3)!.age = 8 } == ["-[] +[0, 2] ~[]"])
    #expect(try change { b.realm.add(Hound(20, age: 9)) } == [])
  }

  @Test func aReplacedElementIsDeletedAndInserted() throws {
    let (_, change) = observe(hounds.where { $0.age > 0 })
    #expect(
      try change { b.kennel.hounds[1] = Hound(30, age: 7) } == ["-[1] +[1] ~[]"])
    #expect(try change { b.kennel.hounds[1] = b.kennel.hounds[1] } == ["-[] +[] ~[1]"])
  }

  @Test func whenTheOwnerGoes() throws {
    let results = hounds.sorted(by: \.age)
    let (recorder, change) = observe(results)
    let told = try change {
      b.hound(0)!.age = 2
      b.realm.delete(b.kennel)
    }
    #expect(told == ["-[0, 1, 2, 3] +[] ~[]"])
    #expect(results.isEmpty)
    let later = try change {
      b.hound(1)!.age = 9
      b.realm.add(Kennel(1))
      b.kennel.hounds.append(b.hound(1)!)
    }
    #expect(later == [])
    #expect(recorder.mirror == [])
    let (late, _) = observe(results)
    #expect(late.calls == ["initial 0"])
    #expect(a.kennel.hounds.sorted(by: \.age).count == 1)
  }

  @Test func severalCommitsAreOneCall() throws {
    let (recorder, _) = observe(hounds.sorted(by: \.age))
    try b.write { b.kennel.hounds.remove(at: 0) }
    try b.write { b.kennel.hounds.append(b.hound(0)!) }
    try b.write { b.hound(1)!.name = "new" }
    a.pump()
    #expect(recorder.calls == ["initial 4", "-[] +[] ~[0]"])
    #expect(recorder.problems.isEmpty)
  }

  @Test func backlinksOfASortedYard() throws {
    try a.write {
      a.realm.add(Yard(0))
      for hound in hounds { hound.yard = a.yard(0) }
    }
    let (_, change) = observe(a.yard(0)!.hounds.sorted(by: \.age))
    #expect(try change { b.hound(0)!.yard = nil } == ["-[3] +[] ~[]"])
    #expect(try change { b.hound(1)!.age = 2 } == ["-[0] +[1] ~[]"])
    #expect(try change { b.realm.delete(b.yard(0)!) } == ["-[0, 1, 2] +[] ~[]"])
  }

  @Test func ownCommitsCanBeLeftOut() throws {
    let (recorder, _) = observe(hounds.where { $0.age < 4 })
    let token = try #require(recorder.token)
    try a.write { a.hound(0)!.age = 2 }
    try a.realm.write(withoutNotifying: [token]) { hounds.remove(at: 1) }
    try a.write { a.hound(2)!.name = "last" }
    a.pump()
    #expect(recorder.calls == ["initial 3", "-[] +[0] ~[]", "-[] +[] ~[1]"])
  }

  @Test func anObserverThatIsFirstCalledInsideAWrite() throws {
    var isFirst = true
    let meddler = hounds.observe { _ in
      guard isFirst, a.realm.isInWriteTransaction else { return }
      isFirst = false
      hounds.remove(at: 0)
      a.hound(1)!.age = 0
    }
    let recorder = SequenceRecorder(hounds.sorted(by: \.age)) { $0.text }
    try a.write { hounds.append(Hound(9, age: 2)) }
    a.pump()
    #expect(recorder.calls.first == "initial 3")
    #expect(recorder.mirror == hounds.sorted(by: \.age).map(\.text))
    #expect(recorder.problems == [])
    meddler.invalidate()
  }

  @Test func anEndedObservationIsSilent() throws {
    let results = hounds.where { $0.age < 4 }
    let (recorder, change) = observe(results)
    recorder.token?.invalidate()
    #expect(try change { b.kennel.hounds.remove(at: 1) } == [])
    #expect(results.map(\.id) == [2, 3])
    let (again, changeAgain) = observe(results)
    #expect(again.calls == ["initial 2"])
    #expect(try changeAgain { b.hound(3)!.age = 5 } == ["-[1] +[] ~[]"])
  }

  @Test func theRealmIsInvalidated() throws {
    let results = hounds.where { $0.age < 4 }
    let (recorder, change) = observe(results)
    a.realm.invalidate()
    #expect(results.isInvalidated)
    a.pump()
    #expect(try change { b.kennel.hounds.remove(at: 1) } == ["-[0] +[] ~[]"])
    #expect(recorder.mirror.count == 2)
  }

  @Test func aLargeList() throws {
    try a.write {
      for id in 10..<3000 {
        a.realm.add(Hound(id, "a name of sixteen and \(id % 7)", age: id % 5))
      }
      let all = Array(a.realm.objects(Hound.self))
      hounds.removeAll()
      for position in 0..<6000 { hounds.append(all[position * 7919 % all.count]) }
    }
    let model = Array(hounds)
    let (recorder, change) = observe(hounds.sorted(by: ["name", "age"]))
    let sorted = model.sorted { ($0.name, $0.age) < ($1.name, $1.age) }
    #expect(hounds.sorted(by: ["name", "age"]).map(\.id) == sorted.map(\.id))
    #expect(hounds.where { $0.age == 3 }.map(\.id) == model.filter { $0.age == 3 }.map(\.id))
    _ = try change {
      for id in stride(from: 10, to: 3000, by: 3) { b.hound(id)!.age += 1 }
      b.kennel.hounds.removeSubrange(100..<2100)
    }
    #expect(recorder.mirror == hounds.sorted(by: ["name", "age"]).map(\.text))
    _ = try change {
      for id in 20..<40 { b.hound(id)!.name += " and more" }
      b.kennel.hounds.insert(b.hound(0)!, at: 50)
    }
    let again = hounds.sorted { ($0.name, $0.age) < ($1.name, $1.age) }
    #expect(recorder.mirror == again.map(\.text))
    #expect(recorder.problems == [])
  }
}
