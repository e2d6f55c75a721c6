import Foundation
import TestSupport
import Testing

@testable import Tarn

class Kennel: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var name = ""
  @Persisted var best: Hound?
  @Persisted var hounds: List<Hound>
  @Persisted var pack: MutableSet<Hound>
  @Persisted var byName: Map<String, Hound?>
  @Persisted var things: List<AnyRealmValue>
}

class Hound: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var name = ""
  @Persisted var age = 0
  @Persisted var friend: Hound?
  @Persisted var collar: Collar?
  @Persisted(originProperty: "hounds") var kennels: LinkingObjects<Kennel>
}

class Collar: EmbeddedObject {
  @Persisted var color = ""
  @Persisted var width = 0
}

/// What observers along key paths are told.
struct KeyPathObservingTests {
  private let a: Place
  private let b: Place
  private let kennel: Kennel

  init() throws {
    let shelter = try Shelter()
    var configuration = shelter.configuration
    configuration.objectTypes = [Kennel.self, Hound.self, Collar.self]
    a = try Place(configuration, shelter)
    b = try Place(configuration, shelter)
    try a.write {
      let kennel = Kennel()
      for id in 0..<4 {
        let hound = Hound()
        hound.id = id
        kennel.hounds.append(hound)
      }
      kennel.pack.insert(kennel.hounds[0])
      kennel.byName["a"] = kennel.hounds[0]
      kennel.byName["b"] = kennel.hounds[1]
      kennel.things.append(objectsIn: [.int(1), .object(kennel.hounds[0])])
      kennel.best = kennel.hounds[0]
      kennel.hounds[0].friend = kennel.hounds[1]
      kennel.hounds[0].collar = Collar()
      a.realm.add(kennel)
    }
    b.realm.refresh()
    kennel = try #require(b.realm.object(ofType: Kennel.self, forPrimaryKey: 0))
  }

  private func hound(_ id: Int) -> Hound { a.realm.object(ofType: Hound.self, forPrimaryKey: id)! }
  private var written: Kennel { a.realm.object(ofType: Kennel.self, forPrimaryKey: 0)! }

  /// What that observer of the kennel is told of those writes, one after the other.
  private func told(_ keyPaths: [String]?, _ writes: [() -> Void]) throws -> [String] {
    var calls: [String] = []
    let token = kennel.observe(keyPaths: keyPaths) { change in
      switch change {
      case .change(_, let properties):
        calls.append(properties.map(\.name).joined(separator: " "))
      case .deleted: calls.append("deleted")
      case .error(let error): calls.append("\(error)")
      }
    }
    for write in writes {
      let before = calls.count
      try a.write(write)
      b.pump()
      if calls.count == before { calls.append("-") }
    }
    token.invalidate()
    return calls
  }

  /// The same for a collection.
  private func told<C: RealmCollection>(
    _ collection: C, _ keyPaths: [String]?, _ writes: [() -> Void]
  ) throws -> [String] {
    var calls: [String] = []
    let token = collection.observe(keyPaths: keyPaths) { change in
      if case .update(_, let deletions, let insertions, let modifications) = change {
        calls.append("-\(deletions) +\(insertions) ~\(modifications)")
      }
    }
    b.pump()
    for write in writes {
      let before = calls.count
      try a.write(write)
      b.pump()
      if calls.count == before { calls.append("-") }
    }
    token.invalidate()
    return calls
  }

  // MARK: - Objects

  @Test func onlyPropertiesOnAKeyPathAreTold() throws {
    let calls = try told(
      ["name", "hounds"],
      [
        { written.name = "" }, { written.best = nil }, { hound(0).name = "x" },
        { written.hounds.removeLast() },
        {
          written.name = "n"
          written.best = hound(1)
        },
      ])
    #expect(calls == ["name", "-", "-", "hounds", "name"])
  }

  @Test func theFirstPropertyIsToldOfWhatIsBehindIt() throws {
    let calls = try told(
      ["best.friend.name"],
      [
        { hound(1).name = "x" }, { hound(1).age = 1 }, { hound(0).name = "x" },
        { hound(0).friend = hound(2) }, { hound(1).name = "y" }, { hound(2).name = "y" },
        { written.best = nil }, { hound(2).name = "z" }, { written.best = hound(0) },
      ])
    #expect(calls == ["best", "-", "-", "best", "-", "best", "best", "-", "best"])
  }

