import Foundation
import TarnStore
import TestSupport
import Testing

@testable import Tarn

/// Views of objects: reading, assigning, copies, equality.
struct ProjectionTests {
  private let instance: Instance

  init() throws {
    instance = try Shelter().openClimbers()
    try instance.addClimbers()
  }

  @Test func readingGoesToTheObject() throws {
    for card in [try instance.card(1), instance.cards[0]] {
      #expect(card.name == "Ida")
      #expect(card.lastName == "Berg")
      #expect(card.familyName == "Berg")
      #expect(card.age == 31)
      #expect(card.weight == 60.5)
      #expect(card.grade == .hard)
      #expect(card.hut?.beds == 4)
      #expect(card.hutName == "Top")
      #expect(card.email == "ida@example.org")
      #expect(card.mobile == "0171")
      #expect(card.partner?.id == 2)
      #expect(card.friends.map(\.id) == [2, 3])
      #expect(Array(card.heights) == [800, 1200])
      #expect(card.scores["wall"] == 3)
      #expect(card.anything == .string("x"))
      #expect(card.greeting == "Hello Ida")
      #expect(card.rootObject.id == 1)
    }
    let other = try instance.card(3)
    #expect(other.weight == nil)
    #expect(other.hut == nil)
    #expect(other.hutName == nil)
    #expect(other.mobile == nil)
    #expect(other.admirers.map(\.id) == [1])
    #expect(ClimberDetails(projecting: try instance.card(2).rootObject).number == 2)
  }

  @Test func assigningGoesToTheObject() throws {
    let (card, climber) = (try instance.card(1), instance.climber(1)!)
    try instance.write {
      card.name = "Iris"
      card.familyName = "Fels"
      card.age += 1
      card.weight = nil
      card.grade = .easy
      card.partner = instance.climber(3)
      card.hut = Hut(value: ["name": "New"])
      card.scores["ice"] = 5
      card.heights = List()
      card.friends.removeFirst()
      card.anything = .int(4)
      #expect(card.name == "Iris")
      #expect(card.lastName == "Fels")
      #expect(card.age == 32)
    }
    #expect(climber.firstName == "Iris")
    #expect(climber.lastName == "Fels")
    #expect(climber.age == 32)
    #expect(climber.weight == nil)
    #expect(climber.grade == .easy)
    #expect(climber.partner?.id == 3)
    #expect(climber.hut?.name == "New")
    #expect(climber.scores["ice"] == 5)
    #expect(climber.heights.isEmpty)
    #expect(climber.friends.map(\.id) == [3])
    #expect(climber.anything == .int(4))
  }

  /// Behind links assigning is like `?.`
  @Test func assigningBehindLinks() throws {
    let (card, none) = (try instance.card(1), try instance.card(2))
    try instance.write {
      card.mobile = "0999"
      card.hutName = "Low"
      none.mobile = "0111"
      none.hutName = "None"
    }
    #expect(card.rootObject.extras?.phone?.mobile?.number == "0999")
    #expect(card.hut?.name == "Low")
    #expect(none.mobile == nil)
    #expect(none.rootObject.extras == nil)
    #expect(none.hut == nil)
  }

  @Test func propertiesOfListsMembers() throws {
    let card = try instance.card(1)
    let names: ProjectedCollection<String> = card.friendNames
    #expect(Array(names) == ["Max", "Eva"])
    #expect(card.teamWeights.map { $0 } == [60.5, nil])
    try instance.write {
      card.friends[0].firstName = "Moritz"
      card.friends.append(card.rootObject)
    }
    #expect(Array(names) == ["Moritz", "Eva", "Ida"])
    #expect(names == card.friendNames)
  }

  @Test func unmanagedObjects() {
    let climber = Climber(7, "Uta")
    let card = ClimberCard(projecting: climber)
    #expect(card.name == "Uta")
    #expect(card.mobile == nil)
    #expect(card.friends.isEmpty)
    #expect(card.realm == nil)
    #expect(!card.isFrozen)
    #expect(!card.isInvalidated)
    card.name = "Udo"
    card.friends.append(Climber(8, "Ole"))
    climber.extras = ClimberExtras()
    card.email = "udo@example.org"
    #expect(climber.firstName == "Udo")
    #expect(Array(card.friendNames) == ["Ole"])
    #expect(climber.extras?.email == "udo@example.org")
    #expect(card.email == "udo@example.org")
  }

