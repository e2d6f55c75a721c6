import Foundation
import Observation
import TarnStore
import Testing

@testable import Tarn

/// How often something that was tracked has changed.
private final class Changes: Sendable {
  private let counter = Lock(0)

  /// How often since somebody asked.
  var news: Int {
    counter.withLock { count in
      defer { count = 0 }
      return count
    }
  }

  /// Tracks what `read` reads, until it changes once.
  func track<R>(_ read: () -> R) -> R {
    withObservationTracking(read) { [self] in counter.withLock { $0 += 1 } }
  }
}

/// Swift's Observation, which a Realm takes part in if it is asked to.
struct TrackingTests {
  private func open(_ shelter: Shelter) throws -> Instance {
    var configuration = shelter.configuration
    configuration.fileURL = URL(fileURLWithPath: shelter.folder + "/kennels.realm")
    configuration.objectTypes = [Kennel.self, Hound.self, Yard.self, Ticket.self]
    configuration.tracksObservation = true
    return try Instance(configuration, shelter)
  }

  private func pair() throws -> (Instance, Instance) {
    let shelter = try Shelter()
    let (a, b) = (try open(shelter), try open(shelter))
    try a.write {
      let kennel = Kennel(1)
      a.realm.add(kennel)
      for id in 0..<3 { kennel.hounds.append(Hound(id, "hound with a long name \(id)", age: id)) }
      a.realm.add(Yard(1))
    }
    b.realm.refresh()
    return (a, b)
  }

  @Test func dynamicObjectsAreTracked() throws {
    let (a, b) = try pair()
    let changes = Changes()
    let hound = b.realm.dynamicObjects("Hound")[1]
    func track(_ name: String) { _ = changes.track { hound[name] } }
    track("age")
    try a.write { a.hound(1)!.name = "x" }
    b.pump()
    #expect(changes.news == 0)
    try a.write { a.hound(1)!.age = 50 }
    b.pump()
    #expect(changes.news == 1)
    track("yard")
    try b.write { hound["yard"] = b.realm.dynamicObjects("Yard")[0] }
    #expect(changes.news == 1)
    track("name")
    try b.write { hound["name"] = "y" }
    #expect(changes.news == 1)
  }

  @Test func whetherARealmIsEmptyIsTracked() throws {
    let (a, b) = try pair()
    let changes = Changes()
    #expect(changes.track { b.realm.isEmpty } == false)
    try a.write { a.realm.deleteAll() }
    b.pump()
    #expect(changes.news == 1)
    #expect(changes.track { b.realm.isEmpty } == true)
    try a.write { a.realm.add(Yard(7)) }
    b.pump()
    #expect(changes.news == 1)
  }

  @Test func aPropertyIsTrackedThroughEveryKindOfChange() throws {
    let (a, b) = try pair()
    let (near, far) = (Changes(), Changes())
    let (hound, seen) = (a.hound(1)!, b.hound(1)!)
    func track() {
      #expect(near.track { hound.age } == hound.age)
      #expect(far.track { seen.age } == seen.age)
    }
    track()
    try a.write {
      hound.name = "x"
      a.hound(2)!.age = 7
      #expect(near.news == 0)
      a.hound(1)!.age = 5
      #expect(near.news == 1)
      hound.age = 6
      #expect(near.news == 0)
    }
    #expect(far.news == 0)
    b.pump()
    #expect(far.news == 1)
    #expect(seen.age == 6)
    track()
    a.realm.beginWrite()
    hound.age = 8
    #expect(near.news == 1)
    track()
    a.realm.cancelWrite()
    #expect(near.news == 1)
    #expect(hound.age == 6)
    track()
    try a.write { a.realm.delete(hound) }
    #expect(near.news == 1)
    b.realm.refresh()
    // Three blocks wait by now.
    #expect(far.news == 3)
    #expect(seen.isInvalidated)
  }

  /// Every type has a slow path of its own, in and out of a write.
  @Test func everyTypeIsReadAsBefore() throws {
    let shelter = try Shelter()
    var configuration = shelter.configuration
    let plain = try Instance(configuration, shelter)
    try plain.write {
      plain.realm.add(Cat(1, "a name of more than sixteen bytes", age: 3, home: Home("Street")))
      plain.cat(1)!.weight = 2.5
      plain.cat(1)!.mood = .wild
      plain.realm.add(Stray())
    }
    configuration.tracksObservation = true
    let instance = try Instance(configuration, shelter)
    #expect(instance.realm.core.tracking != nil)
    #expect(plain.realm.core.tracking == nil)
    func check() {
      let (cat, same) = (instance.cat(1)!, plain.cat(1)!)
      #expect(cat.name == same.name)
      #expect(cat.age == 3)
      #expect(cat.weight == 2.5)
      #expect(cat.mood == .wild)
      #expect(cat.home?.street == "Street")
      #expect(cat.home?.cats.count == 1)
      #expect(instance.realm.objects(Stray.self)[0]._id == plain.realm.objects(Stray.self)[0]._id)
      #expect(instance.realm.objects(Stray.self)[0].tag == nil)
    }
    check()
    let changes = Changes()
    changes.track { check() }
    try instance.write {
      check()
      instance.realm.add(Cat(2))
      check()
      instance.cat(1)!.age = 3
      check()
    }
    #expect(changes.news == 1)
    check()
  }

