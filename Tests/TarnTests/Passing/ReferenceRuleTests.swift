import Foundation
import Testing

@testable import Tarn

/// Which version a reference is resolved at, and when there is nothing any more.
struct ReferenceRuleTests {
  private let shelter: Shelter
  private let a: Instance

  init() throws {
    shelter = try Shelter()
    a = try shelter.openIce(glaciers: 2)
  }

  private func open() throws -> Instance { try shelter.openIce() }
  private func delete(_ id: Int) throws {
    let other = try open()
    try other.write { other.realm.delete(other.glacier(id)!) }
  }

  // MARK: - Life

  @Test func itIsResolvedAgainAndAgain() throws {
    let reference = ThreadSafeReference(to: a.glacier(1)!)
    let copy = reference
    let b = try open()
    for _ in 0..<3 {
      #expect(b.realm.resolve(reference) == b.glacier(1))
      #expect(a.realm.resolve(copy) == a.glacier(1))
      #expect(!reference.isInvalidated)
    }
  }

  @Test func itIsInvalidatedOnceTheObjectIsGone() throws {
    let b = try open()
    let object = ThreadSafeReference(to: a.glacier(1)!)
    let list = ThreadSafeReference(to: a.glacier(1)!.stones)
    let links = ThreadSafeReference(to: a.glacier(1)!.stones[0].glaciers)
    let results = ThreadSafeReference(to: a.glacier(1)!.stones.where { $0.weight > 0 })
    let all = ThreadSafeReference(to: a.glaciers)
    try delete(1)
    #expect(object.isInvalidated)
    #expect(list.isInvalidated)
    #expect(results.isInvalidated)
    #expect(!all.isInvalidated)
    #expect(!links.isInvalidated)
    // The instance that it was made in still shows it.
    #expect(a.realm.resolve(object)?.age == 1)
    b.realm.refresh()
    #expect(b.realm.resolve(object) == nil)
    #expect(b.realm.resolve(list) == nil)
    #expect(b.realm.resolve(results) == nil)
    #expect(b.realm.resolve(all)?.count == 1)
    #expect(b.realm.resolve(links)?.isEmpty == true)
  }

  /// A reference keeps keys only.
  @Test func noVersionIsKept() throws {
    let references = (0..<20).map { number in
      try? a.write { a.glacier(1)!.age = number }
      return (
        ThreadSafeReference(to: a.glacier(1)!), ThreadSafeReference(to: a.glacier(1)!.stones),
        ThreadSafeReference(to: a.glaciers.where { $0.age > 3 })
      )
    }
    #expect(a.realm.activeVersions == 1)
    #expect(references.allSatisfy { a.realm.resolve($0.0)?.age == 19 })
  }

  @Test func itOutlivesEveryRealm() throws {
    var configuration = Realm.Configuration(inMemoryIdentifier: "passed \(UUID())")
    configuration.objectTypes = [Glacier.self, Stone.self, Drill.self]
    func pass() throws -> ThreadSafeReference<Glacier> {
      let instance = try Instance(configuration)
      try instance.write { instance.realm.add(Glacier(3)) }
      return ThreadSafeReference(to: instance.glacier(3)!)
    }
    let reference = try pass()
    #expect(try Instance(configuration).realm.resolve(reference)?.age == 3)
  }

  // MARK: - Versions

  @Test func aRealmThatShowsNothingStartsAtTheSourcesVersion() throws {
    let reference = ThreadSafeReference(to: a.glacier(1)!)
    let version = a.shownVersion
    try delete(1)
    let b = try open()
    let found = try #require(b.realm.resolve(reference))
    #expect(b.shownVersion == version)
    #expect(found.age == 1)
    b.realm.refresh()
    #expect(found.isInvalidated)
    #expect(b.realm.resolve(reference) == nil)
    // By itself it moves on, too.
    let c = try open()
    #expect(c.realm.resolve(reference)?.age == 1)
    c.pump()
    #expect(c.glaciers.count == 1)
  }

