import Foundation
import Testing

@testable import Tarn

struct InstanceTests {
  @Test func openingAgainOnOneSchedulerGivesTheSameInstance() throws {
    let shelter = try Shelter()
    let first = try Realm(configuration: shelter.configuration)
    let second = try Realm(configuration: shelter.configuration)
    #expect(first == second)
    try first.write { first.add(Cat(1)) }
    let cat = try #require(second.object(ofType: Cat.self, forPrimaryKey: 1))
    #expect(cat.realm == first)
    #expect(try shelter.open().realm != first)
  }

  @Test func anotherPathToTheFileIsTheSameInstance() throws {
    let shelter = try Shelter()
    let first = try Realm(configuration: shelter.configuration)
    var other = shelter.configuration
    other.fileURL = URL(fileURLWithPath: shelter.folder + "/./cats.realm")
    #expect(try Realm(configuration: other) == first)
  }

  @Test func aSerialQueueHasItsOwnInstance() throws {
    let shelter = try Shelter()
    let here = try Realm(configuration: shelter.configuration)
    let queue = DispatchQueue(label: "cats")
    let other = DispatchQueue(label: "other cats")
    let configuration = shelter.configuration
    try queue.sync {
      let there = try Realm(configuration: configuration, queue: queue)
      #expect(there != here)
      let again = try Realm(configuration: configuration, queue: queue)
      #expect(again == there)
      try other.sync {
        let elsewhere = try Realm(configuration: configuration, queue: other)
        #expect(elsewhere != there)
      }
    }
  }

