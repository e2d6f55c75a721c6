import Foundation
import TestSupport

@testable import Tarn

/// An object with maps and values of any type that conditions look into.
class Tote: Object, NumberedObject {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var data: AnyRealmValue
  @Persisted var mixed: List<AnyRealmValue>
  @Persisted var notes: Map<String, AnyRealmValue>
  @Persisted var marks: Map<String, Int>
  @Persisted var names: Map<String, String?>
  @Persisted var parts: Map<String, TotePart?>
  @Persisted var inner: Tote?
  @Persisted var others: List<Tote>
}

class TotePart: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var weight = 0
}

extension Shelter {
  func openTotes() throws -> Instance {
    var configuration = configuration
    configuration.fileURL = URL(fileURLWithPath: folder + "/totes.realm")
    configuration.objectTypes = [Tote.self, TotePart.self]
    return try Instance(configuration, self)
  }
}

extension Instance {
  var totes: Results<Tote> { realm.objects(Tote.self) }
  func tote(_ id: Int) -> Tote? { realm.object(ofType: Tote.self, forPrimaryKey: id) }
  func totePart(_ id: Int) -> TotePart? {
    realm.object(ofType: TotePart.self, forPrimaryKey: id)
  }
}

/// What the tests' closures know of values of any type.
extension AnyRealmValue {
  var number: Double? {
    switch self {
    case .int(let value): Double(value)
    case .float(let value): Double(value)
    case .double(let value): value
    case .decimal128(let value): Double(value.description)
    default: nil
    }
  }

  var isNone: Bool { if case .none = self { true } else { false } }

  /// `.none` where there is nothing.
  func element(_ position: Int) -> AnyRealmValue {
    guard let list = listValue, list.indices.contains(position) else { return .none }
    return list[position]
  }

  func element(_ key: String) -> AnyRealmValue { dictionaryValue?[key] ?? .none }

  var elements: [AnyRealmValue] {
    if let list = listValue { return Array(list) }
    return dictionaryValue.map { Array($0.values) } ?? []
  }
}

/// Random changes of some totes.
struct ToteOperations: RandomOperations {
  var numbers: SeededRandom

  /// Makes what is not there yet, or changes something.
  mutating func apply(to instance: Instance) {
    let (id, partID) = (numbers.below(8), numbers.below(5))
    guard let tote = instance.tote(id) else {
      instance.realm.create(Tote.self, value: ["id": id])
      return
    }
    guard let part = instance.totePart(partID) else {
      instance.realm.create(TotePart.self, value: ["id": partID, "weight": numbers.below(4)])
      return
    }
    switch numbers.below(20) {
    case 0..<5: tote.data = value(depth: 0)
    case 5, 6: changeWithin(tote.data)
    case 7: tote.mixed.append(value(depth: 1))
    case 8: if !tote.mixed.isEmpty { tote.mixed.remove(at: 0) }
    case 9, 10: tote.notes["n"] = numbers.chance(20) ? nil : value(depth: 1)
    case 11, 12: tote.marks[key()] = numbers.chance(30) ? nil : numbers.below(4)
    case 13: tote.names["a"] = numbers.chance(30) ? .some(nil) : ["x", "xy", "y"][numbers.below(3)]
    case 14: tote.parts["left"] = numbers.chance(30) ? nil : part
    case 15: part.weight = numbers.below(4)
    case 16: tote.inner = numbers.chance(30) ? nil : instance.tote(numbers.below(8))
    case 17: tote.others.append(tote)
    case 18: instance.realm.delete(part)
    default: if numbers.chance(30) { instance.realm.delete(tote) }
    }
  }

  private mutating func key() -> String { ["a", "k", "it's \"n\""][numbers.below(3)] }

  private mutating func changeWithin(_ value: AnyRealmValue) {
    if let list = value.listValue, list.count < 5 {
      list.append(self.value(depth: 1))
    } else if let map = value.dictionaryValue {
      map[key()] = numbers.chance(20) ? nil : self.value(depth: 1)
    }
  }

  private mutating func value(depth: Int) -> AnyRealmValue {
    switch numbers.below(depth < 3 ? 12 : 8) {
    case 0, 1: return .int(numbers.below(4))
    case 2: return .double(Double(numbers.below(8)) / 2)
    case 3: return .float(Float(numbers.below(4)))
    case 4: return .decimal128(Decimal128(numbers.below(4)))
    case 5: return .bool(numbers.chance(50))
    case 6: return .string(["a", "B", "ab"][numbers.below(3)])
    case 7: return .none
    case 8, 9:
      let count = numbers.below(4)
      return .fromArray((0..<count).map { _ in value(depth: depth + 1) })
    default:
      var values: [String: AnyRealmValue] = [:]
      for _ in 0..<numbers.below(3) { values[key()] = value(depth: depth + 1) }
      return .fromDictionary(values)
    }
  }
}
