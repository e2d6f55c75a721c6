import Foundation
import TestSupport
import Testing

@testable import Tarn

/// An object with collections of objects, for results that are made of them.
class Kennel: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var hounds: List<Hound>
  @Persisted var pack: MutableSet<Hound>
  @Persisted var named: Map<String, Hound?>
  @Persisted var tickets: List<Ticket>

  convenience init(_ id: Int) {
    self.init()
    self.id = id
  }
}

class Hound: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var name = ""
  @Persisted(indexed: true) var age = 0
  @Persisted var weight: Double?
  @Persisted var yard: Yard?

  convenience init(_ id: Int, _ name: String = "", age: Int = 0) {
    self.init()
    self.id = id
    self.name = name
    self.age = age
  }

  var text: String { "\(id) \(name.suffix(3)) \(age) \(yard?.rooms ?? -1)" }
}

class Yard: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var rooms = 0
  @Persisted(originProperty: "yard") var hounds: LinkingObjects<Hound>

  convenience init(_ id: Int) {
    self.init()
    self.id = id
  }
}

class Ticket: EmbeddedObject {
  @Persisted var price = 0

  convenience init(_ price: Int) {
    self.init()
    self.price = price
  }
}

extension Shelter {
  func openKennels() throws -> Instance {
    var configuration = configuration
    configuration.fileURL = URL(fileURLWithPath: folder + "/kennels.realm")
    configuration.objectTypes = [Kennel.self, Hound.self, Yard.self, Ticket.self]
    return try Instance(configuration, self)
  }

  /// A kennel with hounds of those ages in its list.
  func openKennel(_ ages: Int...) throws -> Instance {
    let instance = try openKennels()
    try instance.write {
      let kennel = Kennel(1)
      instance.realm.add(kennel)
      for (id, age) in ages.enumerated() { kennel.hounds.append(Hound(id, "h\(id)", age: age)) }
    }
    return instance
  }
}

extension Instance {
  var kennel: Kennel { realm.object(ofType: Kennel.self, forPrimaryKey: 1)! }
  func hound(_ id: Int) -> Hound? { realm.object(ofType: Hound.self, forPrimaryKey: id) }
  func yard(_ id: Int) -> Yard? { realm.object(ofType: Yard.self, forPrimaryKey: id) }
}

/// Results of collections, each with what they are to show.
struct KennelView {
  let name: String
  let results: (Instance) -> Results<Hound>
  let expected: (Instance) -> [Hound]

  /// Standard sorting is stable, as that of results of collections is.
  static func named(_ instance: Instance) -> [Hound] {
    instance.kennel.named.values.compactMap { $0 }
  }

  private static func byRooms(_ a: Hound, _ b: Hound) -> Bool {
    // Hounds without a yard come last.
    (a.yard?.rooms ?? .max) < (b.yard?.rooms ?? .max)
  }

  private static func byAgeThenName(_ a: Hound, _ b: Hound) -> Bool {
    a.age != b.age ? a.age > b.age : a.name.utf8.lexicographicallyPrecedes(b.name.utf8)
  }

  static func byName(_ a: Hound, _ b: Hound) -> Bool {
    a.name.utf8.lexicographicallyPrecedes(b.name.utf8)
  }

  static var all: [KennelView] { plain + distinct + windows }

