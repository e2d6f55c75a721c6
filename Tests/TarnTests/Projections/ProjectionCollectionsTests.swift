import Foundation
import TestSupport
import Testing

@testable import Tarn

/// Observing results of projections and projected collections.
@Suite(.timeLimit(.minutes(30))) struct ProjectionCollectionsTests {
  private let a: Instance
  private let b: Instance

  init() throws {
    let shelter = try Shelter()
    a = try shelter.openClimbers()
    b = try shelter.openClimbers()
    try b.addClimbers()
    _ = a.realm.refresh()
  }

  private func text<C>(_ change: RealmCollectionChange<C>) -> String {
    switch change {
    case .initial: "initial"
    case .update(_, let deletions, let insertions, let modifications):
      "-\(deletions) +\(insertions) ~\(modifications)"
    case .error(let error): "\(error)"
    }
  }

  @Test func resultsTellWhereTheyHaveChanged() throws {
    var calls: [String] = []
    var names: [String] = []
    let token = a.cards.where { $0.age > 20 }.sorted(by: \.name).observe {
      calls.append(text($0))
      if case .initial(let cards) = $0 { names = cards.map(\.name) }
      if case .update(let cards, _, _, _) = $0 { names = cards.map(\.name) }
    }
    a.pump()
    #expect(names == ["Eva", "Ida", "Max"])
    try b.write {
      b.climber(2)!.firstName = "Dora"
      b.climber(3)!.age = 3
      b.climber(1)!.lastName = "Fels"
    }
    a.pump()
    #expect(calls == ["initial", "-[0, 2] +[0] ~[1]"])
    #expect(names == ["Dora", "Ida"])
    token.invalidate()
  }

  @Test func resultsAlongLabels() throws {
    var calls: [String: [String]] = [:]
    func observe(_ name: String, _ keyPaths: [String]) -> NotificationToken {
      a.cards.observe(keyPaths: keyPaths) { calls[name, default: []].append(text($0)) }
    }
    let tokens = [
      observe("label", ["familyName"]), observe("path", ["lastName"]), observe("deep", ["mobile"]),
      a.cards.observe(keyPaths: [\.familyName]) { calls["typed", default: []].append(text($0)) },
      a.cards.observe(keyPaths: [\.mobile]) { calls["typed deep", default: []].append(text($0)) },
      a.cards.sectioned(by: \.grade).observe(keyPaths: ["familyName"]) {
        if case .update(_, _, _, let modifications, _, _) = $0 {
          calls["sections", default: []].append("\(modifications)")
        }
      },
    ]
    a.pump()
    calls = [:]
    try b.write { b.climber(1)!.age = 3 }
    a.pump()
    #expect(calls.isEmpty)
    try b.write { b.climber(2)!.lastName = "Fels" }
    a.pump()
    #expect(
      calls == [
        "label": ["-[] +[] ~[1]"], "path": ["-[] +[] ~[1]"], "typed": ["-[] +[] ~[1]"],
        "sections": ["[[0, 0]]"],
      ])
    calls = [:]
    try b.write { b.climber(1)!.extras!.phone!.mobile!.number = "5" }
    a.pump()
    #expect(calls == ["deep": ["-[] +[] ~[0]"], "typed deep": ["-[] +[] ~[0]"]])
    for token in tokens { token.invalidate() }
  }

  @Test func projectedCollectionsTellAsListsDo() throws {
    var calls: [String] = []
    let card = try a.card(1)
    let token = card.friendNames.observe { calls.append(text($0)) }
    a.pump()
    func changed(_ block: (List<Climber>) -> Void) throws -> [String] {
      calls = []
      try b.write { block(b.climber(1)!.friends) }
      a.pump()
      return calls
    }
    #expect(try changed { $0[0].firstName = "Moritz" } == ["-[] +[] ~[0]"])
    #expect(try changed { $0[0].age = 3 } == [])
    #expect(try changed { $0.move(from: 0, to: 1) } == ["-[0] +[1] ~[]"])
    #expect(try changed { $0.append(b.climber(1)!) } == ["-[] +[2] ~[]"])
    #expect(try changed { $0.removeFirst() } == ["-[0] +[] ~[]"])
    #expect(Array(card.friendNames) == ["Moritz", "Ida"])
    token.invalidate()
  }

  /// Copies follow by what they are told, whatever is written and however it comes in.
  @Test(arguments: Array(1...6) as [UInt64])
  func copiesFollow(seed: UInt64) throws {
    var numbers = SeededRandom(seed: seed)
    let card = try a.card(1)
    let cards = a.cards.where { $0.age < 60 }.sorted(by: \.age)
    var (names, ids) = ([String](), [Int]())
    var wrong = 0
    let tokens = [
      card.friendNames.observeChanges { change in
        change.apply(to: &names)
        if case .update(let values, _) = change, names != Array(values) { wrong += 1 }
      },
      cards.observeChanges { change in
        switch change {
        case .initial(let cards): ids = cards.map { $0.rootObject.id }
        case .update(let cards, let delta):
          var copy = ids.map { Optional($0) }
          for index in delta.deletions.reversed() { copy.remove(at: index) }
          for index in delta.insertions { copy.insert(nil, at: index) }
          let shown: [Int] = cards.map { $0.rootObject.id }
          if copy.count != shown.count { wrong += 1 }
          ids = shown
        case .error: wrong += 1
        }
      },
    ]
    for _ in 0..<80 {
      let instance = numbers.chance(50) ? a : b
      try instance.write {
        let friends = instance.climber(1)!.friends
        let id = 2 + numbers.below(12)
        let card = instance.climber(id).map { ClimberCard(projecting: $0) }
        switch (numbers.below(6), card) {
        case (0, let card?): instance.realm.delete(card.rootObject)
        case (1, let card?): card.name = "n\(numbers.below(99))"
        case (2, let card?): card.age = numbers.below(99) * 20 + id
        case (3, let card?): friends.insert(card.rootObject, at: numbers.below(friends.count + 1))
        case (4, _) where friends.count > 1: friends.swapAt(0, numbers.below(friends.count))
        case (_, nil): instance.realm.add(Climber(id, "new", age: id))
        default: break
        }
      }
      if numbers.chance(40) { a.pump() }
    }
    while a.scheduler.pump() || a.realm.refresh() {}
    #expect(wrong == 0)
    #expect(names == card.friends.map(\.firstName))
    #expect(ids == cards.map { $0.rootObject.id })
    for token in tokens { token.invalidate() }
  }

  @Test @MainActor func loops() async throws {
    let shelter = try Shelter()
    let realm = try Realm(configuration: shelter.climbers, queue: nil)
    try realm.write {
      realm.add(Climber(1, "Ida"))
      realm.add(Climber(2, "Max"))
      realm.objects(Climber.self)[0].friends.append(realm.objects(Climber.self)[1])
    }
    let card = realm.objects(ClimberCard.self)[0]
    var (names, cards) = ([String](), [ClimberCard]())
    var values = card.friendNames.changes.makeAsyncIterator()
    var all = realm.objects(ClimberCard.self).changes(keyPaths: ["name"]).makeAsyncIterator()
    await values.next(isolation: #isolation)?.apply(to: &names)
    await all.next(isolation: #isolation)?.apply(to: &cards)
    var told: [String] = []
    var labels: [String] = []
    let loop = Task { @MainActor in
      for await change in card.changes {
        switch change {
        case .change(_, let properties): told += properties.map(\.text)
        case .deleted: told.append("deleted")
        case .error(let error): told.append("\(error)")
        }
      }
    }
    let labelled = Task { @MainActor in
      for await change in card.changes(keyPaths: [\.age]) {
        if case .change(_, let properties) = change { labels += properties.map(\.name) }
      }
    }
    try await yieldUntil { realm.core.delivery.observers.count >= 4 }
    try realm.write { card.friends[0].firstName = "Moritz" }
    try realm.write { card.name = "Iris" }
    try realm.write { card.age = 4 }
    await values.next(isolation: #isolation)?.apply(to: &names)
    await all.next(isolation: #isolation)?.apply(to: &cards)
    #expect(names == ["Moritz"])
    #expect(cards.map(\.name) == ["Iris", "Moritz"])
    try await yieldUntil { !labels.isEmpty }
    try realm.write { realm.delete(card.rootObject) }
    await loop.value
    await labelled.value
    #expect(labels == ["age"])
    #expect(told.last == "deleted")
    let before = told.dropLast()
    #expect(before.contains("name: Ida > Iris"))
    #expect(before.contains("age: 0 > 4"))
  }
}
