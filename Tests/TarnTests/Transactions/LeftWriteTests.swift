import Foundation
import Testing

@testable import Tarn

/// Writes that are open while nobody keeps their Realm.
struct LeftWriteTests {
  private func begin(_ shelter: Shelter, _ scheduler: ManualScheduler) throws {
    try Realm(configuration: shelter.configuration, scheduler: scheduler).beginWrite()
  }

  @Test func anOpenWriteNeedsNoHandle() throws {
    let shelter = try Shelter()
    let scheduler = ManualScheduler()
    func realm() throws -> Realm {
      try Realm(configuration: shelter.configuration, scheduler: scheduler)
    }
    try realm().beginWrite()
    #expect(try realm().isInWriteTransaction)
    try realm().add(Cat(1, "Tom"))
    #expect(try realm().objects(Cat.self).count == 1)
    try realm().object(ofType: Cat.self, forPrimaryKey: 1)!.age = 3
    try realm().commitWrite()
    #expect(try !realm().isInWriteTransaction)
    let other = try shelter.open()
    #expect(other.realm.objects(Cat.self).map(\.age) == [3])
    try realm().beginWrite()
    try realm().deleteAll()
    let cat = Cat(2)
    try realm().add(cat)
    try realm().cancelWrite()
    #expect(cat.isInvalidated)
    #expect(try realm().objects(Cat.self).count == 1)
    try other.realm.write {}
  }

  @Test func theEndOfAThreadCancelsItsOpenWrite() throws {
    let shelter = try Shelter()
    let other = try shelter.open(cats: 1)
    for keepsHandle in [false, true] {
      let done = DispatchSemaphore(value: 0)
      let configuration = shelter.configuration
      let thread = Thread {
        let realm = try! Realm(configuration: configuration)
        realm.beginWrite()
        realm.deleteAll()
        if keepsHandle { _ = Unmanaged.passRetained(realm.core) }
        done.signal()
      }
      thread.start()
      done.wait()
      // Waits until the thread is gone.
      try other.realm.write { other.realm.add(Cat(keepsHandle ? 20 : 10)) }
    }
    #expect(Set(other.realm.objects(Cat.self).map(\.id)) == [0, 10, 20])
  }

  @Test func theEndOfAQueueOrASchedulerCancelsItsOpenWrite() throws {
    let shelter = try Shelter()
    let other = try shelter.open(cats: 1)
    do {
      let queue = DispatchQueue(label: "left")
      try queue.sync {
        let realm = try Realm(configuration: shelter.configuration, queue: queue)
        realm.beginWrite()
        realm.deleteAll()
      }
      try queue.sync {
        let realm = try Realm(configuration: shelter.configuration, queue: queue)
        #expect(realm.isInWriteTransaction)
        #expect(realm.isEmpty)
      }
    }
    try other.realm.write { other.realm.add(Cat(1)) }
    try begin(shelter, ManualScheduler())
    try other.realm.write { other.realm.add(Cat(2)) }
    #expect(other.realm.objects(Cat.self).count == 3)
  }

  /// A block that waits holds its Realm, and so does the token of an observer that reads it: the
  /// write would stay.
  @Test(arguments: [true, false], [true, false])
  func theEndOfASchedulerDropsWhatHoldsAnOpenWrite(_ hasPumped: Bool, _ observes: Bool) throws {
    let shelter = try Shelter()
    let other = try shelter.open()
    weak var core: RealmCore?
    var token: NotificationToken?
    do {
      let scheduler = ManualScheduler()
      let realm = try Realm(configuration: shelter.configuration, scheduler: scheduler)
      core = realm.core
      if observes { token = realm.objects(Cat.self).observe { _ in _ = realm.isEmpty } }
      realm.beginWrite()
      realm.add(Cat(1))
      realm.writeAsync { realm.add(Cat(2)) }
      // The turn of the block, which cannot begin.
      if hasPumped { scheduler.pump() }
    }
    #expect((core != nil) == observes)
    token = nil
    #expect(core == nil)
    #expect(token == nil)
    try other.realm.write(timeout: .seconds(300)) { other.realm.add(Cat(3)) }
    #expect(other.realm.objects(Cat.self).map(\.id) == [3])
  }

  @Test func whoHasTheRealmEndsTheWriteWithoutTheScheduler() throws {
    let shelter = try Shelter()
    var realm: Realm? = try Realm(
      configuration: shelter.configuration, scheduler: ManualScheduler())
    realm?.beginWrite()
    realm?.add(Cat(1))
    try realm?.commitWrite()
    realm?.beginWrite()
    realm?.add(Cat(2))
    realm = nil
    let other = try shelter.open()
    try other.realm.write(timeout: .seconds(300)) { other.realm.add(Cat(3)) }
    #expect(other.realm.objects(Cat.self).map(\.id) == [1, 3])
  }
}
