import Foundation
import TestSupport

@testable import Tarn
@testable import TarnStore

class FedAddress: EmbeddedObject {
  @Persisted var city = ""
  @Persisted var room: FedRoom?
}

class FedRoom: EmbeddedObject {
  @Persisted var number = 0
}

/// With an integer primary key, which is the object key.
class FedDog: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var name = ""
  @Persisted var age = 0
  @Persisted var owner: FedPerson?
  @Persisted var tags: List<String>
  @Persisted var marks: MutableSet<Int>
  @Persisted var any: AnyRealmValue
  @Persisted var kennel: FedAddress?
}

/// With a primary key that is not the object key, and may be nil.
class FedPerson: Object {
  @Persisted(primaryKey: true) var name: String?
  @Persisted var rank = 0
  @Persisted var dogs: List<FedDog>
  @Persisted var homes: List<FedAddress>
  @Persisted var notes: Map<String, Int>
}

/// Without a primary key.
class FedNote: Object {
  @Persisted var text = ""
  @Persisted var about: FedDog?
}

/// What a consumer keeps of an object.
protocol FedObject: Object {
  var copy: String { get }
}

extension FedAddress {
  var copy: String { "\(city)/\(room?.number ?? -1)" }
}

extension FedDog: FedObject {
  var copy: String {
    "\(id) \(name) \(age) \(owner?.name ?? "-") \(Array(tags)) \(Array(marks).sorted()) \(any) "
      + (kennel?.copy ?? "-")
  }
}

extension FedPerson: FedObject {
  var copy: String {
    let notes = notes.map { "\($0.key):\($0.value)" }.sorted()
    return "\(name ?? "nil") \(rank) \(Array(dogs.map(\.id))) \(Array(homes.map(\.copy))) \(notes)"
  }
}

extension FedNote: FedObject {
  var copy: String { "\(text) \(about?.id ?? -1)" }
}

/// A dictionary of dictionaries that is made from batches only.
struct FedCopies: Equatable {
  /// By class and identity.
  var objects: [String: [ObjectIdentity: String]] = [:]

  /// What is wrong, one line for each object.
  func differences(from other: FedCopies) -> [String] {
    Set(objects.keys).union(other.objects.keys).sorted().flatMap { name -> [String] in
      let (mine, right) = (objects[name] ?? [:], other.objects[name] ?? [:])
      return Set(mine.keys).union(right.keys).filter { mine[$0] != right[$0] }.map {
        "\($0): \(mine[$0] ?? "nothing") instead of \(right[$0] ?? "nothing")"
      }
    }
  }

  mutating func apply<T: FedObject>(
    _ changes: ObjectChanges<T>, _ copy: (T) -> String = { $0.copy }
  ) {
    let name = T.className()
    for identity in changes.removals { objects[name]?[identity] = nil }
    if changes.isCleared { objects[name] = nil }
    for object in changes.upserts {
      objects[name, default: [:]][changes.identity(of: object)] = copy(object)
    }
    if objects[name]?.isEmpty == true { objects[name] = nil }
  }

  mutating func begin<T: FedObject>(
    _ all: Results<T>, _ changes: ObjectChanges<T>, _ copy: (T) -> String = { $0.copy }
  ) {
    var copies: [(ObjectIdentity, String)] = []
    for object in all { copies.append((changes.identity(of: object), copy(object))) }
    objects[T.className()] = copies.isEmpty ? nil : Dictionary(uniqueKeysWithValues: copies)
  }
}

/// One random commit after another.
struct FedProgram {
  var random: SeededRandom
  private let names = ["a", "b", "c", "d", "e"]

  init(seed: Int) { random = SeededRandom(seed: UInt64(seed)) }

  mutating func commit(_ realm: Realm) throws {
    let steps = 1 + random.below(4)
    try realm.write {
      for _ in 0..<steps { step(realm) }
    }
  }

