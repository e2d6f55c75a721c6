import Foundation
import Testing

@testable import Tarn

/// What a program that misuses queries of collections, or values by key, is told before it stops.
struct DerivedTrapTests: TrapSuite {
  private let shelter = Result { try Shelter() }
  private var folder: String { get throws { try shelter.get().folder } }

  @Test func unmanaged() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = Kennel(1).hounds.where { $0.age > 3 }
    }
    try expect("Only collections which are managed by a Realm can be queried", in: result)
  }

  @Test func ofADeletedObject() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [folder = try folder as String] in
      let instance = try Shelter(within: folder).openKennel(1)
      let hounds = instance.kennel.hounds
      try instance.write { instance.realm.delete(instance.kennel) }
      _ = hounds.sorted(by: \.age)
    }
    try expect("The collection 'Kennel.hounds' is used after its object was deleted", in: result)
  }

  @Test func aPropertyThatIsNotThere() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [folder = try folder as String] in
      let instance = try Shelter(within: folder).openKennel(1)
      _ = instance.kennel.hounds.sorted(byKeyPath: "wings")
    }
    try expect("class 'Hound' has no property 'wings'", in: result)
  }

  @Test func aPositionThatIsNotThere() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [folder = try folder as String] in
      let instance = try Shelter(within: folder).openKennel(1)
      print(instance.kennel.hounds.sorted(by: \.age)[1])
    }
    try expect("Index 1 is out of bounds (must be less than 1)", in: result)
  }

  @Test func settingOutsideOfAWrite() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [folder = try folder as String] in
      let instance = try Shelter(within: folder).openKennel()
      instance.kennel.hounds.setValue(1, forKey: "age")
    }
    try expect("Cannot modify managed objects outside of a write transaction", in: result)
  }

  @Test func settingAValueThatDoesNotFit() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [folder = try folder as String] in
      let instance = try Shelter(within: folder).openKennel(1)
      try instance.write { instance.kennel.hounds.setValue("old", forKey: "age") }
    }
    try expect("Invalid value 'old' of type 'String' for property 'Hound.age'", in: result)
  }

  @Test func anOperatorThatIsNotThere() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = List<Hound>().value(forKeyPath: "@median.age")
    }
    try expect("The path '@median.age' is neither '@count' nor", in: result)
  }

  @Test func theSumOfTexts() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let hounds = List<Hound>()
      hounds.append(Hound(1, "Rex"))
      _ = hounds.value(forKeyPath: "@sum.name")
    }
    try expect("leads to 'Rex', which is no number and no date", in: result)
  }
}