  @Test func itStartsAtTheNewestIfTheSourcesVersionIsNoMore() throws {
    let reference = ThreadSafeReference(to: a.glacier(1)!)
    try a.write { a.glacier(1)!.age = 9 }
    let b = try open()
    #expect(b.realm.resolve(reference)?.age == 9)
    #expect(b.shownVersion == a.shownVersion)
    let made = try a.realm.write { ThreadSafeReference(to: a.realm.create(Stone.self)) }
    let held = a.realm.freeze()
    try a.write { a.realm.delete(a.realm.resolve(made)!) }
    #expect(held.objects(Stone.self).count == 7)
    #expect(try open().realm.resolve(made) == nil)
  }

  @Test func anOlderRealmIsRefreshed() throws {
    let b = try open()
    let recorder = Recorder()
    let token = b.glaciers.observe { recorder.note($0) }
    b.pump()
    try a.write { a.glacier(1)!.age = 9 }
    let reference = ThreadSafeReference(to: a.glacier(1)!)
    #expect(b.glacier(1)?.age == 1)
    #expect(b.realm.resolve(reference)?.age == 9)
    #expect(recorder.calls == ["initial 2", "~[0]"])
    let version = b.shownVersion
    try a.write {
      a.realm.add(Glacier(3))
      let made = ThreadSafeReference(to: a.glacier(3)!)
      #expect(b.realm.resolve(made) == nil)
      #expect(b.shownVersion == version)
      #expect(a.realm.resolve(made) == a.glacier(3))
      #expect(!made.isInvalidated)
    }
    // Made in the write that is committed by now: as new as what b shows, so b is refreshed.
    #expect(b.realm.resolve(ThreadSafeReference(to: a.glacier(3)!))?.id == 3)
    withExtendedLifetime(token) {}
  }

  @Test func oneMadeInAWriteRefreshesTheVersionThatTheWriteBeganAt() throws {
    let b = try open()
    #expect(b.glaciers.count == 2)
    let made = try a.realm.write {
      let glacier = Glacier(3)
      a.realm.add(glacier)
      return ThreadSafeReference(to: glacier)
    }
    #expect(b.realm.resolve(made)?.id == 3)
  }

  @Test func aNewerRealmStays() throws {
    let reference = ThreadSafeReference(to: a.glacier(1)!)
    let b = try open()
    try b.write { b.glacier(1)!.age = 5 }
    try a.write { a.glacier(1)!.age = 6 }
    let version = b.shownVersion
    #expect(b.realm.resolve(reference)?.age == 5)
    #expect(b.shownVersion == version)
  }

  /// Within a write there is no refresh; what is there is found.
  @Test func inAWriteItIsResolvedToo() throws {
    let reference = ThreadSafeReference(to: a.glacier(1)!)
    let stones = ThreadSafeReference(to: a.glacier(1)!.stones)
    let b = try open()
    try b.write {
      let glacier = try #require(b.realm.resolve(reference))
      glacier.age = 8
      #expect(b.realm.resolve(stones)?.count == 4)
      b.realm.delete(glacier)
      #expect(b.realm.resolve(reference) == nil)
      #expect(b.realm.resolve(stones) == nil)
    }
    #expect(reference.isInvalidated)
  }

  // MARK: - Cancelled writes

  /// The next write gives out the same keys.
  @Test func whatACancelledWriteMadeIsNeverFound() throws {
    a.realm.beginWrite()
    let (glacier, stone) = (Glacier(9), Stone(90))
    a.realm.add([glacier, stone] as [Object])
    glacier.stones.append(stone)
    let object = ThreadSafeReference(to: stone)
    let keyed = ThreadSafeReference(to: glacier)
    let list = ThreadSafeReference(to: glacier.stones)
    let links = ThreadSafeReference(to: stone.glaciers)
    let former = ThreadSafeReference(to: a.glacier(1)!)
    #expect(!object.isInvalidated)
    #expect(!list.isInvalidated)
    a.realm.cancelWrite()
    let b = try open()
    try b.write {
      let other = Glacier(9)
      b.realm.add(other)
      other.stones.append(Stone(91))
    }
    #expect(b.stones.last?.weight == 91)
    #expect(object.isInvalidated)
    #expect(keyed.isInvalidated)
    #expect(list.isInvalidated)
    #expect(b.realm.resolve(object) == nil)
    #expect(b.realm.resolve(keyed) == nil)
    #expect(b.realm.resolve(list) == nil)
    #expect(b.realm.resolve(links) == nil)
    #expect(b.realm.resolve(former)?.age == 1)
  }

