import Foundation
import TestSupport

@testable import Tarn

/// An object with collections that conditions look into.
class Crate: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var numbers: List<Int>
  @Persisted var sizes: List<Double?>
  @Persisted var tags: MutableSet<String>
  @Persisted var scores: Map<String, Int>
  @Persisted var parts: List<CratePart>
  @Persisted var kinds: MutableSet<CratePart>
  @Persisted var named: Map<String, CratePart?>
  @Persisted var inner: Crate?
}

class CratePart: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var weight = 0
  @Persisted var label: String?
  @Persisted var isNew = false
  @Persisted var next: CratePart?
}

extension Shelter {
  func openCrates() throws -> Place {
    var configuration = configuration
    configuration.fileURL = URL(fileURLWithPath: folder + "/crates.realm")
    configuration.objectTypes = [Crate.self, CratePart.self]
    return try Place(configuration, self)
  }
}

extension Place {
  var crates: Results<Crate> { realm.objects(Crate.self) }
  func crate(_ id: Int) -> Crate? { realm.object(ofType: Crate.self, forPrimaryKey: id) }
  func part(_ id: Int) -> CratePart? { realm.object(ofType: CratePart.self, forPrimaryKey: id) }
}

/// Random changes of some crates and parts.
struct CrateOperations {
  static let parts = 10
  var numbers: SeededRandom

  /// Makes what is not there yet, or changes something.
  mutating func apply(to place: Place) {
    let (crateID, partID) = (numbers.below(8), numbers.below(Self.parts))
    guard let crate = place.crate(crateID) else {
      place.realm.create(Crate.self, value: ["id": crateID])
      return
    }
    guard let part = place.part(partID) else {
      place.realm.create(CratePart.self, value: ["id": partID, "weight": numbers.below(4)])
      return
    }
    switch numbers.below(20) {
    case 0..<4: changeValues(crate)
    case 4..<10: changeObjects(crate, part)
    case 10, 11: part.weight = numbers.below(4)
    case 12: part.label = numbers.chance(30) ? nil : ["a", "B", "ab"][numbers.below(3)]
    case 13: part.isNew.toggle()
    case 14: part.next = numbers.chance(30) ? nil : place.part(numbers.below(Self.parts))
    case 15, 16: crate.inner = numbers.chance(30) ? nil : place.crate(numbers.below(8))
    case 17: place.realm.delete(part)
    case 18: place.realm.delete(crate)
    default: crate.parts.removeAll()
    }
  }

  private mutating func changeValues(_ crate: Crate) {
    switch numbers.below(8) {
    case 0, 1: crate.numbers.append(numbers.below(5))
    case 2: if !crate.numbers.isEmpty { crate.numbers.remove(at: 0) }
    case 3: crate.sizes.append(numbers.chance(30) ? nil : Double(numbers.below(3)))
    case 4: crate.sizes.removeAll()
    case 5: crate.tags.insert(["a", "b", "it's"][numbers.below(3)])
    case 6: crate.tags.remove("a")
    default: crate.scores["k\(numbers.below(3))"] = numbers.chance(30) ? nil : numbers.below(4)
    }
  }

  private mutating func changeObjects(_ crate: Crate, _ part: CratePart) {
    switch numbers.below(8) {
    case 0, 1, 2: crate.parts.append(part)
    case 3: if !crate.parts.isEmpty { crate.parts.remove(at: 0) }
    case 4: crate.kinds.insert(part)
    case 5: crate.kinds.remove(part)
    case 6: crate.named["k\(numbers.below(3))"] = part
    default: crate.named["k\(numbers.below(3))"] = nil
    }
  }
}
