import Foundation
import Testing

@testable import Tarn

/// An embedded object cannot be in two places at once, whoever puts it there.
struct EmbeddedTrapTests: TrapSuite {
  private static let twice =
    "An object of the embedded class 'Bead' is to be in two places of 'Necklace.beads' at once. An "
    + "embedded object has one place: make another object for the second one."
  private static let twiceAdded =
    "An object of the embedded class 'Bead' is in two places of what is added. An embedded object "
    + "has one place: make another object for the second one."
  private static let twiceInMemory =
    "An object of the embedded class 'Bead' is to be in two places of a list at once. An embedded "
    + "object has one place"

  private let shelter = Result { try Shelter() }
  private var folder: String { get throws { try shelter.get().folder } }

  @Test func appendingOneElementTwice() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [folder = try folder as String] in
      let box = try BeadBox(Shelter(within: folder))
      let one = try box.add(1)
      try box.place.write { one.beads.append(objectsIn: [one.beads[0], one.beads[0]]) }
    }
    try expect(Self.twice, in: result)
  }

  @Test func insertingANewElementTwice() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [folder = try folder as String] in
      let box = try BeadBox(Shelter(within: folder))
      let one = try box.add(1)
      let bead = Bead(9)
      try box.place.write { one.beads.insert(contentsOf: [bead, Bead(8), bead], at: 1) }
    }
    try expect(Self.twiceAdded, in: result)
  }

  @Test func addingAnObjectThatHasOneInTwoProperties() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [folder = try folder as String] in
      let box = try BeadBox(Shelter(within: folder))
      let one = Necklace(1)
      one.clasp = Bead(9)
      one.beads.append(one.clasp!)
      try box.place.write { box.realm.add(one) }
    }
    try expect(Self.twiceAdded, in: result)
  }

  @Test func replacingARangeByOneElementTwice() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [folder = try folder as String] in
      let box = try BeadBox(Shelter(within: folder))
      let one = try box.add(1)
      try box.place.write {
        one.beads.replaceSubrange(0..<2, with: [one.beads[3], one.beads[3]])
      }
    }
    try expect(Self.twice, in: result)
  }

  @Test func assigningAListOfDynamicObjectsWithOneTwice() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [folder = try folder as String] in
      let box = try BeadBox(Shelter(within: folder))
      _ = try box.add(1)
      let dynamic = box.realm.dynamicObject(ofType: "Necklace", forPrimaryKey: 1)!
      let list = dynamic.dynamicList("beads")
      try box.place.write { dynamic.setValue([list[0], list[0]], forKey: "beads") }
    }
    try expect(Self.twice, in: result)
  }

  @Test func anUnmanagedListWithOneTwice() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let bead = Bead(9)
      Necklace(1).beads.append(objectsIn: [bead, bead])
    }
    try expect(Self.twiceInMemory, in: result)
  }

  @Test func updatingByAnObjectWithOneTwice() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [folder = try folder as String] in
      let box = try BeadBox(Shelter(within: folder))
      let one = try box.add(1)
      let again = Necklace(1)
      // Two accessors of one row.
      again.beads.append(objectsIn: [one.beads[0], one.beads[0]])
      try box.place.write { box.realm.add(again, update: .modified) }
    }
    try expect("An embedded object has one place", in: result)
  }

  @Test func puttingAnObjectIntoItself() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [folder = try folder as String] in
      let box = try BeadBox(Shelter(within: folder))
      let one = try box.add(1)
      try box.place.write {
        one.beads[0].inner = Bead(7)
        one.beads[0].inner!.pearls.append(one.beads[0])
      }
    }
    try expect(
      "An object of the embedded class 'Bead' cannot be put into itself, nor into an object that "
        + "belongs to it.", in: result)
  }
}
