import TestSupport

@testable import Tarn

/// Random writes, to a Realm and to the model.
struct IsleScript {
  var model = IsleModel()
  var numbers: SeededRandom
  private var nextID = 0
  private var serial = 0

  init(seed: UInt64) { numbers = SeededRandom(seed: seed) }

  /// Isles that link to each other.
  mutating func begin(in realm: Realm) {
    for _ in 0..<8 { add(to: realm) }
    for _ in 0..<25 { change(realm) }
  }

  /// Some changes in one write. The first isle stays.
  mutating func write(to realm: Realm) {
    for _ in 0...numbers.below(3) { change(realm) }
    if numbers.chance(15) { add(to: realm) }
    if numbers.chance(15), model.isles.count > 5 { delete(in: realm) }
  }

  /// Commits, by somebody else or by the one who is told of them.
  mutating func commit(to own: Realm, or other: Realm) throws {
    if numbers.chance(30) { return try own.write { write(to: own) } }
    for _ in 0...numbers.below(3) { try other.write { write(to: other) } }
  }

  private mutating func add(to realm: Realm) {
    realm.add(Isle(nextID))
    model.isles[nextID] = IsleModel.Links()
    model.fresh.insert(nextID)
    nextID += 1
  }

  private mutating func delete(in realm: Realm) {
    let ids = Array(model.isles.keys.sorted().dropFirst())
    let id = ids[numbers.below(ids.count)]
    realm.delete(realm.object(ofType: Isle.self, forPrimaryKey: id)!)
    for (other, own) in model.isles where other != id {
      if own.next == id { model.change(other, "next") { $0.next = nil } }
      if own.any == id { model.change(other, "any") { $0.any = nil } }
      if own.set.contains(id) { model.change(other, "set") { $0.set.remove(id) } }
      if own.list.contains(where: { $0.target == id }) {
        model.change(other, "list") { $0.list.removeAll { $0.target == id } }
      }
      for (key, entry) in own.map where entry.target == id {
        serial += 1
        let gone = IsleModel.Entry(serial: serial, target: nil)
        model.change(other, "map") { $0.map[key] = gone }
      }
    }
    model.change(id, "list") { $0.list = [] }
    model.isles[id] = nil
  }

  private mutating func change(_ realm: Realm) {
    let ids = model.isles.keys.sorted()
    let (id, other) = (ids[numbers.below(ids.count)], ids[numbers.below(ids.count)])
    let isle = realm.object(ofType: Isle.self, forPrimaryKey: id)!
    let target = realm.object(ofType: Isle.self, forPrimaryKey: other)!
    serial += 1
    let slot = IsleModel.Slot(serial: serial, target: other)
    let property = ["name", "next", "list", "list", "set", "map", "any", "numbers"][
      numbers.below(8)]
    switch property {
    case "name":
      isle.name = "\(serial)"
      model.change(id, "name")
    case "next":
      let isNone = numbers.chance(30)
      isle.next = isNone ? nil : target
      model.change(id, "next") { $0.next = isNone ? nil : other }
    case "list": changeList(isle.list, to: target, slot, id)
    case "set":
      let isIn = isle.set.contains(target)
      if isIn { isle.set.remove(target) } else { isle.set.insert(target) }
      model.change(id, "set") { own in
        if isIn { own.set.remove(other) } else { own.set.insert(other) }
      }
    case "map":
      let key = "k\(numbers.below(3))"
      let isRemoved = numbers.chance(30) && isle.map[key] != nil
      if isRemoved { isle.map.removeObject(for: key) } else { isle.map[key] = target }
      let entry = isRemoved ? nil : IsleModel.Entry(serial: serial, target: other)
      model.change(id, "map") { $0.map[key] = entry }
    case "any":
      isle.any = .object(target)
      model.change(id, "any") { $0.any = other }
    default:
      let index = numbers.below(isle.numbers.count + 1)
      isle.numbers.insert(serial, at: index)
      model.change(id, "numbers") { $0.numbers.insert(slot, at: index) }
    }
  }

  private mutating func changeList(
    _ list: List<Isle>, to target: Isle, _ slot: IsleModel.Slot, _ id: Int
  ) {
    let index = numbers.below(list.count + 1)
    switch numbers.below(4) {
    case 0 where index < list.count:
      list.remove(at: index)
      model.change(id, "list") { $0.list.remove(at: index) }
    case 1 where index < list.count:
      list[index] = target
      // What is set to what it was is set all the same, on both sides.
      model.touch(slot.target, "back")
      model.change(id, "list") { own in
        own.list[index].target = slot.target
        own.list[index].settings += 1
      }
    default:
      list.insert(target, at: index)
      model.change(id, "list") { $0.list.insert(slot, at: index) }
    }
  }
}
