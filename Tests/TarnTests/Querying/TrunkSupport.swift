import Foundation
import TestSupport

@testable import Tarn

enum TrunkLevel: Int, PersistableEnum {
  case low = 1
  case middle
  case high = 5
}

struct TrunkCode: CustomPersistable, Hashable {
  var number: Int
  init(_ number: Int) { self.number = number }
  init(persistedValue: Int) { number = persistedValue }
  var persistableValue: Int { number }
}

/// An object with collections of everything, and numbers of all types.
class Trunk: Object, NumberedObject {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var limit = 0
  @Persisted var size: Int?
  @Persisted var small: Int32 = 0
  @Persisted var single: Float = 0
  @Persisted var ratio = 0.0
  @Persisted var price: Decimal128
  @Persisted var level: TrunkLevel
  @Persisted var data: AnyRealmValue
  @Persisted var ints: List<Int>
  @Persisted var sizes: List<Int?>
  @Persisted var tags: List<String>
  @Persisted var anys: List<AnyRealmValue>
  @Persisted var prices: List<Decimal128?>
  @Persisted var levels: List<TrunkLevel>
  @Persisted var oldLevels: List<TrunkLevel?>
  @Persisted var moods: MutableSet<SteerMood?>
  @Persisted var codes: List<TrunkCode?>
  @Persisted var marks: Map<String, Int>
  @Persisted var spares: Map<String, Int?>
  @Persisted var costs: Map<String, Decimal128?>
  @Persisted var ranks: Map<String, TrunkLevel>
  @Persisted var lids: Map<String, Trunk?>
  @Persisted var kids: List<Trunk>
  @Persisted var labels: List<TrunkLabel>
  @Persisted var label: TrunkLabel?
  @Persisted var notes: List<TrunkNote>
  @Persisted var mother: Trunk?
}

class TrunkLabel: EmbeddedObject {
  @Persisted var size = 0
  @Persisted var text: String?

  convenience init(_ size: Int, _ text: String? = nil) {
    self.init()
    (self.size, self.text) = (size, text)
  }
}

class TrunkNote: EmbeddedObject {
  @Persisted var text: String?

  convenience init(_ text: String?) {
    self.init()
    self.text = text
  }
}

extension Shelter {
  func openTrunks() throws -> Instance {
    var configuration = configuration
    configuration.fileURL = URL(fileURLWithPath: folder + "/trunks.realm")
    configuration.objectTypes = [Trunk.self, TrunkLabel.self, TrunkNote.self]
    return try Instance(configuration, self)
  }
}

extension Instance {
  var trunks: Results<Trunk> { realm.objects(Trunk.self) }
  func trunk(_ id: Int) -> Trunk? { realm.object(ofType: Trunk.self, forPrimaryKey: id) }
}

extension List {
  /// Nil where there is none.
  func at(_ position: Int) -> Element? { position < count ? self[position] : nil }
}

/// Random changes of some trunks.
struct TrunkOperations: RandomOperations {
  var numbers: SeededRandom

  /// Makes what is not there yet, or changes something.
  mutating func apply(to instance: Instance) {
    let id = numbers.below(8)
    guard let trunk = instance.trunk(id) else {
      instance.realm.create(Trunk.self, value: ["id": id])
      return
    }
    guard let other = instance.trunk(numbers.below(8)) else { return }
    switch numbers.below(24) {
    case 0..<4: changeOwn(trunk)
    case 4..<9: changeValues(trunk)
    case 9..<12: changeStored(trunk)
    case 12..<15: changeMaps(trunk, other)
    case 15..<18: trunk.kids.append(other)
    case 18: if !trunk.kids.isEmpty { trunk.kids.remove(at: 0) }
    case 19: trunk.mother = numbers.chance(30) ? nil : other
    case 20: changeLabels(trunk)
    case 21, 22: changeAny(trunk)
    default: if numbers.chance(40) { instance.realm.delete(trunk) }
    }
  }

