import Foundation
import TestSupport
import Testing

@testable import Tarn

/// What observers along key paths are told.
struct KeyPathObservingTests {
  private let pounds: Pounds
  private let kennel: Pound
  private var a: Instance { pounds.a }
  private var b: Instance { pounds.b }

  init() throws {
    pounds = try Pounds()
    kennel = pounds.kennel
  }

  private func hound(_ id: Int) -> Whelp { pounds.hound(id) }
  private var written: Pound { pounds.written }

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
    defer { token.invalidate() }
    return try pounds.follow(writes) { calls }
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
    defer { token.invalidate() }
    return try pounds.follow(writes) { calls }
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
    let hound = try #require(b.realm.object(ofType: Whelp.self, forPrimaryKey: 0))
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

  /// Origins that come, go or are deleted; what they are named where the key path goes on.
  @Test func originsAreToldOf() throws {
    func told(_ keyPath: String) throws -> [String] {
      var calls: [String] = []
      let hound = try #require(b.realm.object(ofType: Whelp.self, forPrimaryKey: 0))
      let token = hound.observe(keyPaths: [keyPath]) { change in
        if case .change(_, let properties) = change { calls += properties.map(\.name) }
      }
      defer { token.invalidate() }
      let other = Pound(value: ["id": 9])
      return try pounds.follow([
        { written.name += "x" }, { written.best = nil }, { a.realm.add(other) },
        { other.hounds.append(self.hound(0)) }, { other.name = "y" }, { other.hounds.removeAll() },
        { other.hounds.append(self.hound(0)) }, { a.realm.delete(other) },
      ]) { calls }
    }
    let (links, none) = ("kennels", "-")
    #expect(try told("kennels") == [none, none, none, links, none, links, links, links])
    #expect(try told("kennels.name") == [links, none, none, links, links, links, links, links])
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
      kennel.observe(keyPaths: [keyPath]) { (_: ObjectChange<Pound>) in calls.append(keyPath) }
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
        values += [(property.oldValue as? Whelp)?.id, (property.newValue as? Whelp)?.id]
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
    let erased = AnyRealmCollection(b.realm.objects(Whelp.self).sorted(by: \.id))
    let results = try told(
      erased, ["name"],
      [{ hound(1).name = "x" }, { hound(1).age = 1 }, { a.realm.delete(hound(3)) }])
    #expect(results == ["-[] +[] ~[1]", "-", "-[3] +[] ~[]"])
  }

  @Test func oneThatMovesIsToldWhateverTheFilter() throws {
    let sorted = b.realm.objects(Whelp.self).sorted(byKeyPath: "age")
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
    let token = kennel.byName.observe(keyPaths: [\Whelp.name]) { change in
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
    let kennels = b.realm.objects(Pound.self)
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
        let other = Whelp()
        other.id = id
        other.friend = hound(0)
        a.realm.add(other)
      }
    }
    b.realm.refresh()
    let few = b.realm.objects(Whelp.self).where { $0.id < 12 }.sorted(by: \.id)
    let hits = "-[] +[] ~[4, 5]"
    #expect(try told(few, ["friend.name"], [{ hound(0).name = "x" }]) == [hits])
    #expect(try told(few, nil, [{ hound(0).name = "x" }]) == ["-[] +[] ~[0, 4, 5]"])
  }

  @Test func sectionsAreFiltered() throws {
    let sections = b.realm.objects(Whelp.self).sectioned(
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