  @Test func linksAndCollectionsAreTracked() throws {
    let (a, _) = try pair()
    let changes = Changes()
    let kennel = a.kennel
    func told(_ read: () -> Void, _ change: () -> Void) throws -> Int {
      changes.track(read)
      try a.write(change)
      return changes.news
    }
    let hound = a.hound(0)!
    #expect(try told({ _ = hound.yard?.rooms }, { hound.yard = a.yard(1) }) == 1)
    #expect(try told({ _ = hound.yard?.rooms }, { a.yard(1)!.rooms = 3 }) == 1)
    #expect(try told({ _ = kennel.hounds.count }, { kennel.hounds.append(hound) }) == 1)
    #expect(try told({ _ = kennel.hounds[0] }, { kennel.hounds.removeLast() }) == 1)
    #expect(try told({ for _ in kennel.hounds {} }, { kennel.hounds.removeLast() }) == 1)
    #expect(try told({ _ = kennel.hounds.count }, { hound.age = 9 }) == 0)
    kennel.hounds.observe { _ in }.invalidate()
    #expect(changes.news == 0)
    try a.write { kennel.hounds.removeAll() }
    #expect(changes.news == 1)
    #expect(try told({ _ = kennel.pack.count }, { kennel.pack.insert(hound) }) == 1)
    #expect(try told({ _ = kennel.named["a"] }, { kennel.named["a"] = hound }) == 1)
    #expect(try told({ _ = a.yard(1)!.hounds.count }, { hound.yard = nil }) == 1)
    #expect(try told({ _ = hound.isInvalidated }, { a.realm.delete(hound) }) == 1)
  }

  @Test func resultsAreTracked() throws {
    let (a, b) = try pair()
    let (near, far) = (Changes(), Changes())
    let old = a.realm.objects(Hound.self).where { $0.age > 1 }
    let seen = b.realm.objects(Hound.self).sorted(by: \.name)
    let sections = b.realm.objects(Hound.self).sectioned(by: \.age, ascending: true)
    func track() {
      near.track { _ = old.count }
      far.track { for _ in seen {} }
    }
    track()
    try a.write {
      #expect(near.news == 0)
      a.realm.add(Hound(9, age: 9))
      #expect(near.news == 1)
      track()
      a.realm.add(Yard(7))
      #expect(near.news == 0)
      a.hound(0)!.age = 5
      #expect(near.news == 1)
    }
    #expect(far.news == 0)
    b.pump()
    #expect(far.news == 2)
    track()
    a.realm.beginWrite()
    a.realm.delete(a.realm.objects(Hound.self))
    #expect(near.news == 1)
    track()
    a.realm.cancelWrite()
    #expect(near.news == 1)
    far.track { _ = sections.count }
    try a.write { a.realm.delete(old) }
    b.pump()
    #expect(far.news == 3)
  }

  /// Reads outside of a block leave nothing behind, nor do blocks that were told.
  @Test func nothingIsKeptOfWhatNobodyTracks() throws {
    let (a, _) = try pair()
    let changes = Changes()
    for hound in a.realm.objects(Hound.self) { _ = hound.age }
    #expect(a.realm.core.properties == nil)
    changes.track { for _ in 0..<100 { for hound in a.kennel.hounds { _ = hound.age } } }
    #expect(a.realm.core.properties != nil)
    #expect(a.hound(1)!.age == 1)
    try a.write { a.kennel.hounds.removeAll() }
    #expect(changes.news == 1)
    #expect(a.realm.core.properties == nil)
  }

  /// Invalidating a Realm is a change, and reading goes on in its next life.
  @Test func aRealmThatWasInvalidatedIsTracked() throws {
    let (a, _) = try pair()
    let changes = Changes()
    changes.track { _ = (a.hound(1)!.age, a.realm.objects(Hound.self).count) }
    a.realm.invalidate()
    #expect(changes.news == 1)
    changes.track { _ = a.hound(1)!.age }
    try a.write { a.hound(1)!.age = 5 }
    #expect(changes.news == 1)
  }

  /// Off is the default.
  @Test func aRealmThatIsNotAskedToTracksNothing() throws {
    let a = try Shelter().open(cats: 1)
    let changes = Changes()
    changes.track { _ = a.cat(0)!.age }
    try a.write { a.cat(0)!.age = 5 }
    #expect(changes.news == 0)
    #expect(!Realm.Configuration().tracksObservation)
  }

  /// The toolchain's `Observations`, on the main actor, with elements that are Sendable.
  @Test @MainActor func observationsOnTheMainActor() async throws {
    let shelter = try Shelter()
    var configuration = shelter.configuration
    configuration.tracksObservation = true
    let realm = try Realm(configuration: configuration, queue: nil)
    let cats = realm.objects(Cat.self)
    var seen: [Int] = []
    for await count in Observations({ cats.count }) {
      seen.append(count)
      if count == 3 { break }
      try realm.write { realm.add(Cat(count)) }
    }
    #expect(seen == [0, 1, 2, 3])
  }
}
