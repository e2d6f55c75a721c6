import Foundation
import TestSupport

@testable import Tarn

/// An object with properties of many types to compare with each other.
class Satchel: Object, NumberedObject {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var limit = 0
  @Persisted var level: Double?
  @Persisted var price: Decimal128?
  @Persisted var name = ""
  @Persisted var note: String?
  @Persisted var isOpen = false
  @Persisted var day: Date?
  @Persisted var held: AnyRealmValue
  @Persisted var other: AnyRealmValue
  @Persisted var marks: Map<String, Int>
  @Persisted var words: Map<String, String?>
  @Persisted var notes: Map<String, AnyRealmValue>
  @Persisted var ints: List<Int>
  @Persisted var sizes: List<Double?>
  @Persisted var tags: MutableSet<String>
  @Persisted var mixed: List<AnyRealmValue>
  @Persisted var favorite: SatchelPart?
  @Persisted var parts: List<SatchelPart>
  @Persisted var named: Map<String, SatchelPart?>
  @Persisted var inner: Satchel?
  @Persisted(originProperty: "inner") var holders: LinkingObjects<Satchel>
}

class SatchelPart: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var weight = 0
  @Persisted var label: String?
  @Persisted var data: AnyRealmValue
  @Persisted var scores: List<Int>
}

extension Shelter {
  func openSatchels() throws -> Instance {
    var configuration = configuration
    configuration.fileURL = URL(fileURLWithPath: folder + "/satchels.realm")
    configuration.objectTypes = [Satchel.self, SatchelPart.self]
    return try Instance(configuration, self)
  }
}

extension Instance {
  var satchels: Results<Satchel> { realm.objects(Satchel.self) }
  func satchel(_ id: Int) -> Satchel? { realm.object(ofType: Satchel.self, forPrimaryKey: id) }
  func satchelPart(_ id: Int) -> SatchelPart? {
    realm.object(ofType: SatchelPart.self, forPrimaryKey: id)
  }
}

/// How the tests' closures compare values of any type.
extension AnyRealmValue {
  static func number(_ value: Double?) -> AnyRealmValue { value.map { .double($0) } ?? .none }
  static func text(_ value: String?) -> AnyRealmValue { value.map { .string($0) } ?? .none }
  static func part(_ value: SatchelPart?) -> AnyRealmValue { value.map { .object($0) } ?? .none }

  /// Nil, a number or not a number, a text or something else.
  func isLike(_ other: AnyRealmValue) -> Bool {
    if let a = number, let b = other.number { return a == b || a.isNaN && b.isNaN }
    switch (self, other) {
    case (.none, .none): return true
    case (.string(let a), .string(let b)): return a == b
    case (.bool(let a), .bool(let b)): return a == b
    case (.date(let a), .date(let b)): return a == b
    case (.object(let a), .object(let b)):
      return (a as? SatchelPart).map { $0.id } == (b as? SatchelPart).map { $0.id }
    default: return false
    }
  }

  /// Whether both are numbers, texts or dates and the first is less.
  func isLess(_ other: AnyRealmValue) -> Bool {
    if let a = number, let b = other.number { return a < b }
    switch (self, other) {
    case (.string(let a), .string(let b)): return a.utf8.lexicographicallyPrecedes(b.utf8)
    case (.date(let a), .date(let b)): return a < b
    default: return false
    }
  }

  func isLessOrLike(_ other: AnyRealmValue) -> Bool {
    if let a = number, let b = other.number { return a <= b }
    if isNone || other.isNone { return isNone && other.isNone }
    guard other.stringValue != nil || other.dateValue != nil else { return false }
    return isLess(other) || isLike(other)
  }

  /// Both texts, the second not empty.
  func texts(_ other: AnyRealmValue, _ passes: (String, String) -> Bool) -> Bool {
    guard let a = stringValue, let b = other.stringValue, !b.isEmpty else { return false }
    return passes(a, b)
  }
}

/// Random changes of some satchels.
struct SatchelOperations: RandomOperations {
  var numbers: SeededRandom

  mutating func apply(to instance: Instance) {
    let (id, partID) = (numbers.below(8), numbers.below(5))
    guard let satchel = instance.satchel(id) else {
      let new = instance.realm.create(Satchel.self, value: ["id": id])
      for _ in 0..<8 { change(new, instance.satchelPart(partID), instance) }
      return
    }
    guard let part = instance.satchelPart(partID) else {
      instance.realm.create(SatchelPart.self, value: ["id": partID, "weight": numbers.below(4)])
      return
    }
    switch numbers.below(12) {
    case 0: change(part)
    case 1: if numbers.chance(10) { instance.realm.delete(part) }
    case 2: if numbers.chance(20) { instance.realm.delete(satchel) }
    default: change(satchel, part, instance)
    }
  }

