import Foundation
import TestSupport
import Testing

@testable import Tarn
@testable import TarnStore

/// A Realm whose file outgrows the map that the process took for it.
@Suite struct GrowingRealmTests {
  let shelter = Result { try Shelter() }

  /// The store, with the smallest map at first, before any Realm opens it.
  private func openSmall() throws -> Store {
    var options = Store.Options()
    options.isDurable = false
    options.mapBudget.byteCount = 0
    options.mapBudget.smallMapByteCount = 1 << 20
    return try StoreRegistry.open(
      try #require(shelter.get().configuration.fileURL).path, options)
  }

  private static func fill(_ realm: Realm, _ ids: Range<Int>) throws {
    try realm.write {
      for id in ids { realm.add(Cat(id, String(repeating: "x", count: 2000), age: id)) }
    }
  }

  @Test func `observers, frozen Realms and open results live on while the file grows`() throws {
    let shelter = try shelter.get()
    let store = try openSmall()
    let instance = try shelter.open(cats: 10)
    let realm = instance.realm
    let frozen = realm.freeze()
    let frozenCats = frozen.objects(Cat.self).sorted(byKeyPath: "id")
    let cats = realm.objects(Cat.self).sorted(byKeyPath: "id")
    var insertions = 0
    let token = cats.observe { change in
      if case .update(_, _, let inserted, _) = change { insertions += inserted.count }
    }
    while instance.scheduler.pump() {}
    for step in 0..<20 { try Self.fill(realm, 10 + 100 * step..<110 + 100 * step) }
    while instance.scheduler.pump() {}
    #expect(insertions == 2000)
    #expect(store.environment.mapByteCount >= 1 << 24)
    #expect(frozenCats.map(\.name) == (0..<10).map { "cat \($0)" })
    #expect(cats.map(\.id) == Array(0..<2010))
    #expect(cats[2009].name.count == 2000)
    token.invalidate()
  }

  @Test func `an observer follows a file that another process makes larger than its map`()
    async throws
  {
    let shelter = try shelter.get()
    let store = try openSmall()
    let instance = try shelter.open(cats: 10)
    let realm = instance.realm
    let frozen = realm.freeze()
    let cats = realm.objects(Cat.self).sorted(byKeyPath: "id")
    var insertions = 0
    let token = cats.observe { change in
      if case .update(_, _, let inserted, _) = change { insertions += inserted.count }
    }
    while instance.scheduler.pump() {}
    await #expect(processExitsWith: .success) { [folder = shelter.folder as String] in
      let realm = try Realm(configuration: Shelter.configuration(in: folder))
      for step in 0..<20 { try Self.fill(realm, 10 + 100 * step..<110 + 100 * step) }
    }
    // The test goes on on another thread.
    instance.scheduler.adopt()
    while instance.scheduler.pump() {}
    #expect(insertions == 2000)
    #expect(store.environment.mapByteCount > 1 << 22)
    #expect(frozen.objects(Cat.self).count == 10)
    #expect(frozen.objects(Cat.self).sum(of: \.age) == 450)
    try Self.fill(realm, 2010..<2011)
    #expect(cats.count == 2011)
    token.invalidate()
  }
}
