import Foundation
import TestSupport
import Testing

@testable import Tarn

/// What a program is told that gives values which do not fit, and does not ask for errors.
struct OutsideValueTrapTests: TrapSuite {
  private let shelter = Result { try Shelter() }
  private var folder: String { get throws { try shelter.get().folder } }

  /// A use of a horse in an open write.
  private static func row(
    _ name: String, _ message: String,
    _ use: @escaping @Sendable ((realm: Realm, horse: StableHorse)) throws -> Void
  ) -> TrapCase {
    TrapCase(name, message) { shelter in
      let realm = try Realm(
        configuration: Realm.Configuration(
          fileURL: URL(fileURLWithPath: shelter.folder + "/stable.realm"),
          objectTypes: Shelter.stableTypes, durability: .relaxed))
      realm.beginWrite()
      try use((realm, realm.create(StableHorse.self, value: ["id": 1])))
    }
  }

  static let traps: [TrapCase] = [
    row(
      "too large",
      "Invalid value '300' of type 'Int' for property 'StableHorse.int8'. The number does not fit"
    ) { $0.horse["int8"] = 300 },
    row(
      "fraction",
      "Invalid value '1.5' of type 'NSNumber' for property 'StableHorse.age'. The number does not"
    ) { $0.horse["age"] = try json("1.5") },
    row(
      "nested type",
      "Invalid value 'x' of type 'String' for property 'StableHorse.age'. It is given at "
        + "'foals[1].mother.age'."
    ) { it in
      it.realm.create(
        StableHorse.self,
        value: try json(#"{"id": 2, "foals": [{"id": 3}, {"id": 4, "mother": {"age": "x"}}]}"#))
    },
    row("nil element", "Invalid value nil for property 'StableHorse.scores'.") {
      $0.horse["scores"] = [1, nil] as [Int?]
    },
    row(
      "unmanaged refused",
      "Invalid value 'odd' of type 'String' for property 'StableHorse.mood'. The property's type"
    ) { _ in _ = StableHorse(value: ["mood": "odd"]) },
    row("refused read", "StableHorse.mood holds odd, which is no case of StableMood.") { it in
      it.realm.create(StableHorse.self, value: ["id": 2, "mood": "odd"])
      _ = it.realm.object(ofType: StableHorse.self, forPrimaryKey: 2)?.mood
    },
    row("refused element", "odd in the list 'StableHorse.moods' is no 'StableMood'") { it in
      it.horse["moods"] = ["odd"]
      _ = it.horse.moods[0]
    },
    row("duplicate", "an existing primary key value '1'. Pass update: .modified") {
      $0.realm.create(StableHorse.self, value: ["id": 1])
    },
    row("dynamic duplicate", "an existing primary key value '1'. Pass update: .modified") {
      $0.realm.dynamicCreate("StableHorse", value: ["id": 1])
    },
    row("out of float", "for property 'StableHorse.weight'. The number does not fit") {
      $0.horse["weight"] = 1e39
    },
    row("a dictionary in a set", "for property 'StableHorse.tags'.") {
      $0.horse["tags"] = ["a": "b"]
    },
    row("key type", "'String' is not the type of the primary key of 'StableHorse'.") {
      _ = $0.realm.object(ofType: StableHorse.self, forPrimaryKey: "1")
    },
  ]

  @Test(arguments: traps.map(\.name))
  func stops(_ name: String) async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      [folder = try folder as String, name] in
      try await OutsideValueTrapTests.traps.named(name).run(Shelter(within: folder))
    }
    try expect(Self.traps.named(name).message, in: result)
  }
}