  /// Assigned before and after the object comes into a Realm.
  @Test func anObjectThatIsAdded() throws {
    let card = ClimberCard(projecting: Climber(7, "Uta"))
    try instance.write {
      instance.realm.add(card.rootObject)
      card.age = 5
    }
    #expect(card.name == "Uta")
    #expect(instance.climber(7)?.age == 5)
    #expect(card.realm == instance.realm)
  }

  @Test func subclassesThatOverrideProperties() {
    let card = ClimberCard(projecting: Guide(9, "Ben"))
    #expect(card.name == "Guide Ben")
    card.name = "Leo"
    #expect(card.name == "Guide Leo")
  }

  @Test func embeddedObjects() throws {
    let card = HutCard(projecting: try #require(instance.climber(1)?.hut))
    try instance.write { card.name = "Mid" }
    #expect(instance.climber(1)?.hut?.name == "Mid")
  }

  @Test func equality() throws {
    let (card, same) = (try instance.card(1), try instance.card(1))
    #expect(card == same)
    #expect(card.hashValue == same.hashValue)
    #expect(card == instance.cards[0])
    #expect(card != instance.cards[1])
    #expect(Set(instance.cards).union([card]).count == 3)
    #expect(card == ClimberDetails(projecting: card.rootObject))
    let climber = Climber(1, "Ida")
    #expect(ClimberCard(projecting: climber) == ClimberCard(projecting: climber))
    #expect(ClimberCard(projecting: climber) != card)
    let hut = try #require(instance.climber(1)?.hut)
    #expect(HutCard(projecting: hut) == HutCard(projecting: instance.climber(1)!.hut!))
  }

  @Test func freezingAndThawing() throws {
    let card = try instance.card(1)
    let frozen = card.freeze()
    let all = instance.cards.freeze()
    try instance.write {
      card.name = "Iris"
      card.friends.removeAll()
      instance.realm.delete(instance.climber(3)!)
    }
    #expect(frozen.isFrozen)
    #expect(!card.isFrozen)
    #expect(frozen.freeze() == frozen)
    #expect(frozen.name == "Ida")
    #expect(Array(frozen.friendNames) == ["Max", "Eva"])
    #expect(frozen.mobile == "0171")
    #expect(card.name == "Iris")
    try #require(all.isFrozen)
    try #require(all.map(\.name) == ["Ida", "Max", "Eva"])
    #expect(all[0].isFrozen)
    let thawed = try #require(instance.realm.thaw(frozen))
    #expect(thawed == card)
    #expect(thawed.name == "Iris")
    #expect(card.thaw() === card)
    #expect(instance.realm.thaw(all[2]) == nil)
    #expect(instance.realm.thaw(all) == instance.cards)
  }

  /// Any thread may read what is frozen.
  @Test func frozenOnesOnOtherThreads() throws {
    nonisolated(unsafe) let frozen = instance.cards.freeze()  // because: it is frozen
    let texts = Lock<[String]>([])
    DispatchQueue.concurrentPerform(iterations: 4) { _ in
      let text = frozen.map { "\($0.name) \($0.mobile ?? "-")" }.joined(separator: ",")
      texts.withLock { $0.append(text) }
    }
    #expect(texts.withLock { $0 } == Array(repeating: "Ida 0171,Max -,Eva -", count: 4))
  }

  @Test func deletedObjects() throws {
    let card = try instance.card(1)
    try instance.write { instance.realm.delete(card.rootObject) }
    #expect(card.isInvalidated)
    #expect(card.description == "ClimberCard [invalidated]")
    try instance.write { instance.realm.add(Climber(1, "Ida")) }
    #expect(card != instance.cards[2])
    #expect(card != instance.cards[0])
    #expect(card == card)
    #expect(Mirror(reflecting: card).children.isEmpty)
  }

  @Test func descriptions() throws {
    let name = ClimberName(projecting: instance.climber(1)!)
    #expect(name.description == "ClimberName {\n\tfirst = Ida;\n}")
    let text = try instance.card(1).description
    #expect(
      text.hasPrefix("ClimberCard {\n\tname = Ida;\n\tlastName = Berg;\n\tfamilyName = Berg;"))
    #expect(text.contains("mobile = 0171;"))
    #expect(text.contains("friendNames = ProjectedCollection"))
    let other = try instance.card(2).description
    #expect(text.contains("hutName = Top;"))
    #expect(other.contains("hutName = (null);"))
    let mirror = Mirror(reflecting: name)
    #expect(mirror.children.map { $0.label ?? "" } == ["first"])
    #expect(instance.realm.objects(ClimberName.self).description.contains("[0] ClimberName {"))
  }
}