  @Test func anInstanceStaysOnItsVersionUntilItIsRefreshed() throws {
    let shelter = try Shelter()
    let a = try shelter.open(cats: 1)
    let b = try shelter.open()
    #expect(b.cats.count == 1)
    try a.add(7)
    for _ in 0..<3 { #expect(b.cats.count == 1) }
    #expect(b.cat(7) == nil)
    // Opening again does not move it.
    #expect(try Realm(configuration: shelter.configuration, scheduler: b.scheduler) == b.realm)
    #expect(b.cats.count == 1)
    #expect(b.realm.refresh())
    #expect(b.cats.count == 2)
    #expect(!b.realm.refresh())
  }

  @Test func aTurnAdvancesUnlessAutorefreshIsOff() throws {
    let shelter = try Shelter()
    let a = try shelter.open(cats: 1)
    let b = try shelter.open()
    #expect(b.cats.count == 1)
    #expect(b.realm.autorefresh)
    try a.add(7)
    b.pump()
    #expect(b.cats.count == 2)
    b.realm.autorefresh = false
    try a.add(8)
    b.pump()
    #expect(b.cats.count == 2)
    try b.write { #expect(b.cats.count == 3) }
    try a.add(9)
    b.pump()
    #expect(b.cats.count == 3)
    b.realm.autorefresh = true
    b.pump()
    #expect(b.cats.count == 4)
  }

  @Test func withoutAutorefreshObserversHearOfTheirOwnWritesAndWaitForOthers() throws {
    let shelter = try Shelter()
    let a = try shelter.open(cats: 1)
    let b = try shelter.open()
    b.realm.autorefresh = false
    var told: [Realm.Notification] = []
    let token = b.realm.observe { notification, realm in
      told.append(notification)
      #expect(realm == b.realm)
    }
    let recorder = CatRecorder(b.cats)
    b.pump()
    #expect(recorder.calls == ["initial 1"])
    try a.add(7)
    b.pump()
    #expect(told == [.refreshRequired])
    #expect(recorder.calls.count == 1)
    #expect(b.realm.refresh())
    #expect(told == [.refreshRequired, .didChange])
    #expect(recorder.calls.last == "-[] +[1] ~[]")
    try b.add(8)
    b.pump()
    #expect(recorder.calls.last == "-[] +[2] ~[]")
    token.invalidate()
  }

  @Test func refreshInARefreshRequiredHandlerAdvancesAndInDidChangeDoesNothing() throws {
    let shelter = try Shelter()
    let a = try shelter.open(cats: 1)
    let b = try shelter.open()
    b.realm.autorefresh = false
    var told: [String] = []
    let token = b.realm.observe { notification, realm in
      told.append("\(notification) \(realm.refresh())")
    }
    #expect(b.cats.count == 1)
    try a.add(7)
    b.pump()
    #expect(told == ["refreshRequired true"])
    #expect(b.cats.count == 2)
    try a.add(8)
    b.realm.refresh()
    #expect(told.last == "didChange false")
    token.invalidate()
  }

  @Test func refreshTellsOfTheInstancesOwnWrites() throws {
    let shelter = try Shelter()
    let a = try shelter.open(cats: 1)
    let recorder = CatRecorder(a.cats)
    a.realm.refresh()
    try a.add(7)
    #expect(recorder.calls == ["initial 1"])
    #expect(!a.realm.refresh())
    #expect(recorder.calls.last == "-[] +[1] ~[]")
  }

  @Test func refreshInAWriteAndInACallbackDoesNothing() throws {
    let shelter = try Shelter()
    let a = try shelter.open(cats: 1)
    let b = try shelter.open()
    let recorder = CatRecorder()
    var refreshed: [Bool] = []
    recorder.onCall = { _ in refreshed.append(b.realm.refresh()) }
    recorder.observe(b.cats)
    b.pump()
    try a.add(7)
    b.pump()
    #expect(refreshed == [false, false])
    try b.write { #expect(!b.realm.refresh()) }
  }

  @Test func invalidatingLetsGoOfEverythingAndStartsAtTheNewestVersion() throws {
    let shelter = try Shelter()
    let a = try shelter.open(cats: 2)
    let b = try shelter.open()
    let cats = b.cats.where { $0.age >= 0 }
    let cat = try #require(cats.first)
    try a.write { a.realm.delete(a.cat(1)!) }
    try a.add(8)
    try a.add(9)
    b.realm.invalidate()
    #expect(cat.isInvalidated)
    #expect(cats.isInvalidated)
    #expect(b.cats.count == 3)
    #expect(b.cats.where { $0.age >= 0 }.map(\.id) == [0, 8, 9])
    #expect(cat.isInvalidated)
    #expect(cats.isInvalidated)
  }

  @Test func invalidatingCancelsAnOpenWrite() throws {
    let shelter = try Shelter()
    let a = try shelter.open(cats: 1)
    a.realm.beginWrite()
    a.realm.add(Cat(5))
    a.realm.invalidate()
    #expect(!a.realm.isInWriteTransaction)
    #expect(a.cats.count == 1)
  }

  @Test func observersOutliveInvalidating() throws {
    let shelter = try Shelter()
    let a = try shelter.open(cats: 3)
    let b = try shelter.open()
    let recorder = CatRecorder(b.cats.where { $0.age >= 0 }.sorted(by: \.age, ascending: false))
    var told: [String] = []
    let cat = try #require(b.cat(2))
    let token = cat.observe { change in
      if case .change(let cat, let properties) = change {
        told.append("\(cat.name) \(properties.map(\.name))")
      }
    }
    b.pump()
    try a.write {
      a.cat(2)!.name = "new"
      a.realm.delete(a.cat(0)!)
    }
    b.realm.invalidate()
    #expect(cat.isInvalidated)
    #expect(b.cats.count == 2)
    b.pump()
    #expect(recorder.calls == ["initial 3", "-[2] +[] ~[0]"])
    #expect(told == ["new [\"name\"]"])
    #expect(recorder.problems == [])
    b.realm.invalidate()
    try b.add(5, age: 100)
    b.pump()
    #expect(recorder.calls.last == "-[] +[0] ~[]")
    token.invalidate()
  }

  @Test func aRealmInMemoryIsSharedByItsNameAndGoneWithItsLastInstance() throws {
    let name = "cats \(UUID())"
    let configuration = Realm.Configuration(
      inMemoryIdentifier: name, objectTypes: [Cat.self, Home.self])
    do {
      let a = try Instance(configuration)
      let b = try Instance(configuration)
      let recorder = CatRecorder(b.cats)
      b.pump()
      try a.add(1)
      b.pump()
      #expect(recorder.calls == ["initial 0", "-[] +[0] ~[]"])
    }
    #expect(try Instance(configuration).realm.isEmpty)
    var changed = configuration
    changed.fileURL = URL(fileURLWithPath: "/tmp/x.realm")
    #expect(changed.inMemoryIdentifier == nil)
    changed.inMemoryIdentifier = "y"
    #expect(changed.fileURL == nil)
  }

  @Test func aDroppedInstanceAndItsTokensLeaveNothingBehind() throws {
    let shelter = try Shelter()
    weak var core: RealmCore?
    do {
      let a = try shelter.open(cats: 2)
      core = a.realm.core
      let recorder = CatRecorder(a.cats)
      let token = a.cats[0].observe { (_: ObjectChange<Cat>) in }
      a.pump()
      #expect(recorder.calls.count == 1)
      token.invalidate()
    }
    #expect(core == nil)
  }

  /// A callback ends the observation and lets go of the Realm: the turn goes on with what is left.
  @Test func anInstanceMayGoInItsOwnCallback() throws {
    let shelter = try Shelter()
    let other = try shelter.open(cats: 1)
    let scheduler = ManualScheduler()
    var realm: Realm? = try Realm(configuration: shelter.configuration, scheduler: scheduler)
    let core = WeakBox(realm!.core)
    var calls = 0
    var token: NotificationToken?
    token = realm!.objects(Cat.self).observe { _ in
      calls += 1
      guard calls == 2 else { return }
      realm = nil
      token?.invalidate()
      token = nil
    }
    scheduler.pump()
    try other.add(7)
    scheduler.pump()
    #expect(calls == 2)
    #expect(core.value == nil)
    scheduler.pump()
  }

  @Test func anInstanceMayGoInACompletion() throws {
    let shelter = try Shelter()
    let scheduler = ManualScheduler()
    var realm: Realm? = try Realm(configuration: shelter.configuration, scheduler: scheduler)
    let core = WeakBox(realm!.core)
    var calls = 0
    realm!.writeAsync {
      realm!.add(Cat(1))
    } onComplete: { _ in
      calls += 1
      realm = nil
    }
    realm!.writeAsync { calls += 10 }
    realm!.writeAsync { calls += 10 }
    while scheduler.pump() {}
    #expect(calls % 10 == 1)
    #expect(core.value == nil)
    #expect(try shelter.open().cats.count == 1)
  }

  @Test func aTokenDroppedOnAnotherThreadLetsTheInstanceGo() throws {
    let shelter = try Shelter()
    weak var core: RealmCore?
    do {
      let a = try shelter.open(cats: 2)
      core = a.realm.core
      var token: NotificationToken? = a.cats.observe { _ in }
      a.pump()
      let dropped = Handed(token)
      token = nil
      DispatchQueue(label: "dropping").sync { dropped.take() }
      a.pump()
    }
    #expect(core == nil)
  }

  @Test func aTokenKeepsTheObservationWorkingWithoutARealm() throws {
    let shelter = try Shelter()
    let a = try shelter.open(cats: 1)
    let recorder = CatRecorder()
    let scheduler = ManualScheduler()
    do {
      let realm = try Realm(configuration: shelter.configuration, scheduler: scheduler)
      recorder.observe(realm.objects(Cat.self))
    }
    while scheduler.pump() {}
    try a.add(5)
    while scheduler.pump() {}
    #expect(recorder.calls == ["initial 1", "-[] +[1] ~[]"])
  }
}

/// Something whose last reference is let go of elsewhere.
final class Handed<T>: @unchecked Sendable {
  // because: the tests take it once, after everybody else has let go.
  private var value: T?
  init(_ value: T?) { self.value = value }
  func take() { value = nil }
}