  private mutating func change(_ part: SatchelPart) {
    switch numbers.below(4) {
    case 0: part.weight = numbers.below(4)
    case 1: part.label = numbers.chance(20) ? nil : word()
    case 2: part.data = value(depth: 1)
    default:
      if part.scores.count > 3 { part.scores.removeAll() }
      part.scores.append(numbers.below(4))
    }
  }

  private mutating func change(
    _ satchel: Satchel, _ part: SatchelPart?, _ instance: Instance
  ) {
    switch numbers.below(16) {
    case 0: satchel.limit = numbers.below(4)
    case 1: satchel.level = numbers.chance(20) ? nil : double()
    case 2:
      satchel.price = numbers.chance(20) ? nil : Decimal128(numbers.below(4))
      satchel.day = numbers.chance(20) ? nil : day()
    case 3: (satchel.name, satchel.isOpen) = (word(), numbers.chance(50))
    case 4: satchel.note = numbers.chance(20) ? nil : word()
    case 5: satchel.favorite = numbers.chance(30) ? nil : part
    case 6: satchel.inner = numbers.chance(30) ? nil : instance.satchel(numbers.below(8))
    case 7..<10: changeValue(satchel, part)
    default: changeElements(satchel, part)
    }
  }

  private mutating func changeValue(_ satchel: Satchel, _ part: SatchelPart?) {
    switch numbers.below(8) {
    case 0...2: satchel.other = value(depth: 0)
    case 3: if let part { satchel.held = .object(part) }
    case 4: changeWithin(satchel.held)
    default: satchel.held = value(depth: 0)
    }
  }

  private mutating func changeElements(_ satchel: Satchel, _ part: SatchelPart?) {
    switch numbers.below(11) {
    case 0, 1: satchel.marks[key()] = numbers.chance(30) ? nil : numbers.below(4)
    case 2: satchel.words[key()] = numbers.chance(30) ? .some(nil) : word()
    case 3: satchel.notes["n"] = numbers.chance(20) ? nil : value(depth: 1)
    case 4: satchel.ints.append(numbers.below(4))
    case 5: if !satchel.ints.isEmpty { satchel.ints.remove(at: 0) }
    case 6: satchel.sizes.append(numbers.chance(20) ? nil : double())
    case 7:
      let word = word()
      if satchel.tags.contains(word) {
        satchel.tags.remove(word)
      } else {
        satchel.tags.insert(word)
      }
    case 8:
      if satchel.mixed.count > 2 { satchel.mixed.remove(at: 0) }
      satchel.mixed.append(numbers.chance(20) ? .part(part) : value(depth: 1))
    case 9:
      if satchel.parts.count > 3 { satchel.parts.remove(at: 0) }
      if let part { satchel.parts.append(part) }
    default: satchel.named["k"] = numbers.chance(30) ? .some(nil) : part
    }
  }

  private mutating func changeWithin(_ value: AnyRealmValue) {
    if let list = value.listValue, list.count < 5 {
      list.append(self.value(depth: 1))
    } else if let map = value.dictionaryValue {
      map[key()] = numbers.chance(20) ? nil : self.value(depth: 1)
    }
  }

  private mutating func key() -> String { ["k", "n"][numbers.below(2)] }
  private mutating func word() -> String { ["", "a", "B", "ab", "k"][numbers.below(5)] }
  private mutating func double() -> Double {
    numbers.chance(10) ? .nan : Double(numbers.below(7)) / 2
  }
  private mutating func day() -> Date {
    Date(timeIntervalSince1970: Double(numbers.below(3)) * 86_400)
  }

  private mutating func value(depth: Int) -> AnyRealmValue {
    switch numbers.below(depth < 3 ? 16 : 12) {
    case 0...2: return .int(numbers.below(4))
    case 3: return .double(double())
    case 4: return .float(Float(numbers.below(4)))
    case 5: return .decimal128(Decimal128(numbers.below(4)))
    case 6: return .bool(numbers.chance(50))
    case 7...9: return .string(word())
    case 10: return .date(day())
    case 11: return .none
    case 12, 13:
      let count = numbers.below(4)
      return .fromArray((0..<count).map { _ in value(depth: depth + 1) })
    default:
      var values: [String: AnyRealmValue] = [:]
      for _ in 0...numbers.below(2) { values[key()] = value(depth: depth + 1) }
      return .fromDictionary(values)
    }
  }
}
