import Dispatch
import Foundation
import TarnStore
import Testing

@testable import Tarn

/// Variables that any thread may read and set.
struct ThreadSafeTests {
  private let shelter: Shelter
  private let a: Instance

  init() throws {
    shelter = try Shelter()
    a = try shelter.openIce(glaciers: 3)
  }

  private final class Holder {
    @ThreadSafe var glacier: Glacier?
    @ThreadSafe var depths: List<Int>?
    @ThreadSafe var old: Results<Glacier>?
  }

  @Test func itIsReadWhereItIsUsed() throws {
    @ThreadSafe var glacier = a.glacier(1)
    #expect(glacier?.realm == a.realm)
    #expect(glacier == a.glacier(1))
    let text = Lock("")
    onAThread { [$glacier] in
      guard let first = $glacier.wrappedValue, let again = $glacier.wrappedValue else { return }
      let isOwn = first.realm == again.realm && !first.isFrozen
      try? first.realm?.write { first.age += 10 }
      text.withLock { $0 = "\(isOwn) \(again.age)" }
    }
    #expect(text.withLock { $0 } == "true 11")
    #expect(glacier?.age == 1)
    a.realm.refresh()
    #expect(glacier?.age == 11)
  }

  @Test func aQueueReadsItInItsOwnRealm() throws {
    let queue = DispatchQueue(label: "ice")
    let configuration = shelter.iceConfiguration
    @ThreadSafe var stones = a.glacier(1)?.stones
    try queue.sync {
      let realm = try Realm(configuration: configuration, queue: queue)
      #expect(stones?.realm == realm)
      #expect(stones?.count == 4)
    }
  }

  @Test func propertiesAndParameters() throws {
    let holder = Holder()
    #expect(holder.glacier == nil)
    #expect(holder.old == nil)
    holder.glacier = a.glacier(2)
    holder.depths = a.glacier(2)!.depths
    holder.old = a.glaciers.where { $0.age > 1 }
    #expect(holder.glacier?.id == 2)
    #expect(holder.depths?.first == 2)
    #expect(holder.old?.count == 2)
    func name(@ThreadSafe _ glacier: Glacier?) -> String {
      let name = Lock("")
      onAThread { [$glacier] in
        name.withLock { $0 = $glacier.wrappedValue?.name ?? "none" }
      }
      return name.withLock { $0 }
    }
    #expect(name(a.glacier(3)) == "glacier 3")
    #expect(name(nil) == "none")
  }

  @Test func itIsNilOnceTheObjectIsGone() throws {
    @ThreadSafe var glacier = a.glacier(1)
    @ThreadSafe var other = a.glacier(2)
    try a.write { a.realm.delete(a.glacier(1)!) }
    #expect(glacier == nil)
    #expect(other?.id == 2)
    other = nil
    #expect(other == nil)
  }

  @Test func anyThreadSetsItToAnObjectOfAnyRealm() throws {
    @ThreadSafe var glacier = a.glacier(1)
    let configuration = shelter.iceConfiguration
    onAThread { [$glacier] in
      let realm = try? Realm(configuration: configuration)
      $glacier.wrappedValue = realm?.object(ofType: Glacier.self, forPrimaryKey: 3)
    }
    #expect(glacier == a.glacier(3))
    let elsewhere = try Shelter().openIce(glaciers: 1)
    try elsewhere.write { elsewhere.glacier(1)!.name = "elsewhere" }
    glacier = elsewhere.glacier(1)
    #expect(glacier?.name == "elsewhere")
    #expect(glacier?.realm == elsewhere.realm)
  }

  @Test func itMayBeDeletedBeforeTheWrite() throws {
    @ThreadSafe var glacier = a.glacier(1)
    let b = try shelter.openIce()
    let read = try #require(glacier)
    try b.write { b.realm.delete(b.glacier(1)!) }
    var wasGone = false
    try read.realm!.write { wasGone = read.isInvalidated }
    #expect(wasGone)
    #expect(glacier == nil)
  }

  @Test func readersAndWritersMayMeet() throws {
    @ThreadSafe var glacier = a.glacier(1)
    let configuration = shelter.iceConfiguration
    var id = 0
    let problems = try readOnFourThreads(rounds: 60) {
      id += 1
      try a.write { a.glacier(2)!.age = id }
      glacier = id % 5 == 0 ? nil : a.glacier(1 + id % 3)
    } _: { [$glacier] round in
      if round % 7 == 0, let realm = try? Realm(configuration: configuration) {
        $glacier.wrappedValue = realm.object(ofType: Glacier.self, forPrimaryKey: 1)
      }
      guard let read = $glacier.wrappedValue else { return nil }
      return (1...3).contains(read.id) && read.depths.count == 3 ? nil : "\(read)"
    }
    #expect(problems == [])
  }
}
