import Foundation
import Testing

@testable import Tarn

/// What a program that misuses queries of collections, or values by key, is told before it stops.
struct DerivedTrapTests: TrapSuite {
  private let shelter = Result { try Shelter() }
  private var folder: String { get throws { try shelter.get().folder } }

  static let traps: [TrapCase] = [
    TrapCase(
      "filtering an unmanaged list", "Only collections which are managed by a Realm can be queried"
    ) { _ in
      _ = Kennel(1).hounds.where { $0.age > 3 }
    },
    TrapCase(
      "sorting a list of a deleted object",
      "The collection 'Kennel.hounds' was used after its object was deleted"
    ) { shelter in
      let instance = try shelter.openKennel(1)
      let hounds = instance.kennel.hounds
      try instance.write { instance.realm.delete(instance.kennel) }
      _ = hounds.sorted(by: \.age)
    },
    TrapCase("sorting by an unknown property", "class 'Hound' has no property 'wings'") { shelter in
      let instance = try shelter.openKennel(1)
      _ = instance.kennel.hounds.sorted(byKeyPath: "wings")
    },
    TrapCase("an index out of bounds", "Index 1 is out of bounds (must be less than 1)") {
      shelter in
      let instance = try shelter.openKennel(1)
      print(instance.kennel.hounds.sorted(by: \.age)[1])
    },
    TrapCase(
      "setting outside of a write", "Cannot modify managed objects outside of a write transaction"
    ) { shelter in
      let instance = try shelter.openKennel()
      instance.kennel.hounds.setValue(1, forKey: "age")
    },
    TrapCase(
      "setting a value of another type",
      "Invalid value 'old' of type 'String' for property 'Hound.age'"
    ) { shelter in
      let instance = try shelter.openKennel(1)
      try instance.write { instance.kennel.hounds.setValue("old", forKey: "age") }
    },
    TrapCase("an unknown operator in a key path", "The path '@median.age' must be '@count', or") {
      _ in
      _ = List<Hound>().value(forKeyPath: "@median.age")
    },
    TrapCase("the same for strings", "The path '@median.name' must be '@count', or") { _ in
      let hounds = List<Hound>()
      hounds.append(Hound(1, "Rex"))
      _ = hounds.value(forKeyPath: "@median.name")
    },
    TrapCase("the sum of strings", "leads to 'Rex', which is neither a number nor a date") { _ in
      let hounds = List<Hound>()
      hounds.append(Hound(1, "Rex"))
      _ = hounds.value(forKeyPath: "@sum.name")
    },
  ]

  @Test(arguments: traps.map(\.name))
  func stops(_ name: String) async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [folder = try folder as String, name] in
      try await DerivedTrapTests.traps.named(name).run(Shelter(within: folder))
    }
    try expect(Self.traps.named(name).message, in: result)
  }
}