  private mutating func changeOwn(_ trunk: Trunk) {
    switch numbers.below(7) {
    case 0: trunk.limit = numbers.below(4)
    case 1: trunk.size = numbers.chance(30) ? nil : numbers.below(4)
    case 2: trunk.small = Int32(numbers.below(4))
    case 3: trunk.single = Float(numbers.below(8)) / 2
    case 4: trunk.ratio = numbers.chance(10) ? .nan : Double(numbers.below(8)) / 2
    case 5: trunk.price = Decimal128(floatLiteral: Double(numbers.below(8)) / 2)
    default: trunk.level = level()
    }
  }

  private mutating func changeValues(_ trunk: Trunk) {
    switch numbers.below(6) {
    case 0, 1: trunk.ints.append(numbers.below(4))
    case 2: if !trunk.ints.isEmpty { trunk.ints.remove(at: 0) }
    case 3: trunk.sizes.insert(numbers.chance(30) ? nil : numbers.below(4), at: 0)
    case 4: if trunk.sizes.count > 2 { trunk.sizes.removeAll() }
    default: trunk.tags.insert(["a", "b", "ab"][numbers.below(3)], at: 0)
    }
  }

  private mutating func changeStored(_ trunk: Trunk) {
    switch numbers.below(6) {
    case 0: trunk.levels.insert(level(), at: 0)
    case 1: trunk.oldLevels.append(numbers.chance(30) ? nil : level())
    case 2: trunk.moods.insert(numbers.chance(30) ? nil : SteerMood.allCases[numbers.below(3)])
    case 3: trunk.codes.append(numbers.chance(30) ? nil : TrunkCode(numbers.below(4)))
    case 4: trunk.prices.append(numbers.chance(30) ? nil : Decimal128(numbers.below(4)))
    default: trunk.levels.removeAll()
    }
  }

  private mutating func changeMaps(_ trunk: Trunk, _ other: Trunk) {
    let key = ["a", "k"][numbers.below(2)]
    switch numbers.below(6) {
    case 0: trunk.marks[key] = numbers.chance(30) ? nil : numbers.below(4)
    case 1: trunk.spares[key] = numbers.chance(30) ? .some(nil) : numbers.below(4)
    case 2: trunk.spares[key] = nil
    case 3: trunk.costs[key] = numbers.chance(30) ? .some(nil) : Decimal128(numbers.below(4))
    case 4: trunk.ranks[key] = level()
    default: trunk.lids[key] = numbers.chance(30) ? .some(nil) : other
    }
  }

  private mutating func changeLabels(_ trunk: Trunk) {
    switch numbers.below(3) {
    case 0: trunk.labels.append(TrunkLabel(numbers.below(3)))
    case 1: if !trunk.labels.isEmpty { trunk.labels.remove(at: 0) }
    default: trunk.label = numbers.chance(30) ? nil : TrunkLabel(numbers.below(3), "x")
    }
  }

  private mutating func changeAny(_ trunk: Trunk) {
    switch numbers.below(4) {
    case 0:
      let pair: AnyRealmValue = .fromArray([value(depth: 1), .int(numbers.below(3))])
      trunk.anys.insert(numbers.chance(60) ? pair : value(depth: 0), at: 0)
    case 1: if !trunk.anys.isEmpty { trunk.anys.remove(at: 0) }
    default: trunk.data = value(depth: 0)
    }
  }

  private mutating func level() -> TrunkLevel { TrunkLevel.allCases[numbers.below(3)] }

  private mutating func value(depth: Int) -> AnyRealmValue {
    switch numbers.below(depth < 2 ? 6 : 4) {
    case 0, 1: return .int(numbers.below(4))
    case 2: return .string("a")
    case 3: return .none
    case 4: return .fromArray((0..<numbers.below(4)).map { _ in value(depth: depth + 1) })
    default: return .fromDictionary(["k": value(depth: depth + 1)])
    }
  }
}