  @Test func neitherIsAListWithinAValue() throws {
    a.realm.beginWrite()
    a.glacier(1)!.anything = [1, 2]
    let list = ThreadSafeReference(to: a.glacier(1)!.anything.listValue!)
    a.realm.cancelWrite()
    let b = try open()
    try b.write { b.glacier(1)!.anything = [3, 4] }
    #expect(b.realm.resolve(list) == nil)
    #expect(list.isInvalidated)
  }

  /// Of an object that an earlier write made, through the accessor that knows of that one.
  @Test func norOneOfAnObjectThatWasNewBefore() throws {
    let glacier = Glacier(3)
    try a.write { a.realm.add(glacier) }
    a.realm.beginWrite()
    glacier.anything = [1, 2]
    let list = ThreadSafeReference(to: glacier.anything.listValue!)
    let depths = ThreadSafeReference(to: glacier.depths)
    a.realm.cancelWrite()
    let b = try open()
    try b.write { b.glacier(3)!.anything = [3, 4] }
    #expect(b.realm.resolve(list) == nil)
    #expect(b.realm.resolve(depths)?.count == 3)
  }

  @Test func norAreResultsOfWhatIsCancelled() throws {
    a.realm.beginWrite()
    let glacier = Glacier(9)
    a.realm.add(glacier)
    let depths = glacier.depths.sorted()
    a.realm.cancelWrite()
    let reference = ThreadSafeReference(to: depths)
    let b = try open()
    try b.write { b.realm.add(Glacier(9)) }
    #expect(reference.isInvalidated)
    #expect(b.realm.resolve(reference) == nil)
  }

  @Test func norWhatAThreadLeftBehind() throws {
    nonisolated(unsafe) var reference: ThreadSafeReference<Glacier>?  // because: one at a time
    let configuration = shelter.iceConfiguration
    onAThread {
      guard let realm = try? Realm(configuration: configuration) else { return }
      realm.beginWrite()
      realm.add(Glacier(9))
      reference = realm.object(ofType: Glacier.self, forPrimaryKey: 9).map {
        ThreadSafeReference(to: $0)
      }
    }
    try a.write { a.realm.add(Glacier(9)) }
    let left = try #require(reference)
    #expect(a.realm.resolve(left) == nil)
    #expect(left.isInvalidated)
  }

  /// As freeze and thaw do: a number as primary key is all that there is of a row.
  @Test func anObjectThatIsMadeAgainIsTheOneWithItsKey() throws {
    let numbered = ThreadSafeReference(to: a.glacier(1)!)
    let stone = ThreadSafeReference(to: a.glacier(1)!.stones[0])
    try a.write { a.realm.deleteAll() }
    try a.write { a.realm.add([Glacier(1), Stone(10)] as [Object]) }
    #expect(a.realm.resolve(numbered)?.id == 1)
    #expect(!numbered.isInvalidated)
    #expect(a.realm.resolve(stone) == nil)
    #expect(stone.isInvalidated)
  }
}

/// What an observer was told.
private final class Recorder {
  var calls: [String] = []

  func note(_ change: RealmCollectionChange<Results<Glacier>>) {
    switch change {
    case .initial(let glaciers): calls.append("initial \(glaciers.count)")
    case .update(_, _, _, let modifications): calls.append("~\(modifications)")
    case .error(let error): calls.append("\(error)")
    }
  }
}