  private static var plain: [KennelView] {
    [
      KennelView(
        name: "list, filtered", results: { $0.kennel.hounds.where { $0.age > 2 } },
        expected: { $0.kennel.hounds.filter { $0.age > 2 } }),
      KennelView(
        name: "list, sorted", results: { $0.kennel.hounds.sorted(by: \.age) },
        expected: { $0.kennel.hounds.sorted { $0.age < $1.age } }),
      KennelView(
        name: "list, filtered and sorted",
        results: {
          $0.kennel.hounds.where { $0.age < 5 }
            .sorted(by: [SortDescriptor(keyPath: \Hound.age, ascending: false), "name"])
        },
        expected: { $0.kennel.hounds.filter { $0.age < 5 }.sorted(by: byAgeThenName) }),
      KennelView(
        name: "list, sorted between two filters",
        results: {
          AnyRealmCollection($0.kennel.hounds).where { $0.age != 1 }.sorted(byKeyPath: "name")
            .where { $0.yard.rooms > 1 }
        },
        expected: {
          $0.kennel.hounds.filter { $0.age != 1 && ($0.yard?.rooms ?? 0) > 1 }.sorted(by: byName)
        }),
      KennelView(
        name: "list, sorted behind a link",
        results: { $0.kennel.hounds.sorted(byKeyPath: "yard.rooms") },
        expected: { $0.kennel.hounds.sorted(by: byRooms) }),
      KennelView(
        name: "set, filtered", results: { $0.kennel.pack.where { $0.yard.rooms < 3 } },
        expected: { $0.kennel.pack.filter { $0.yard.map { $0.rooms < 3 } == true } }),
      KennelView(
        name: "set, sorted",
        results: { $0.kennel.pack.sorted(by: \.name) },
        expected: { $0.kennel.pack.sorted(by: byName) }),
      KennelView(
        name: "map, filtered", results: { $0.kennel.named.where { $0.age <= 3 } },
        expected: { named($0).filter { $0.age <= 3 } }),
      KennelView(
        name: "map, sorted",
        results: { $0.kennel.named.sorted(by: \.age, ascending: false) },
        expected: { named($0).sorted { $0.age > $1.age } }),
      KennelView(
        name: "backlinks, filtered", results: { $0.yard(0)!.hounds.where { $0.age > 1 } },
        expected: { $0.yard(0)!.hounds.filter { $0.age > 1 } }),
      KennelView(
        name: "backlinks, sorted",
        results: { $0.yard(0)!.hounds.sorted(by: \.age) },
        expected: { $0.yard(0)!.hounds.sorted { $0.age < $1.age } }),
    ]
  }
}

/// Random changes of a kennel.
struct KennelOperations {
  var numbers: SeededRandom

  mutating func apply(to instance: Instance) {
    let kennel = instance.kennel
    let id = numbers.below(24)
    guard let hound = instance.hound(id) else {
      instance.realm.add(made(id, instance))
      return
    }
    switch numbers.below(20) {
    case 0..<8: changeList(kennel.hounds, hound)
    case 8, 9: kennel.pack.insert(hound)
    case 10: kennel.pack.remove(hound)
    case 11: kennel.named["k\(id % 6)"] = hound
    case 12: kennel.named["k\(id % 6)"] = nil
    case 13, 14: hound.age = numbers.below(7)
    case 15: hound.name = name()
    case 16: hound.yard = numbers.chance(20) ? nil : instance.yard(numbers.below(3))
    case 17: changeYards(instance)
    case 18: hound.weight = 1
    default:
      // Perhaps another one comes under the same key.
      instance.realm.delete(hound)
      if numbers.chance(60) {
        let other = made(id, instance)
        instance.realm.add(other)
        kennel.hounds.append(other)
        kennel.pack.insert(other)
      }
    }
  }

  private mutating func changeYards(_ instance: Instance) {
    if numbers.chance(20) {
      instance.realm.delete(instance.yard(2)!)
      instance.realm.add(Yard(2))
    }
    instance.yard(numbers.below(3))!.rooms = numbers.below(5)
  }

  private mutating func made(_ id: Int, _ instance: Instance) -> Hound {
    let hound = Hound(id, name(), age: numbers.below(7))
    hound.yard = instance.yard(numbers.below(3))
    return hound
  }

  /// Some names begin with the same sixteen bytes and more.
  private mutating func name() -> String {
    numbers.chance(50) ? "a\(numbers.below(4))" : "a name of sixteen and " + "\(numbers.below(4))"
  }

  private mutating func changeList(_ list: List<Hound>, _ hound: Hound) {
    let count = list.count
    let position = numbers.below(count + 1)
    switch numbers.below(count > 30 ? 7 : 10) {
    case 0 where count > 0: list[position % count] = hound
    case 1 where count > 0: list.remove(at: position % count)
    case 2 where count > 1: list.move(from: position % count, to: numbers.below(count))
    case 3 where count > 1: list.swapAt(position % count, numbers.below(count))
    case 4 where count > 3: list.removeSubrange(0..<2)
    case 5 where count > 0:
      let there = list[position % count]
      list.remove(at: position % count)
      list.insert(there, at: numbers.below(count))
    default: list.insert(hound, at: position)
    }
  }
}
