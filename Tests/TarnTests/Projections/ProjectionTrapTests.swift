import Foundation
import Testing

@testable import Tarn

class WrongFull: Projection<Climber> { @Projected(\Climber.fullName) var full }
class WrongSame: Projection<Climber> { @Projected(\Climber.sameName) var same }
class WrongMember: Projection<Climber> { @Projected(\Climber.firstName.count) var length }
class WrongValues: Projection<Climber> { @Projected(\Climber.friendsNames) var names }
class WrongOfValues: Projection<Climber> {
  @Projected(\Climber.friends.projectTo.fullName) var names
}
class WrongElement: Projection<Climber> {
  @Projected(\Climber.friends[0].firstName) var name
}
class WrongElements: Projection<Climber> {
  @Projected(\Climber.friends[0].friends.projectTo.firstName) var names
}

/// What a program is told before it stops that projects what is not there.
struct ProjectionTrapTests: TrapSuite {
  private let shelter = Result { try Shelter() }
  private var folder: String { get throws { try shelter.get().folder } }

  enum Mistake: String, CaseIterable, Codable {
    case computed, disguised, member, computedValues, valuesOfComputed
    case sortedByComputed, sortedByMember, assignedValues, assignedOutsideOfWrite, assignedKey
    case deleted, stored, unknownProperty, frozen
    case observedFrozen, observedUnmanaged, observedUnknown, observedBeside, observedBehind
    case throughElements, valuesOfElements, throughValues
    case observedComputed, loopAlongUnknown, resultsAlongUnknown

    var message: String {
      switch self {
      case .computed:
        "not stored but computed from 'firstName', 'lastName', so 'WrongFull.full' cannot"
      case .disguised: "not stored but computed from 'firstName', so 'WrongSame.same' cannot"
      case .member: "so 'WrongMember.length' cannot project it"
      case .computedValues: "so 'WrongValues.names' cannot project it"
      case .valuesOfComputed: "so 'WrongOfValues.names' cannot project it"
      case .sortedByComputed: "so the store cannot sort by it"
      case .sortedByMember: "so the store cannot sort by it"
      case .assignedValues:
        "'ClimberCard.friendNames' is read from the objects of a list or set and cannot be set."
      case .assignedOutsideOfWrite: "Cannot modify managed objects outside of a write transaction"
      case .assignedKey: "Climber.id is the primary key"
      case .deleted: "Object has been deleted or invalidated"
      case .stored: "'ClimberCard' is a projection, which cannot be stored"
      case .unknownProperty: "'name'"
      case .frozen: "Cannot set Climber.firstName of a frozen Realm"
      case .observedFrozen: "Cannot observe a frozen Realm"
      case .observedUnmanaged: "Only objects which are managed by a Realm"
      case .observedUnknown, .loopAlongUnknown:
        "'ClimberCard' has no projected property at the start of the key path 'nme'."
      case .observedBeside:
        "'ClimberName' has no projected property at the start of the key path 'lastName'."
      case .observedBehind: "Class 'Climber' has no property 'nme'"
      case .throughElements: "so 'WrongElement.name' cannot project it"
      case .valuesOfElements: "so 'WrongElements.names' cannot project it"
      case .throughValues: "goes into a value, whose parts are not stored separately"
      case .observedComputed: "not stored but computed from 'firstName'"
      case .resultsAlongUnknown: "Class 'Climber' has no property 'nme'"
      }
    }

    func make(_ instance: Instance) throws {
      let climber = instance.climber(1)!
      let card = ClimberCard(projecting: climber)
      switch self {
      case .computed: print(WrongFull(projecting: climber).full)
      case .disguised: print(instance.realm.objects(WrongSame.self)[0].same)
      case .member: print(WrongMember(projecting: climber).length)
      case .computedValues: print(WrongValues(projecting: climber).names)
      case .valuesOfComputed: print(WrongOfValues(projecting: climber).names)
      case .sortedByComputed: print(instance.cards.sorted(by: \.greeting))
      case .sortedByMember: print(instance.cards.sorted(by: \.name.count))
      case .assignedValues: try instance.write { card.friendNames = card.friendNames }
      case .assignedOutsideOfWrite: card.name = "x"
      case .assignedKey: try instance.write { ClimberDetails(projecting: climber).number = 9 }
      case .deleted:
        try instance.write { instance.realm.delete(climber) }
        print(card.name)
      case .stored: print(List<ClimberCard>._description)
      case .unknownProperty: print(instance.cards.sorted(byKeyPath: "name"))
      case .frozen: card.freeze().name = "x"
      default: observe(card)
      }
    }

    private func observe(_ card: ClimberCard) {
      switch self {
      case .observedFrozen: _ = card.freeze().observe { _ in }
      case .observedUnmanaged: _ = ClimberCard(projecting: Climber()).observe { _ in }
      case .observedUnknown: _ = card.observe(keyPaths: ["nme"]) { _ in }
      case .observedBeside:
        _ = ClimberName(projecting: card.rootObject).observe(keyPaths: ["lastName"]) { _ in }
      case .observedBehind: _ = card.observe(keyPaths: ["partner.nme"]) { _ in }
      case .observedComputed: _ = card.observe(keyPaths: [\.greeting]) { _ in }
      case .throughElements: print(WrongElement(projecting: card.rootObject).name)
      case .valuesOfElements: print(WrongElements(projecting: card.rootObject).names)
      case .throughValues: _ = card.observe(keyPaths: [\.friendNames[0].count]) { _ in }
      case .loopAlongUnknown: _ = card.changes(keyPaths: ["nme"])
      case .resultsAlongUnknown:
        _ = card.realm!.objects(ClimberCard.self).observe(keyPaths: ["nme"]) { _ in }
      default: break
      }
    }
  }

  @Test(arguments: Mistake.allCases)
  func traps(mistake: Mistake) async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [folder = try folder as String, mistake = mistake as Mistake] in
      let instance = try Shelter(within: folder).openClimbers()
      try instance.addClimbers()
      try mistake.make(instance)
    }
    try expect(mistake.message, in: result)
  }
}
