import Foundation
import TestSupport
import Testing

@testable import Tarn

/// Results of projections, on the objects' properties.
struct ProjectionResultsTests {
  private let instance: Instance
  private var cards: Results<ClimberCard> { instance.cards }

  init() throws {
    instance = try Shelter().openClimbers()
    try instance.addClimbers()
  }

  @Test func elements() {
    #expect(cards.count == 3)
    #expect(cards.map(\.name) == ["Ida", "Max", "Eva"])
    #expect(cards.first?.name == "Ida")
    #expect(cards.last?.name == "Eva")
    #expect(cards[1].lastName == "Tal")
    #expect(cards.first(where: { $0.name == "Max" })?.age == 25)
    #expect(cards.index(of: cards[2]) == 2)
    #expect(cards.objects(at: [0, 2]).map(\.age) == [31, 40])
    #expect(cards == instance.cards)
    #expect(cards.realm == instance.realm)
    #expect(AnyRealmCollection(cards).map(\.name) == ["Ida", "Max", "Eva"])
    #expect(instance.realm.objects(ClimberCard.self).where { $0.age > 99 }.first == nil)
  }

  @Test func conditions() throws {
    #expect(cards.where { $0.firstName == "Max" }.map(\.lastName) == ["Tal"])
    #expect(cards.where { $0.age > 30 }.where { $0.hut.name == "Top" }.map(\.name) == ["Ida"])
    #expect(cards.filter("lastName BEGINSWITH %@", "A").map(\.name) == ["Eva"])
    #expect(try cards.filtered("age < %d", 30).map(\.name) == ["Max"])
    #expect(cards.index(matching: { $0.age > 31 }) == 2)
    #expect(cards.index(matching: "firstName == %@", "Max") == 1)
    #expect(throws: Realm.Error.invalidInput) { try cards.filtered("name == 'Ida'") }
    #expect(cards.where { $0.partner.firstName == "Max" }.count == 1)
  }

  @Test func orders() {
    #expect(cards.sorted(by: \.age).map(\.name) == ["Max", "Ida", "Eva"])
    #expect(cards.sorted(by: \.name, ascending: false).map(\.name) == ["Max", "Ida", "Eva"])
    #expect(cards.sorted(by: \.hutName).map(\.name).first == "Ida")
    #expect(cards.sorted(byKeyPath: "lastName").map(\.name) == ["Eva", "Ida", "Max"])
    let descriptors = [SortDescriptor(keyPath: \ClimberCard.grade), "age"]
    #expect(cards.sorted(by: descriptors).map(\.name) == ["Max", "Eva", "Ida"])
    #expect(cards.sorted(by: [SortDescriptor(keyPath: \Climber.age)]).first?.name == "Max")
    #expect(cards.sorted(by: \.partner?.age).count == 3)
    #expect(cards.sorted(by: \.name).where { $0.age > 30 }.map(\.name) == ["Eva", "Ida"])
    #expect(cards.distinct(by: [\.grade]).map(\.name) == ["Ida", "Max"])
    #expect(cards.distinct(by: ["grade"]).count == 2)
  }

  @Test func aggregates() {
    #expect(cards.min(of: \.age) == 25)
    #expect(cards.max(of: \.weight) == 60.5)
    #expect(cards.sum(of: \.age) == 96)
    #expect(cards.average(of: \.age) == 32)
    #expect(cards.max(ofProperty: "age") == 40)
    let names = cards.value(forKey: "firstName") as? [String]
    #expect(names == ["Ida", "Max", "Eva"])
    #expect(cards.value(forKeyPath: "@max.age") as? Int == 40)
  }

  @Test func sections() throws {
    let byGrade = cards.sectioned(by: \.grade)
    try #require(byGrade.allKeys == [.easy, .hard])
    #expect(byGrade[0].map(\.name) == ["Max", "Eva"])
    let byLetter = cards.sectioned(
      by: { $0.familyName.first.map(String.init) }, sortDescriptors: ["lastName"])
    try #require(byLetter.allKeys == ["A", "B", "T"])
    #expect(byLetter[[1, 0]].name == "Ida")
    let byAge = cards.sectioned(
      by: \.age, sortDescriptors: [SortDescriptor(keyPath: \ClimberCard.age, ascending: false)])
    #expect(byAge.allKeys == [40, 31, 25])
  }

  @Test func theyAreLive() throws {
    let young = cards.where { $0.age < 35 }.sorted(by: \.name)
    var seen: [String] = []
    try instance.write {
      for card in young {
        seen.append(card.name)
        card.age += 5
      }
      #expect(young.map(\.name) == ["Max"])
      young[0].name = "Moritz"
    }
    #expect(seen == ["Ida", "Max"])
    #expect(instance.climber(2)?.firstName == "Moritz")
  }

  @Test func keyPathsHaveNames() {
    #expect(_name(for: \ClimberCard.name) == "firstName")
    #expect(_name(for: \ClimberCard.familyName) == "lastName")
    #expect(_name(for: \ClimberCard.mobile) == "extras.phone.mobile.number")
    #expect(_name(for: \ClimberCard.partner?.extras?.email) == "partner.extras.email")
    #expect(_name(for: \ClimberCard.friendNames) == "friends.firstName")
    #expect(_name(for: \ClimberCard.teamWeights) == "team.weight")
    #expect(_name(for: \ClimberDetails.number) == "id")
  }

  /// Results of projections against plain arrays of what each should show.
  @Test(arguments: Array(1...6) as [UInt64])
  func likePlainArrays(seed: UInt64) throws {
    var numbers = SeededRandom(seed: seed)
    var model: [Int: (name: String, age: Int, email: String?)] = [:]
    try instance.write { instance.realm.deleteAll() }
    let young = cards.where { $0.age < 50 }.sorted(by: \.age)
    let named = cards.where { $0.extras != nil }
    for _ in 0..<150 {
      let id = numbers.below(20)
      try instance.write {
        guard let card = instance.climber(id).map({ ClimberCard(projecting: $0) }) else {
          instance.realm.add(Climber(id, "new", age: id))
          model[id] = ("new", id, nil)
          return
        }
        switch numbers.below(5) {
        case 0:
          instance.realm.delete(card.rootObject)
          model[id] = nil
        case 1:
          card.name = "n\(numbers.below(9))"
          model[id]?.name = card.rootObject.firstName
        case 2:
          card.age = numbers.below(99) * 20 + id
          model[id]?.age = card.rootObject.age
        case 3:
          if card.rootObject.extras == nil { card.rootObject.extras = ClimberExtras() }
          card.email = "e\(numbers.below(9))"
          model[id]?.email = .some(card.rootObject.extras!.email)
        default:
          card.rootObject.extras = nil
          model[id]?.email = nil
        }
      }
      let ordered = model.sorted { $0.key < $1.key }
      #expect(cards.map { $0.rootObject.id } == ordered.map(\.key))
      #expect(cards.map(\.name) == ordered.map(\.value.name))
      #expect(cards.map(\.email) == ordered.map(\.value.email))
      let wanted = ordered.filter { $0.value.age < 50 }.sorted { $0.value.age < $1.value.age }
      #expect(young.map(\.age) == wanted.map(\.value.age))
      #expect(named.map(\.email) == ordered.filter { $0.value.email != nil }.map(\.value.email))
    }
  }
}
