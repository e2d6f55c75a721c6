import Foundation
import TestSupport

@testable import Tarn

enum SteerMood: String, PersistableEnum { case calm, odd, wild }

struct SteerTag: CustomPersistable, Hashable {
  var text: String
  init(_ text: String) { self.text = text }
  init(persistedValue: String) { text = persistedValue }
  var persistableValue: String { text }
}

/// Ranches have herds, herds have steers: conditions go both ways.
class SteerRanch: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var name = ""
  @Persisted var herds: List<SteerHerd>

  override class func propertiesMapping() -> [String: String] { ["herds": "groups"] }
}

class SteerHerd: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var label = ""
  @Persisted var animals: List<Steer>
  @Persisted var chief: Steer?
  @Persisted var paddock: MutableSet<Steer>
  @Persisted(originProperty: "herds") var ranches: LinkingObjects<SteerRanch>
}

class Steer: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var weight: Float = 0
  @Persisted var mood: SteerMood
  @Persisted var former: SteerMood?
  @Persisted var tag = SteerTag("")
  @Persisted var brand: SteerBrand?
  @Persisted var scores: List<Float>
  @Persisted var moods: List<SteerMood>
  @Persisted var words: MutableSet<String>
  @Persisted var ratings: Map<String, Int>
  @Persisted(originProperty: "animals") var herds: LinkingObjects<SteerHerd>
  @Persisted(originProperty: "chief") var led: LinkingObjects<SteerHerd>
  @Persisted(originProperty: "paddock") var paddocks: LinkingObjects<SteerHerd>
}

class SteerBrand: EmbeddedObject {
  @Persisted var sign = ""
  @Persisted var year: Int?
  @Persisted var marks: List<Int>
  @Persisted var spots: MutableSet<String>
  @Persisted var inner: SteerSeal?

  convenience init(
    _ sign: String, _ year: Int? = nil, marks: [Int] = [], spots: [String] = [],
    depth: Double? = nil
  ) {
    self.init()
    self.sign = sign
    self.year = year
    self.marks.append(objectsIn: marks)
    self.spots.insert(objectsIn: spots)
    if let depth {
      inner = SteerSeal()
      inner!.depth = depth
    }
  }
}

class SteerSeal: EmbeddedObject {
  @Persisted var depth = 0.0
}

extension Shelter {
  func openSteers() throws -> Instance {
    var configuration = configuration
    configuration.fileURL = URL(fileURLWithPath: folder + "/steers.realm")
    configuration.objectTypes = [
      SteerRanch.self, SteerHerd.self, Steer.self, SteerBrand.self, SteerSeal.self,
    ]
    return try Instance(configuration, self)
  }
}

extension Instance {
  var ranches: Results<SteerRanch> { realm.objects(SteerRanch.self) }
  var herds: Results<SteerHerd> { realm.objects(SteerHerd.self) }
  var steers: Results<Steer> { realm.objects(Steer.self) }
  func steer(_ id: Int) -> Steer? { realm.object(ofType: Steer.self, forPrimaryKey: id) }
  func herd(_ id: Int) -> SteerHerd? { realm.object(ofType: SteerHerd.self, forPrimaryKey: id) }
  func ranch(_ id: Int) -> SteerRanch? { realm.object(ofType: SteerRanch.self, forPrimaryKey: id) }
}

/// Random changes of ranches, herds and steers.
struct SteerOperations {
  var numbers: SeededRandom

  /// Makes what is not there yet, or changes something.
  mutating func apply(to instance: Instance) {
    let (ranchID, herdID, steerID) = (numbers.below(4), numbers.below(6), numbers.below(12))
    guard let ranch = instance.ranch(ranchID) else {
      instance.realm.create(SteerRanch.self, value: ["id": ranchID, "name": "x"])
      return
    }
    guard let herd = instance.herd(herdID) else {
      instance.realm.create(SteerHerd.self, value: ["id": herdID, "label": word()])
      return
    }
    guard let steer = instance.steer(steerID) else {
      instance.realm.create(Steer.self, value: ["id": steerID])
      return
    }
    switch numbers.below(22) {
    case 0, 1, 2: herd.animals.append(steer)
    case 3: if !herd.animals.isEmpty { herd.animals.remove(at: 0) }
    case 4: herd.animals.removeAll()
    case 5, 6: ranch.herds.append(herd)
    case 7: if !ranch.herds.isEmpty { ranch.herds.remove(at: numbers.below(ranch.herds.count)) }
    case 8: herd.chief = numbers.chance(30) ? nil : steer
    case 9: herd.paddock.insert(steer)
    case 10: herd.paddock.remove(steer)
    case 11: herd.label = word()
    case 12: ranch.name = word()
    case 13: instance.realm.delete(steer)
    case 14: instance.realm.delete(herd)
    case 15: if numbers.chance(30) { instance.realm.delete(ranch) }
    case 16: clearSome(instance)
    default: change(steer)
    }
  }

  private mutating func clearSome(_ instance: Instance) {
    guard numbers.chance(20) else { return }
    switch numbers.below(3) {
    case 0: instance.realm.delete(instance.ranches)
    case 1: instance.realm.delete(instance.herds)
    default: instance.realm.delete(instance.steers)
    }
  }

  private mutating func change(_ steer: Steer) {
    switch numbers.below(10) {
    case 0: steer.weight = number()
    case 1: steer.mood = SteerMood.allCases[numbers.below(3)]
    case 2: steer.former = numbers.chance(30) ? nil : SteerMood.allCases[numbers.below(3)]
    case 3: steer.tag = SteerTag(word())
    case 4:
      steer.brand =
        numbers.chance(30) ? nil : SteerBrand(word(), numbers.chance(50) ? nil : 1, marks: [1])
    case 5: steer.scores.append(number())
    case 6: if !steer.scores.isEmpty { steer.scores.remove(at: 0) }
    case 7: steer.moods.append(SteerMood.allCases[numbers.below(3)])
    case 8:
      if numbers.chance(70) { steer.words.insert(word()) } else { steer.words.removeAll() }
    default:
      let key = "k\(numbers.below(3))"
      steer.ratings[key] = numbers.chance(40) ? nil : numbers.below(5)
    }
  }

  private mutating func word() -> String { ["a", "b", "ab", "c"][numbers.below(4)] }
  private mutating func number() -> Float { [0, 1.1, 2.2, 3.3][numbers.below(4)] }
}
