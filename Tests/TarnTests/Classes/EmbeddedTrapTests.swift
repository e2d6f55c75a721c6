import Foundation
import Testing

@testable import Tarn

/// An embedded object cannot be in two positions at once, whoever puts it there.
struct EmbeddedTrapTests: TrapSuite {
  fileprivate static let twice =
    "An object of the embedded class 'Bead' would be in two positions of 'Necklace.beads' at once. "
    + "An embedded object has one position: make another object for the second one."
  fileprivate static let twiceAdded =
    "An object of the embedded class 'Bead' is in two positions of the added object. An "
    + "embedded object has one position: make another object for the second one."
  fileprivate static let twiceInMemory =
    "An object of the embedded class 'Bead' would be in two positions of a list at once. An "
    + "embedded object has one position"

  fileprivate static let intoItself =
    "An object of the embedded class 'Bead' cannot be put into itself, nor into an object that "
    + "belongs to it."

  enum Mistake: String, CaseIterable, Codable {
    case appended, insertedNew, inTwoProperties, replaced, dynamic, unmanaged, updated, intoItself

    var message: String {
      switch self {
      case .appended, .replaced, .dynamic: EmbeddedTrapTests.twice
      case .insertedNew, .inTwoProperties: EmbeddedTrapTests.twiceAdded
      case .unmanaged: EmbeddedTrapTests.twiceInMemory
      case .updated: "An embedded object has one position"
      case .intoItself: EmbeddedTrapTests.intoItself
      }
    }

    func make(_ one: Necklace, _ realm: Realm) {
      let bead = Bead(9)
      switch self {
      case .appended: one.beads.append(objectsIn: [one.beads[0], one.beads[0]])
      case .insertedNew: one.beads.insert(contentsOf: [bead, Bead(8), bead], at: 1)
      case .inTwoProperties:
        let other = Necklace(2)
        other.clasp = bead
        other.beads.append(bead)
        realm.add(other)
      case .replaced: one.beads.replaceSubrange(0..<2, with: [one.beads[3], one.beads[3]])
      case .dynamic:
        let dynamic = realm.dynamicObject(ofType: "Necklace", forPrimaryKey: 1)!
        let list = dynamic.dynamicList("beads")
        dynamic.setValue([list[0], list[0]], forKey: "beads")
      case .unmanaged: Necklace(2).beads.append(objectsIn: [bead, bead])
      case .updated:
        let again = Necklace(1)
        // Two accessors of one row.
        again.beads.append(objectsIn: [one.beads[0], one.beads[0]])
        realm.add(again, update: .modified)
      case .intoItself:
        one.beads[0].inner = bead
        one.beads[0].inner!.pearls.append(one.beads[0])
      }
    }
  }

  private let shelter = Result { try Shelter() }

  @Test(arguments: Mistake.allCases) func traps(_ mistake: Mistake) async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [folder = try shelter.get().folder as String, mistake = mistake as Mistake] in
      let box = try BeadBox(Shelter(within: folder))
      let one = try box.add(1)
      try box.instance.write { mistake.make(one, box.realm) }
    }
    try expect(mistake.message, in: result)
  }
}
