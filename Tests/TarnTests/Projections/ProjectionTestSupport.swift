import Foundation
import TestSupport

@testable import Tarn

enum Grade: String, PersistableEnum { case easy, hard }

class Climber: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var firstName = ""
  @Persisted var lastName = ""
  @Persisted var age = 0
  @Persisted var weight: Double?
  @Persisted var grade: Grade
  @Persisted var hut: Hut?
  @Persisted var extras: ClimberExtras?
  @Persisted var partner: Climber?
  @Persisted var friends: List<Climber>
  @Persisted var team: MutableSet<Climber>
  @Persisted var heights: List<Int>
  @Persisted var scores: Map<String, Int>
  @Persisted var anything: AnyRealmValue
  @Persisted(originProperty: "friends") var admirers: LinkingObjects<Climber>

  var fullName: String { firstName + " " + lastName }
  var sameName: String { firstName }
  var friendsNames: ProjectedCollection<String> { friends.projectTo.firstName }

  convenience init(_ id: Int, _ firstName: String, _ lastName: String = "", age: Int = 0) {
    self.init()
    self.id = id
    self.firstName = firstName
    self.lastName = lastName
    self.age = age
  }
}

class Hut: EmbeddedObject {
  @Persisted var name = ""
  @Persisted var beds: Int?
}

class ClimberExtras: Object {
  @Persisted var phone: ClimberPhone?
  @Persisted var email = ""
}

class ClimberPhone: Object {
  @Persisted var mobile: ClimberMobile?
}

class ClimberMobile: EmbeddedObject {
  @Persisted var number = ""
}

class Guide: Climber {
  override var firstName: String {
    get { "Guide " + super.firstName }
    set { super.firstName = newValue }
  }
}

class ClimberCard: Projection<Climber> {
  @Projected(\Climber.firstName) var name
  @Projected(\Climber.lastName) var lastName
  @Projected(\Climber.lastName) var familyName
  @Projected(\Climber.age) var age
  @Projected(\Climber.weight) var weight
  @Projected(\Climber.grade) var grade
  @Projected(\Climber.hut) var hut
  @Projected(\Climber.hut?.name) var hutName
  @Projected(\Climber.extras?.phone?.mobile?.number) var mobile
  @Projected(\Climber.extras?.email) var email
  @Projected(\Climber.partner) var partner
  @Projected(\Climber.friends) var friends
  @Projected(\Climber.heights) var heights
  @Projected(\Climber.scores) var scores
  @Projected(\Climber.anything) var anything
  @Projected(\Climber.admirers) var admirers
  @Projected(\Climber.friends.projectTo.firstName) var friendNames
  @Projected(\Climber.team.projectTo.weight) var teamWeights

  var greeting: String { "Hello " + name }
}

/// Adds a property to those of its superclass.
class ClimberDetails: ClimberCard {
  @Projected(\Climber.id) var number
}

/// Projects the same object with other names.
class ClimberName: Projection<Climber> {
  @Projected(\Climber.firstName) var first
}

/// Calls each of two properties by the name of the other.
class ClimberTwist: Projection<Climber> {
  @Projected(\Climber.firstName) var lastName
  @Projected(\Climber.lastName) var firstName
}

class HutCard: Projection<Hut> {
  @Projected(\Hut.name) var name
}

extension Shelter {
  var climbers: Realm.Configuration {
    var configuration = configuration
    configuration.objectTypes = [
      Climber.self, Hut.self, ClimberExtras.self, ClimberPhone.self, ClimberMobile.self,
    ]
    return configuration
  }

  func openClimbers() throws -> Instance { try Instance(climbers, self) }
}

extension Instance {
  func climber(_ id: Int) -> Climber? { realm.object(ofType: Climber.self, forPrimaryKey: id) }
  var cards: Results<ClimberCard> { realm.objects(ClimberCard.self) }

  func card(_ id: Int) throws -> ClimberCard {
    guard let climber = climber(id) else { throw NoClimber() }
    return ClimberCard(projecting: climber)
  }

  /// Takes turns until something has come from elsewhere; at most a minute for each.
  func waitAndPump(until isDone: () -> Bool) {
    while !isDone(), scheduler.wait(timeout: 300) { pump() }
  }

  /// Ida, Max and Eva of the ids 1 to 3; Ida has all that one can have.
  func addClimbers() throws {
    try write {
      let climbers = [
        Climber(1, "Ida", "Berg", age: 31), Climber(2, "Max", "Tal", age: 25),
        Climber(3, "Eva", "Alm", age: 40),
      ]
      realm.add(climbers)
      climbers[0].setUp()
      climbers[0].friends.append(objectsIn: climbers[1...])
      climbers[0].team.insert(objectsIn: climbers[..<2])
      climbers[0].partner = climbers[1]
    }
  }
}

extension Climber {
  func setUp() {
    hut = Hut(value: ["name": "Top", "beds": 4] as [String: Any])
    let extras = ClimberExtras()
    extras.email = "ida@example.org"
    extras.phone = ClimberPhone()
    extras.phone?.mobile = ClimberMobile()
    extras.phone?.mobile?.number = "0171"
    self.extras = extras
    weight = 60.5
    grade = .hard
    heights.append(objectsIn: [800, 1200])
    scores["wall"] = 3
    anything = .string("x")
  }
}

struct NoClimber: Error {}
