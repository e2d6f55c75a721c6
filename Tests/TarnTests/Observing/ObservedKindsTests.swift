import Foundation
import Testing

@testable import Tarn

/// What can be observed, and what holds for all kinds of it.
struct ObservedKindsTests {
  /// The Realm first, then all others in the order in which they came.
  @Test func everythingThatChangesCanBeObserved() throws {
    let shelter = try Shelter()
    let (a, b) = (try shelter.openClimbers(), try shelter.openClimbers())
    try a.addClimbers()
    b.realm.refresh()
    var told: [String] = []
    func note<C>(_ name: String) -> (RealmCollectionChange<C>) -> Void {
      { if case .update = $0 { told.append(name) } }
    }
    func noteSections<C>(_ name: String) -> (SectionedResultsChange<C>) -> Void {
      { if case .update = $0 { told.append(name) } }
    }
    func noteObject<T>(_ name: String) -> (ObjectChange<T>) -> Void {
      { if case .change = $0 { told.append(name) } }
    }
    let (climber, climbers) = (b.climber(1)!, b.realm.objects(Climber.self))
    let (card, sections) = (ClimberCard(projecting: climber), climbers.sectioned(by: \.grade))
    let tokens = [
      climbers.observe(note("results")), climber.friends.observe(note("list")),
      climber.team.observe(note("set")), b.climber(2)!.admirers.observe(note("links")),
      climber.scores.observe { if case .update = $0 { told.append("map") } },
      AnyRealmCollection(climbers).observe(note("any")), sections.observe(noteSections("sections")),
      sections[1].observe(noteSections("section")), card.friendNames.observe(note("values")),
      climber.observe(noteObject("object")), climber.hut!.observe(noteObject("embedded")),
      card.observe(noteObject("projection")), b.realm.observe { _, _ in told.append("realm") },
    ]
    b.pump()
    #expect(told == [])
    try a.write {
      let climber = a.climber(1)!
      climber.firstName = "Iris"
      climber.hut!.name = "Low"
      climber.scores["ice"] = 1
      climber.friends.append(climber)
    }
    b.pump()
    #expect(
      told == [
        "realm", "results", "list", "set", "links", "map", "any", "sections", "section", "values",
        "object", "embedded", "projection",
      ])
    for token in tokens { token.invalidate() }
  }

  private func kennels(_ ages: Int...) throws -> (Instance, Instance) {
    let shelter = try Shelter()
    let a = try shelter.openKennels()
    try a.write {
      let kennel = Kennel(1)
      a.realm.add(kennel)
      for (id, age) in ages.enumerated() { kennel.hounds.append(Hound(id, "h\(id)", age: age)) }
      a.realm.add(Yard(1))
    }
    return (a, try shelter.openKennels())
  }

  private func recorder<C: RealmCollection>(_ hounds: C) -> SequenceRecorder<C>
  where C.Element == Hound { SequenceRecorder(hounds) { $0.text } }

  /// What is written between registration and the first call is part of it.
  @Test func theFirstCallIsInitial() throws {
    let (a, b) = try kennels(5, 6)
    let list = recorder(b.kennel.hounds)
    let set = recorder(b.kennel.pack)
    let map = MapRecorder(b.kennel.named) { $0?.text ?? "nil" }
    let links = recorder(b.yard(1)!.hounds)
    let derived = recorder(b.kennel.hounds.sorted(by: \.age))
    try a.write {
      a.kennel.hounds.removeFirst()
      a.kennel.pack.insert(a.hound(1)!)
      a.kennel.named["x"] = a.hound(1)
      a.hound(1)!.yard = a.yard(1)
    }
    b.pump()
    #expect(
      [list.calls, derived.calls, set.calls, map.calls, links.calls].joined()
        .allSatisfy { $0 == "initial 1" })
    try a.write {
      a.kennel.hounds.removeAll()
      a.kennel.pack.removeAll()
      a.kennel.named["x"] = nil
      a.hound(1)!.yard = nil
    }
    b.pump()
    for calls in [list.calls, derived.calls, set.calls, links.calls] {
      #expect(calls == ["initial 1", "-[0] +[] ~[]"])
    }
    #expect(map.calls == ["initial 1", #"-["x"] +[] ~[]"#])
  }

  /// Nothing goes from an empty collection with its object.
  @Test func theEndOfAnEmptyCollectionIsNotTold() throws {
    let (a, b) = try kennels(5)
    let list = recorder(b.kennel.hounds)
    let set = recorder(b.kennel.pack)
    let map = MapRecorder(b.kennel.named) { $0?.text ?? "nil" }
    let links = recorder(b.yard(1)!.hounds)
    let derived = recorder(b.kennel.hounds.where { $0.age > 7 })
    b.pump()
    try a.write { a.kennel.hounds.removeAll() }
    b.pump()
    try a.write {
      a.realm.delete(a.kennel)
      a.realm.delete(a.yard(1)!)
    }
    b.pump()
    #expect(list.calls == ["initial 1", "-[0] +[] ~[]"])
    #expect([set.calls, links.calls, derived.calls] == Array(repeating: ["initial 0"], count: 3))
    #expect(map.calls == ["initial 0"])
  }

  /// A move is a deletion and an insertion, whatever the object did; away and back is none.
  @Test func elementsThatMove() throws {
    let (a, b) = try kennels(5, 6, 7)
    let recorder = recorder(b.kennel.hounds)
    b.pump()
    let hounds = a.kennel.hounds
    func told(_ changes: () -> Void...) throws -> [String] {
      let before = recorder.calls.count
      for change in changes { try a.write(change) }
      b.pump()
      return Array(recorder.calls.dropFirst(before))
    }
    #expect(
      try told({
        hounds.move(from: 0, to: 2)
        a.hound(0)!.age = 9
      }) == ["-[0] +[2] ~[]"])
    #expect(try told({ hounds.move(from: 2, to: 0) }, { hounds.move(from: 0, to: 2) }) == [])
    #expect(
      try told(
        { hounds.move(from: 2, to: 0) }, { a.hound(0)!.age = 1 }, { hounds.move(from: 0, to: 2) })
        == ["-[] +[] ~[2]"])
    #expect(try told({ hounds.swapAt(0, 2) }, { hounds.swapAt(0, 2) }) == [])
    #expect(recorder.problems == [])
  }

  /// A list that is assigned to itself has not changed.
  @Test func assigningAListToItself() throws {
    let (a, b) = try kennels(5, 6)
    let recorder = recorder(b.kennel.hounds)
    let all = SequenceRecorder(b.realm.objects(Kennel.self)) { "\($0.id)" }
    var told = 0
    let token = b.kennel.observe { (_: ObjectChange<Kennel>) in told += 1 }
    b.pump()
    try a.write { a.kennel.hounds = a.kennel.hounds }
    b.pump()
    #expect(recorder.calls == ["initial 2"])
    #expect(all.calls == ["initial 1"])
    #expect(told == 0)
    token.invalidate()
  }

  /// Embedded objects in a list, and one that goes with its parent.
  @Test func embeddedObjects() throws {
    let (a, b) = try kennels()
    try a.write { for price in 1...3 { a.kennel.tickets.append(Ticket(price)) } }
    b.realm.refresh()
    let recorder = SequenceRecorder(b.kennel.tickets) { "\($0.price)" }
    var told: [String] = []
    let token = b.kennel.tickets[2].observe { (change: ObjectChange<Ticket>) in
      switch change {
      case .change(_, let properties): told += properties.map(\.name)
      case .deleted: told.append("deleted")
      case .error(let error): told.append("\(error)")
      }
    }
    b.pump()
    try a.write { a.kennel.tickets[2].price = 7 }
    b.pump()
    try a.write {
      a.kennel.tickets.remove(at: 0)
      a.kennel.tickets.append(Ticket(4))
    }
    b.pump()
    try a.write { a.realm.delete(a.kennel) }
    b.pump()
    #expect(
      recorder.calls == ["initial 3", "-[] +[] ~[2]", "-[0] +[2] ~[]", "-[0, 1, 2] +[] ~[]"])
    #expect(told == ["price", "deleted"])
    #expect(recorder.problems == [])
    #expect(!token.invalidate())
  }

  /// Another type is another value, though the numbers are equal.
  @Test func aNumberOfAnotherType() throws {
    let shelter = try Shelter()
    var configuration = shelter.configuration
    configuration.objectTypes = [Safe.self]
    let (a, b) = (try Instance(configuration, shelter), try Instance(configuration, shelter))
    let safe = Safe()
    safe.content = .int(1)
    safe.other.append(.int(1))
    try a.write { a.realm.add(safe) }
    b.realm.refresh()
    let safes = SequenceRecorder(b.realm.objects(Safe.self)) { "\($0.content)" }
    let values = SequenceRecorder(b.realm.objects(Safe.self)[0].other) { "\($0)" }
    b.pump()
    try a.write {
      safe.content = .double(1)
      safe.other[0] = .double(1)
    }
    b.pump()
    #expect(safes.calls == ["initial 1", "-[] +[] ~[0]"])
    #expect(safes.mirror == ["double(1.0)"])
    #expect(values.calls == ["initial 1", "-[] +[] ~[0]"])
    #expect(values.mirror == ["double(1.0)"])
  }

  /// What changes in the file is worked out once for all of them.
  @Test func observersOfTheSameBacklinksShareTheirSource() throws {
    let a = try Pounds().a
    let whelps = a.realm.objects(Whelp.self)
    let tokens = [
      whelps[0].kennels.observe { _ in }, whelps[0].kennels.observeChanges { _ in },
      whelps[0].kennels.observe(depth: 0) { _ in },
    ]
    #expect(a.realm.core.delivery.observers.sources.all.count == 1)
    let other = whelps[1].kennels.observe { _ in }
    #expect(a.realm.core.delivery.observers.sources.all.count == 2)
    for token in tokens + [other] { token.invalidate() }
  }
}