  @Test func aKeyPathCoversNothingBehindItsEnd() throws {
    let calls = try told(["best.collar"], [{ hound(0).collar!.color = "red" }])
    #expect(calls == ["-"])
    #expect(try told(["best.collar.color"], [{ hound(0).collar!.color = "blue" }]) == ["best"])
  }

  @Test func aCollectionIsToldOfItsElementsOnlyWhereAKeyPathGoesOn() throws {
    let writes = [
      { hound(0).name = "x" }, { hound(0).age = 1 }, { written.hounds.swapAt(2, 3) },
      { written.byName["c"] = hound(2) }, { written.pack.insert(hound(3)) },
    ]
    #expect(try told(["hounds"], writes) == ["-", "-", "hounds", "-", "-"])
    #expect(try told(["hounds.name"], writes) == ["hounds", "-", "hounds", "-", "-"])
    #expect(try told(["byName.name"], writes) == ["byName", "-", "-", "byName", "-"])
    #expect(try told(["pack.name"], [{ hound(0).name = "x" }]) == ["pack"])
    #expect(
      try told(["things.name"], [{ hound(0).name = "x" }, { hound(0).age = 1 }])
        == ["things", "-"])
  }

  @Test func whatLinksHereIsToldLast() throws {
    let hound = try #require(b.realm.object(ofType: Hound.self, forPrimaryKey: 0))
    var calls: [String] = []
    let token = hound.observe(keyPaths: ["kennels.name", "name"]) { change in
      guard case .change(_, let properties) = change else { return }
      calls.append(properties.map(\.name).joined(separator: " "))
    }
    try a.write {
      written.name = "x"
      self.hound(0).name = "y"
    }
    b.pump()
    try a.write { written.best = nil }
    b.pump()
    try a.write { written.hounds.remove(at: 0) }
    b.pump()
    #expect(calls == ["name kennels", "kennels"])
    token.invalidate()
  }

  @Test func noKeyPathsFilterNothing() throws {
    let writes = [{ written.name = "x" }, { hound(0).name = "x" }]
    #expect(try told(nil, writes) == ["name", "-"])
    #expect(try told([], writes) == ["name", "-"])
  }

  @Test func deletionIsToldInAnyCase() throws {
    #expect(try told(["best.name"], [{ a.realm.delete(written) }]) == ["deleted"])
  }

  @Test func eachTokenOfAnObjectHasItsOwnFilter() throws {
    var calls: [String] = []
    let tokens = ["name", "best.name"].map { keyPath in
      kennel.observe(keyPaths: [keyPath]) { (_: ObjectChange<Kennel>) in calls.append(keyPath) }
    }
    try a.write { hound(0).name = "x" }
    b.pump()
    #expect(calls == ["best.name"])
    for token in tokens { token.invalidate() }
  }

  @Test func aLinkThatWasNotSetHasOneValue() throws {
    var values: [Int?] = []
    let token = kennel.observe(keyPaths: [\.best?.name]) { change in
      guard case .change(_, let properties) = change else { return }
      for property in properties {
        values += [(property.oldValue as? Hound)?.id, (property.newValue as? Hound)?.id]
      }
    }
    try a.write { hound(0).name = "x" }
    b.pump()
    try a.write { written.best = hound(1) }
    b.pump()
    #expect(values == [0, 0, 0, 1])
    token.invalidate()
  }

  // MARK: - Collections

  @Test func onlyModificationsAreFiltered() throws {
    let writes = [
      { hound(1).name = "x" }, { hound(1).age = 1 },
      {
        hound(1).age = 2
        hound(2).name = "y"
      }, { written.hounds.remove(at: 0) }, { written.hounds.append(hound(0)) },
      { written.hounds[1] = written.hounds[1] },
    ]
    let calls = try told(kennel.hounds, ["name"], writes)
    #expect(
      calls == [
        "-[] +[] ~[1]", "-", "-[] +[] ~[2]", "-[0] +[] ~[]", "-[] +[3] ~[]", "-[] +[] ~[1]",
      ])
    let erased = AnyRealmCollection(b.realm.objects(Hound.self).sorted(by: \.id))
    let results = try told(
      erased, ["name"],
      [{ hound(1).name = "x" }, { hound(1).age = 1 }, { a.realm.delete(hound(3)) }])
    #expect(results == ["-[] +[] ~[1]", "-", "-[3] +[] ~[]"])
  }

  @Test func oneThatMovesIsToldWhateverTheFilter() throws {
    let sorted = b.realm.objects(Hound.self).sorted(byKeyPath: "age")
    let calls = try told(
      sorted, ["name"],
      [
        { hound(0).age = 5 }, { hound(0).age = 6 }, { hound(0).name = "x" },
        { hound(0).friend = nil },
      ])
    #expect(calls == ["-[0] +[3] ~[]", "-", "-[] +[] ~[3]", "-"])
  }

  @Test func keysOfAMapAreFiltered() throws {
    var calls: [[String]] = []
    let token = kennel.byName.observe(keyPaths: [\Hound.name]) { change in
      if case .update(_, let deletions, let insertions, let modifications) = change {
        calls.append(deletions + ["|"] + insertions + ["|"] + modifications)
      }
    }
    b.pump()
    for write in [
      { hound(0).name = "x" }, { hound(0).age = 1 }, { written.byName["b"] = hound(1) },
      { written.byName["c"] = hound(2) },
    ] {
      try a.write(write)
      b.pump()
    }
    #expect(calls == [["|", "|", "a"], ["|", "|", "b"], ["|", "c", "|"]])
    token.invalidate()
  }

  @Test func threeLinksCountWithoutKeyPaths() throws {
    try a.write {
      hound(1).friend = hound(2)
      hound(2).friend = hound(3)
      hound(3).friend = hound(0)
    }
    let kennels = b.realm.objects(Kennel.self)
    let hit = "-[] +[] ~[0]"
    // From the kennel over the best hound: 0 is one link away, 3 is four, in the list again one.
    let calls = try told(kennels, nil, [{ hound(3).age = 1 }, { written.hounds.removeAll() }])
    #expect(calls == [hit, hit])
    try a.write {
      written.pack.removeAll()
      written.byName.removeAll()
      written.things.removeAll()
    }
    #expect(try told(kennels, nil, [{ hound(2).age = 1 }, { hound(3).age = 2 }]) == [hit, "-"])
    var calls4 = 0
    let token = kennels.observe(depth: 4) { _ in calls4 += 1 }
    b.pump()
    try a.write { hound(3).age = 3 }
    b.pump()
    #expect(calls4 == 2)
    token.invalidate()
  }

  @Test func aHubIsFoundFromTheSideOfThoseWhoLook() throws {
    try a.write {
      for id in 10..<1_400 {
        let other = Hound()
        other.id = id
        other.friend = hound(0)
        a.realm.add(other)
      }
    }
    b.realm.refresh()
    let few = b.realm.objects(Hound.self).where { $0.id < 12 }.sorted(by: \.id)
    let hits = "-[] +[] ~[4, 5]"
    #expect(try told(few, ["friend.name"], [{ hound(0).name = "x" }]) == [hits])
    #expect(try told(few, nil, [{ hound(0).name = "x" }]) == ["-[] +[] ~[0, 4, 5]"])
  }

  @Test func sectionsAreFiltered() throws {
    let sections = b.realm.objects(Hound.self).sectioned(
      by: { $0.age / 10 }, sortDescriptors: [SortDescriptor(keyPath: "id")])
    var calls: [String] = []
    let token = sections.observe(keyPaths: ["name"]) { change in
      if case .update(_, let deletions, let insertions, let modifications, let came, _) = change {
        calls.append("\(deletions.count) \(insertions.count) \(modifications.count) \(came.count)")
      }
    }
    b.pump()
    for write in [
      { hound(1).name = "x" }, { hound(1).age = 1 }, { hound(1).age = 11 },
      {
        hound(1).age = 12
        hound(2).name = "y"
      },
    ] {
      try a.write(write)
      b.pump()
    }
    #expect(calls == ["0 0 1 0", "1 1 0 1", "0 0 1 0"])
    token.invalidate()
  }
}