  private mutating func step(_ realm: Realm) {
    switch random.below(100) {
    case 0..<22: addDog(realm)
    case 22..<32: addPerson(realm)
    case 32..<40: realm.create(FedNote.self, value: ["text": random.pick(names)])
    case 40..<55: delete(realm)
    case 55..<57: clear(realm)
    default: change(realm)
    }
  }

  private mutating func addDog(_ realm: Realm) {
    let id = random.below(12)
    if realm.object(ofType: FedDog.self, forPrimaryKey: id) != nil { return change(realm) }
    let dog = FedDog()
    dog.id = id
    dog.name = random.pick(names)
    dog.age = random.below(8)
    realm.add(dog)
    if random.chance(50) { dog.kennel = address() }
    dog.owner = pick(realm.objects(FedPerson.self))
  }

  private mutating func addPerson(_ realm: Realm) {
    let name = random.chance(15) ? nil : random.pick(names)
    if realm.object(ofType: FedPerson.self, forPrimaryKey: name) != nil { return change(realm) }
    let person = FedPerson()
    person.name = name
    person.rank = random.below(5)
    realm.add(person)
  }

  private mutating func address() -> FedAddress {
    let address = FedAddress()
    address.city = random.pick(names)
    if random.chance(50) {
      address.room = FedRoom()
      address.room?.number = random.below(9)
    }
    return address
  }

  private mutating func pick<T: Object>(_ objects: Results<T>) -> T? {
    objects.isEmpty ? nil : objects[random.below(objects.count)]
  }

  private mutating func delete(_ realm: Realm) {
    switch random.below(3) {
    case 0: if let dog = pick(realm.objects(FedDog.self)) { realm.delete(dog) }
    case 1: if let person = pick(realm.objects(FedPerson.self)) { realm.delete(person) }
    default: if let note = pick(realm.objects(FedNote.self)) { realm.delete(note) }
    }
  }

  private mutating func clear(_ realm: Realm) {
    switch random.below(3) {
    case 0: realm.delete(realm.objects(FedDog.self))
    case 1: realm.delete(realm.objects(FedPerson.self))
    default: realm.delete(realm.objects(FedNote.self))
    }
  }

  private mutating func change(_ realm: Realm) {
    if random.chance(25), let note = pick(realm.objects(FedNote.self)) {
      note.text = random.pick(names)
      note.about = pick(realm.objects(FedDog.self))
    }
    if random.chance(50), let dog = pick(realm.objects(FedDog.self)) {
      changeDog(dog, realm)
    } else if let person = pick(realm.objects(FedPerson.self)) {
      changePerson(person, realm)
    }
  }

  private mutating func changeDog(_ dog: FedDog, _ realm: Realm) {
    switch random.below(8) {
    case 0: dog.name = random.pick(names)
    case 1: dog.age = random.below(8)
    case 2: dog.owner = pick(realm.objects(FedPerson.self))
    case 3: dog.tags.append(random.pick(names))
    case 4: if !dog.tags.isEmpty { dog.tags.remove(at: random.below(dog.tags.count)) }
    case 5: dog.marks.insert(random.below(5))
    case 6: dog.any = random.chance(50) ? .int(random.below(9)) : .string(random.pick(names))
    default:
      if let kennel = dog.kennel, random.chance(70) {
        if let room = kennel.room {
          room.number = random.below(9)
        } else {
          kennel.city = random.pick(names)
        }
      } else {
        dog.kennel = random.chance(50) ? address() : nil
      }
    }
  }

  private mutating func changePerson(_ person: FedPerson, _ realm: Realm) {
    switch random.below(5) {
    case 0: person.rank = random.below(5)
    case 1: if let dog = pick(realm.objects(FedDog.self)) { person.dogs.append(dog) }
    case 2: if !person.dogs.isEmpty { person.dogs.remove(at: 0) }
    case 3:
      if person.homes.isEmpty || random.chance(40) {
        person.homes.append(address())
      } else {
        person.homes[random.below(person.homes.count)].city = random.pick(names)
      }
    default: person.notes[random.pick(names)] = random.below(9)
    }
  }
}
