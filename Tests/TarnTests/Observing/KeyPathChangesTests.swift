import Foundation
import Testing

@testable import Tarn

/// `observeChanges(keyPaths:)` and `changes(keyPaths:)` tell what `observe(keyPaths:)` tells, and
/// what it leads to.
@MainActor struct KeyPathChangesTests {
  private let pounds: Pounds
  private let kennel: Pound

  init() throws {
    pounds = try Pounds()
    kennel = pounds.kennel
  }

  @Test func changesAreFilteredAsCallsAre() throws {
    // The main actor may have come to another thread since `init`.
    for instance in [pounds.a, pounds.b] { instance.scheduler.adopt() }
    var calls: [String] = []
    var copy: [Whelp] = []
    func note<C, E>(_ name: String) -> (ObservedChange<C, CollectionDelta<E>>) -> Void {
      { if case .update(_, let delta) = $0 { calls.append("\(name)\(delta.modificationsNew)") } }
    }
    let whelps = pounds.whelps.sorted(by: \.id)
    let tokens = [
      whelps.observeChanges(keyPaths: [\.friend?.name]) { change in
        change.apply(to: &copy)
        note("results")(change)
      },
      kennel.hounds.observeChanges(keyPaths: ["friend.name"], note("list")),
      kennel.pack.observeChanges(keyPaths: ["friend.name"], note("set")),
      whelps[0].kennels.observeChanges(keyPaths: [\.hounds[0].friend?.name], note("links")),
      AnyRealmCollection(whelps).observeChanges(keyPaths: ["friend.name"], note("any")),
      kennel.byName.observeChanges(keyPaths: [\Whelp.friend?.name]) { change in
        if case .update(_, let delta) = change { calls.append("map\(delta.modifications)") }
      },
    ]
    pounds.b.pump()
    let writes = [
      { pounds.hound(1).name = "x" }, { pounds.hound(1).age = 1 }, { pounds.hound(0).name = "x" },
      { pounds.a.realm.delete(pounds.hound(3)) },
    ]
    let got = try pounds.follow(writes) { calls }
    #expect(
      got == [
        "results[0]", "list[0]", "set[0]", "links[0]", "any[0]", "map[\"a\"]", "-", "-",
        "results[]", "list[]", "links[0]", "any[]",
      ])
    #expect(copy.map(\.id) == [0, 1, 2])
    for token in tokens { token.invalidate() }
  }

  /// A loop is woken only by what it asked for, and its delta leads to all that there is.
  @Test func loopsOfCollectionsAreFiltered() async throws {
    let realm = try Realm(configuration: pounds.configuration, queue: nil)
    let kennel = realm.object(ofType: Pound.self, forPrimaryKey: 0)!
    let mine = realm.object(ofType: Whelp.self, forPrimaryKey: 1)!
    var list = kennel.hounds.changes(keyPaths: [\.friend?.name]).makeAsyncIterator()
    var map = kennel.byName.changes(keyPaths: ["friend.name"]).makeAsyncIterator()
    var all = realm.objects(Whelp.self).changes(keyPaths: ["friend.name"]).makeAsyncIterator()
    var (hounds, named, whelps) = ([Whelp](), [String: Whelp?](), [Whelp]())
    for round in 0..<2 {
      let (a, b, c) = (
        await next(&list), await next(&map), await next(&all)
      )
      a?.apply(to: &hounds)
      b?.apply(to: &named)
      c?.apply(to: &whelps)
      if round == 1 {
        guard case .update(_, let delta)? = a, case .update(_, let keys)? = b,
          case .update(_, let rows)? = c
        else {
          Issue.record("no update: \(String(describing: (a, b, c)))")
          return
        }
        #expect(delta.modifications == [0])
        #expect(keys.modifications == ["a"])
        #expect(rows.modifications == [0])
        #expect(rows.insertions == [4])
        break
      }
      try realm.write { mine.age = 7 }
      try realm.write {
        mine.name = "x"
        realm.create(Whelp.self, value: ["id": 9])
      }
    }
    #expect(hounds.map(\.id) == [0, 1, 2, 3])
    #expect(whelps.map(\.id) == [0, 1, 2, 3, 9])
    #expect(named["a"]??.id == 0)
  }

  @Test func loopsOfSectionsAndObjectsAreFiltered() async throws {
    let realm = try Realm(configuration: pounds.configuration, queue: nil)
    let kennel = realm.object(ofType: Pound.self, forPrimaryKey: 0)!
    let mine = realm.object(ofType: Whelp.self, forPrimaryKey: 1)!
    let sections = realm.objects(Whelp.self).sorted(by: \.id).sectioned(by: \.id)
    var rows = sections.changes(keyPaths: [\.friend?.name]).makeAsyncIterator()
    var row = sections[0].changes(keyPaths: ["friend.name"]).makeAsyncIterator()
    var object = kennel.changes(keyPaths: [\.hounds[0].friend?.name]).makeAsyncIterator()
    _ = await next(&rows)
    _ = await next(&row)
    Task { @MainActor in
      try realm.write { mine.age = 7 }
      try realm.write { kennel.name = "none of their business" }
      try realm.write { mine.name = "x" }
      try realm.write { mine.friend = mine }
    }
    guard case .change(_, let properties)? = await next(&object),
      case .update(_, let all)? = await next(&rows),
      case .update(_, let one)? = await next(&row)
    else {
      Issue.record("no update")
      return
    }
    #expect(properties.map(\.name) == ["hounds"])
    #expect(all.modifications.map(\.section).first == 0)
    #expect(one.modifications == [0])
    try realm.write { realm.delete(kennel) }
    guard case .deleted? = await next(&object) else {
      Issue.record("not deleted")
      return
    }
    #expect(await next(&object) == nil)
  }

  private func next<E>(_ iterator: inout ChangeSequence<E>.Iterator) async -> E? {
    await iterator.next(isolation: #isolation)
  }
}
