import Foundation
import Testing

@testable import Tarn

/// An embedded object cannot be in two positions at once, whoever puts it there.
struct EmbeddedTrapTests: TrapSuite {
  private let shelter = Result { try Shelter() }
  private var folder: String { get throws { try shelter.get().folder } }

  private static let twice =
    "An object of the embedded class 'Bead' would be in two positions of 'Necklace.beads' at once. "
    + "An embedded object has one position: make another object for the second one."
  private static let twiceAdded =
    "An object of the embedded class 'Bead' is in two positions of the added object. An "
    + "embedded object has one position: make another object for the second one."
  private static let twiceInMemory =
    "An object of the embedded class 'Bead' would be in two positions of a list at once. An "
    + "embedded object has one position"

  private static let intoItself =
    "An object of the embedded class 'Bead' cannot be put into itself, nor into an object that "
    + "belongs to it."

  /// A use of a necklace with beads and of a bead of no one, in an open write.
  private static func row(
    _ name: String, _ message: String,
    _ use: @escaping @Sendable ((one: Necklace, realm: Realm, bead: Bead)) -> Void
  ) -> TrapCase {
    TrapCase(name, message) { shelter in
      let box = try BeadBox(shelter)
      let one = try box.add(1)
      try box.instance.write { use((one, box.realm, Bead(9))) }
    }
  }

  static let traps: [TrapCase] = [
    row("appended", twice) { $0.one.beads.append(objectsIn: [$0.one.beads[0], $0.one.beads[0]]) },
    row("inserted new", twiceAdded) {
      $0.one.beads.insert(contentsOf: [$0.bead, Bead(8), $0.bead], at: 1)
    },
    row("in two properties", twiceAdded) { it in
      let other = Necklace(2)
      other.clasp = it.bead
      other.beads.append(it.bead)
      it.realm.add(other)
    },
    row("replaced", twice) {
      $0.one.beads.replaceSubrange(0..<2, with: [$0.one.beads[3], $0.one.beads[3]])
    },
    row("dynamic", twice) { it in
      let dynamic = it.realm.dynamicObject(ofType: "Necklace", forPrimaryKey: 1)!
      let list = dynamic.dynamicList("beads")
      dynamic.setValue([list[0], list[0]], forKey: "beads")
    },
    row("unmanaged", twiceInMemory) {
      Necklace(2).beads.append(objectsIn: [$0.bead, $0.bead])
    },
    row("updated", "An embedded object has one position") { it in
      let again = Necklace(1)
      // Two accessors of one row.
      again.beads.append(objectsIn: [it.one.beads[0], it.one.beads[0]])
      it.realm.add(again, update: .modified)
    },
    row("into itself", intoItself) { it in
      it.one.beads[0].inner = it.bead
      it.one.beads[0].inner!.pearls.append(it.one.beads[0])
    },
  ]

  @Test(arguments: traps.map(\.name))
  func stops(_ name: String) async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      [folder = try folder as String, name] in
      try await EmbeddedTrapTests.traps.named(name).run(Shelter(within: folder))
    }
    try expect(Self.traps.named(name).message, in: result)
  }
}
