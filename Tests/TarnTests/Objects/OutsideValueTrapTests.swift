import Foundation
import TestSupport
import Testing

@testable import Tarn

/// What a program is told that gives values which do not fit, and does not ask for errors.
struct OutsideValueTrapTests: TrapSuite {
  private let folder = TemporaryFolder()

  enum Mistake: String, CaseIterable, Codable {
    case tooLarge, fraction, nestedType, nilElement, unmanagedRefused, refusedRead, refusedElement
    case duplicate, dynamicDuplicate, outOfFloat, aDictionaryInASet, keyType

    var message: String {
      switch self {
      case .tooLarge:
        "Invalid value '300' of type 'Int' for property 'StableHorse.int8'. The number does not fit"
      case .fraction:
        "Invalid value '1.5' of type 'NSNumber' for property 'StableHorse.age'. The number does not"
      case .nestedType:
        "Invalid value 'x' of type 'String' for property 'StableHorse.age'. It is given at "
          + "'foals[1].mother.age'."
      case .nilElement: "Invalid value nil for property 'StableHorse.scores'."
      case .unmanagedRefused:
        "Invalid value 'odd' of type 'String' for property 'StableHorse.mood'. The property's type"
      case .refusedRead: "StableHorse.mood holds odd, which is no case of StableMood."
      case .refusedElement: "odd in the list 'StableHorse.moods' is no 'StableMood'"
      case .duplicate, .dynamicDuplicate:
        "an existing primary key value '1'. Pass update: .modified"
      case .outOfFloat: "for property 'StableHorse.weight'. The number does not fit"
      case .aDictionaryInASet: "for property 'StableHorse.tags'."
      case .keyType: "'String' is not the type of the primary key of 'StableHorse'."
      }
    }

    func make(_ path: String) throws {
      let realm = try Realm(
        configuration: Realm.Configuration(
          fileURL: URL(fileURLWithPath: path), objectTypes: Shelter.stableTypes,
          durability: .relaxed))
      realm.beginWrite()
      let horse = realm.create(StableHorse.self, value: ["id": 1])
      switch self {
      case .tooLarge: horse["int8"] = 300
      case .fraction: horse["age"] = try json("1.5")
      case .nestedType:
        realm.create(
          StableHorse.self,
          value: try json(#"{"id": 2, "foals": [{"id": 3}, {"id": 4, "mother": {"age": "x"}}]}"#))
      case .nilElement: horse["scores"] = [1, nil] as [Int?]
      case .unmanagedRefused: _ = StableHorse(value: ["mood": "odd"])
      case .refusedRead:
        realm.create(StableHorse.self, value: ["id": 2, "mood": "odd"])
        _ = realm.object(ofType: StableHorse.self, forPrimaryKey: 2)?.mood
      case .refusedElement:
        horse["moods"] = ["odd"]
        _ = horse.moods[0]
      case .duplicate: realm.create(StableHorse.self, value: ["id": 1])
      case .dynamicDuplicate: realm.dynamicCreate("StableHorse", value: ["id": 1])
      case .outOfFloat: horse["weight"] = 1e39
      case .aDictionaryInASet: horse["tags"] = ["a": "b"]
      case .keyType: _ = realm.object(ofType: StableHorse.self, forPrimaryKey: "1")
      }
      exit(0)
    }
  }

  @Test(arguments: Mistake.allCases)
  func traps(mistake: Mistake) async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [path = folder.file("stable.realm") as String, mistake = mistake as Mistake] in
      try mistake.make(path)
    }
    try expect(mistake.message, in: result)
  }
}
