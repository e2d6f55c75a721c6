import Foundation
import Testing

@testable import Tarn

enum StableMood: String, PersistableEnum { case calm, wild }
enum StableGrade: Int, PersistableEnum {
  case low = 1
  case high = 2
}

struct StableShare: FailableCustomPersistable, Equatable {
  var value: Int
  init?(persistedValue: Int) {
    guard (0...100).contains(persistedValue) else { return nil }
    value = persistedValue
  }
  var persistableValue: Int { value }
}

struct StableSpot: CustomPersistable, Equatable {
  var x: Double
  init(x: Double) { self.x = x }
  init(persistedValue: StablePoint) { x = persistedValue.x }
  var persistableValue: StablePoint { StablePoint(value: ["x": x]) }
}

class StablePoint: EmbeddedObject {
  @Persisted var x: Double
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

class StableLeg: EmbeddedObject {
  @Persisted var n: Int
  @Persisted var inner: StableLeg?
  @Persisted var horse: StableHorse?
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// Something of each kind that values from outside can be for.
class StableHorse: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var int8: Int8
  @Persisted var age: Int
  @Persisted var height: Double
  @Persisted var weight: Float
  @Persisted var price: Decimal128
  @Persisted var isTame: Bool
  @Persisted(indexed: true) var name = ""
  @Persisted var note: String?
  @Persisted var born: Date?
  @Persisted var mood: StableMood
  @Persisted var otherMood: StableMood?
  @Persisted var grade: StableGrade?
  @Persisted var share: StableShare?
  @Persisted var spot = StableSpot(x: 0)
  @Persisted var mother: StableHorse?
  @Persisted var front: StableLeg?
  @Persisted var legs: List<StableLeg>
  @Persisted var foals: List<StableHorse>
  @Persisted var scores: List<Int>
  @Persisted var optionalScores: List<Int?>
  @Persisted var tags: MutableSet<String>
  @Persisted var sizes: Map<String, Double>
  @Persisted var friends: Map<String, StableHorse?>
  @Persisted var moods: List<StableMood>
  @Persisted var any: AnyRealmValue
  @Persisted var anys: List<AnyRealmValue>
  @Persisted var anyMap: Map<String, AnyRealmValue>
  @Persisted(originProperty: "mother") var children: LinkingObjects<StableHorse>
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// A class without primary key, with properties that must be given.
class StableBox: Object {
  @Persisted var number: Int
  @Persisted var label: String?
  @Persisted var next: StableBox?
  @Persisted var horse: StableHorse?
  @Persisted var boxes: List<StableBox>
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

extension Shelter {
  static var stableTypes: [ObjectBase.Type] {
    [
      StableHorse.self, StableLeg.self, StableBox.self, StablePoint.self,
    ]
  }

  func openStable() throws -> Instance {
    var configuration = configuration
    configuration.objectTypes = Self.stableTypes
    return try Instance(configuration, self)
  }
}

/// What Foundation makes of a JSON text.
func json(_ text: String) throws -> Any {
  try JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed)
}

/// The ways by which values from outside come into an object.
enum StableEntry: CaseIterable {
  case create, checked, unmanaged, setUnmanaged, setManaged, subscripted, dynamicCreate, dynamicSet

  /// The object with the number 1 and those values.
  func make(_ values: [String: Any], in instance: Instance) throws -> StableHorse {
    let realm = instance.realm
    var all = values
    all["id"] = 1
    try realm.write {
      switch self {
      case .create: realm.create(StableHorse.self, value: all)
      case .checked:
        // Foals and the like need no more than what the test gives them.
        try realm.create(StableHorse.self, checking: all.merging(Self.required) { $1 })
        try #require(instance.realm.object(ofType: StableHorse.self, forPrimaryKey: 1))
          .setValuesForTest(values)
      case .unmanaged: realm.add(StableHorse(value: all))
      case .setUnmanaged:
        let horse = StableHorse(value: ["id": 1])
        horse.setValuesForTest(values)
        realm.add(horse)
      case .setManaged: realm.create(StableHorse.self, value: ["id": 1]).setValuesForTest(values)
      case .subscripted:
        let horse = realm.create(StableHorse.self, value: [1])
        for (name, value) in values where horse.hasProperty(name) { horse[name] = value }
      case .dynamicCreate: realm.dynamicCreate("StableHorse", value: all)
      case .dynamicSet:
        realm.dynamicCreate("StableHorse", value: ["id": 1]).setValuesForTest(values)
      }
    }
    return try #require(realm.object(ofType: StableHorse.self, forPrimaryKey: 1))
  }

  private static var required: [String: Any] {
    [
      "int8": 0, "age": 0, "height": 0, "weight": 0, "price": 0, "isTame": false, "mood": "calm",
      "mother": NSNull(), "foals": NSNull(), "friends": NSNull(), "front": NSNull(),
      "legs": NSNull(),
    ]
  }
}

extension ObjectBase {
  func hasProperty(_ name: String) -> Bool {
    _reflection.property(name).map { !$0.isComputed } ?? false
  }

  func setValuesForTest(_ values: [String: Any]) {
    for (name, value) in values where hasProperty(name) { setValue(value, forKey: name) }
  }
}
