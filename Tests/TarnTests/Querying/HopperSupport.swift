import Foundation
import TestSupport

@testable import Tarn

/// An object with collections that conditions look into.
class Hopper: Object, NumberedObject {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var numbers: List<Int>
  @Persisted var sizes: List<Double?>
  @Persisted var tags: MutableSet<String>
  @Persisted var scores: Map<String, Int>
  @Persisted var parts: List<HopperPart>
  @Persisted var kinds: MutableSet<HopperPart>
  @Persisted var named: Map<String, HopperPart?>
  @Persisted var inner: Hopper?
}

class HopperPart: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var weight = 0
  @Persisted var label: String?
  @Persisted var isNew = false
  @Persisted var next: HopperPart?
}

extension Shelter {
  func openHoppers() throws -> Instance {
    var configuration = configuration
    configuration.fileURL = URL(fileURLWithPath: folder + "/hoppers.realm")
    configuration.objectTypes = [Hopper.self, HopperPart.self]
    return try Instance(configuration, self)
  }
}

extension Instance {
  var hoppers: Results<Hopper> { realm.objects(Hopper.self) }
  func hopper(_ id: Int) -> Hopper? { realm.object(ofType: Hopper.self, forPrimaryKey: id) }
  func part(_ id: Int) -> HopperPart? { realm.object(ofType: HopperPart.self, forPrimaryKey: id) }
}

/// Random changes of some hoppers and parts.
struct HopperOperations: RandomOperations {
  static let parts = 10
  var numbers: SeededRandom

  /// Makes what is not there yet, or changes something.
  mutating func apply(to instance: Instance) {
    let (hopperID, partID) = (numbers.below(8), numbers.below(Self.parts))
    guard let hopper = instance.hopper(hopperID) else {
      instance.realm.create(Hopper.self, value: ["id": hopperID])
      return
    }
    guard let part = instance.part(partID) else {
      instance.realm.create(HopperPart.self, value: ["id": partID, "weight": numbers.below(4)])
      return
    }
    switch numbers.below(20) {
    case 0..<4: changeValues(hopper)
    case 4..<10: changeObjects(hopper, part)
    case 10, 11: part.weight = numbers.below(4)
    case 12: part.label = numbers.chance(30) ? nil : ["a", "B", "ab"][numbers.below(3)]
    case 13: part.isNew.toggle()
    case 14: part.next = numbers.chance(30) ? nil : instance.part(numbers.below(Self.parts))
    case 15, 16: hopper.inner = numbers.chance(30) ? nil : instance.hopper(numbers.below(8))
    case 17: instance.realm.delete(part)
    case 18: instance.realm.delete(hopper)
    default: hopper.parts.removeAll()
    }
  }

  private mutating func changeValues(_ hopper: Hopper) {
    switch numbers.below(8) {
    case 0, 1: hopper.numbers.append(numbers.below(5))
    case 2: if !hopper.numbers.isEmpty { hopper.numbers.remove(at: 0) }
    case 3: hopper.sizes.append(numbers.chance(30) ? nil : Double(numbers.below(3)))
    case 4: hopper.sizes.removeAll()
    case 5: hopper.tags.insert(["a", "b", "it's"][numbers.below(3)])
    case 6: hopper.tags.remove("a")
    default: hopper.scores["k\(numbers.below(3))"] = numbers.chance(30) ? nil : numbers.below(4)
    }
  }

  private mutating func changeObjects(_ hopper: Hopper, _ part: HopperPart) {
    switch numbers.below(8) {
    case 0, 1, 2: hopper.parts.append(part)
    case 3: if !hopper.parts.isEmpty { hopper.parts.remove(at: 0) }
    case 4: hopper.kinds.insert(part)
    case 5: hopper.kinds.remove(part)
    case 6: hopper.named["k\(numbers.below(3))"] = part
    default: hopper.named["k\(numbers.below(3))"] = nil
    }
  }
}
