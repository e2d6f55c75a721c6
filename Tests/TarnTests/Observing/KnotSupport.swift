import Foundation
import TestSupport

@testable import Tarn

class Knot: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var name = ""
  @Persisted var size = 0
  @Persisted var next: Knot?
  @Persisted var list: List<Knot>
  @Persisted var set: MutableSet<Knot>
  @Persisted var map: Map<String, Knot?>
  @Persisted var any: AnyRealmValue
  @Persisted var numbers: List<Int>
  @Persisted var tags: MutableSet<String>
  @Persisted var counts: Map<String, Int>
  /// The hub's holds a list and a map, as `list` and `map`.
  @Persisted var heap: AnyRealmValue
  @Persisted var clasp: Clasp?
  @Persisted var clasps: List<Clasp>
  @Persisted(originProperty: "list") var back: LinkingObjects<Knot>
}

class Clasp: EmbeddedObject {
  @Persisted var depth = 0
  @Persisted var home: Knot?
}

final class KnotCard: Projection<Knot> {
  @Projected(\Knot.name) var title
  @Projected(\Knot.next?.name) var following
  @Projected(\Knot.clasp?.depth) var depth
  @Projected(\Knot.size) var size
}

/// A property of a knot, or of what is embedded in it, such as `clasp.depth`.
struct Spot: Hashable, Codable {
  var id: Int
  var property: String

  var isEmbedded: Bool { property.contains(".") }
}

/// What the knots are, in Swift.
struct KnotModel: Codable {
  struct Links: Codable {
    var next: Int?
    var list: [Int] = []
    var set: Set<Int> = []
    var map: [String: Int] = [:]
    var any: Int?
    var numbers: [Int] = []
    var tags: Set<String> = []
    var clasp: Clasp?
    var clasps: [Clasp] = []
  }

  struct Clasp: Codable {
    /// What the file calls it.
    var key: Int64 = 0
    var depth = 0
    var home: Int?
  }

  /// A property of an embedded object.
  struct ClaspSpot: Hashable, Codable {
    var key: Int64
    var property: String
  }

  var links: [Int: Links] = [:]
  /// What was set since it was told last, of maps their keys as well.
  var touched: Set<Spot> = []
  /// The same of what is embedded in lists.
  var touchedClasps: Set<ClaspSpot> = []

  init() {}

  /// What a Realm shows, with nothing touched.
  init(_ realm: Realm) {
    for knot in realm.objects(Knot.self) {
      links[knot.id] = Links(
        next: knot.next?.id, list: knot.list.map(\.id), set: Set(knot.set.map(\.id)),
        map: Dictionary(
          uniqueKeysWithValues: knot.map.compactMap { key, knot in
            knot.map { (key, $0.id) }
          }), any: knot.any.object(Knot.self)?.id, numbers: Array(knot.numbers),
        tags: Set(knot.tags), clasp: knot.clasp.map { Clasp(depth: $0.depth, home: $0.home?.id) },
        clasps: knot.clasps.map { Clasp(key: $0._key, depth: $0.depth, home: $0.home?.id) })
    }
  }

  static func key(_ key: String, of map: String = "map") -> String { "\(map)[\(key)]" }

  func origins(of id: Int) -> [Int] {
    links.keys.sorted().flatMap { origin in
      links[origin]!.list.filter { $0 == id }.map { _ in origin }
    }
  }

  func targets(of id: Int, _ property: String) -> [Int] {
    guard let own = links[id] else { return [] }
    switch property {
    case "next": return own.next.map { [$0] } ?? []
    case "list": return own.list
    case "set": return Array(own.set)
    case "map": return Array(own.map.values)
    case "any": return own.any.map { [$0] } ?? []
    case "clasp.home": return own.clasp?.home.map { [$0] } ?? []
    case "clasps.home": return own.clasps.compactMap(\.home)
    case "back": return origins(of: id)
    default: return []
    }
  }

  mutating func change(_ id: Int, _ property: String, _ body: (inout Links) -> Void) {
    let before = links[id]!.list
    touched.insert(Spot(id: id, property: property))
    body(&links[id]!)
    for other in Set(before + links[id]!.list)
    where before.count(where: { $0 == other }) != links[id]!.list.count(where: { $0 == other }) {
      touched.insert(Spot(id: other, property: "back"))
    }
  }

  mutating func changeMap(_ id: Int, _ key: String, _ body: (inout Int?) -> Void) {
    touched.insert(Spot(id: id, property: Self.key(key)))
    change(id, "map") { body(&$0.map[key]) }
  }

  mutating func delete(_ id: Int) {
    for (other, own) in links where other != id {
      if own.next == id { change(other, "next") { $0.next = nil } }
      if own.list.contains(id) { change(other, "list") { $0.list.removeAll { $0 == id } } }
      if own.set.contains(id) { change(other, "set") { $0.set.remove(id) } }
      for (key, value) in own.map where value == id { changeMap(other, key) { $0 = nil } }
      if own.any == id { change(other, "any") { $0.any = nil } }
      if own.clasp?.home == id { change(other, "clasp.home") { $0.clasp!.home = nil } }
      if own.clasps.contains(where: { $0.home == id }) {
        change(other, "clasps.home") { own in
          for position in own.clasps.indices where own.clasps[position].home == id {
            own.clasps[position].home = nil
          }
        }
        for clasp in own.clasps where clasp.home == id {
          touchedClasps.insert(ClaspSpot(key: clasp.key, property: "home"))
        }
      }
    }
    change(id, "list") { $0.list = [] }
    links[id] = nil
  }

  func isTouched(_ id: Int, along path: ArraySlice<String>) -> Bool {
    guard let first = path.first else { return false }
    if touched.contains(Spot(id: id, property: first)) { return true }
    if ["clasp", "clasps"].contains(first), let second = path.dropFirst().first {
      return isTouched(id, along: ["\(first).\(second)"] + path.dropFirst(2))
    }
    return targets(of: id, first).contains { isTouched($0, along: path.dropFirst()) }
  }

  /// The same of what is embedded, for who looks from there.
  func isModified(_ clasp: Clasp, _ look: KnotLook) -> Bool {
    func isSet(_ property: String) -> Bool {
      touchedClasps.contains(ClaspSpot(key: clasp.key, property: property))
    }
    switch look {
    case .depth(let depth):
      if isSet("depth") || isSet("home") { return true }
      return depth > 0 && clasp.home.map { isTouched($0, within: depth - 1) } == true
    case .paths(let paths):
      return paths.contains { path in
        if isSet(path[0]) { return true }
        return clasp.home.map { isTouched($0, along: path.dropFirst()) } == true
      }
    }
  }

  /// What is embedded is one link away, and what that links to is two.
  func isTouched(_ id: Int, within depth: Int) -> Bool {
    let own = touched.filter { $0.id == id && $0.property != "back" }
    if own.contains(where: { depth > 0 || !$0.isEmbedded }) { return true }
    if depth == 0 { return false }
    if depth > 1 {
      let homes = ["clasp.home", "clasps.home"].flatMap { targets(of: id, $0) }
      if homes.contains(where: { isTouched($0, within: depth - 2) }) { return true }
    }
    return ["next", "list", "set", "map", "any"].contains { property in
      targets(of: id, property).contains { isTouched($0, within: depth - 1) }
    }
  }
}

/// How an observer looks at knots.
enum KnotLook {
  case paths([[String]])
  case depth(Int)

  static func randomPath(_ numbers: inout SeededRandom) -> [String] {
    let links = (0..<numbers.below(4)).flatMap { _ in
      let links = ["next", "list", "set", "map", "any", "back", "clasp.home", "clasps.home"]
      return links[numbers.below(links.count)].components(separatedBy: ".")
    }
    let ends = [
      "name", "size", "next", "list", "set", "map", "any", "back", "numbers", "tags", "counts",
      "heap", "clasp", "clasps", "clasp.depth", "clasp.home", "clasps.depth", "clasps.home",
    ]
    return links + ends[numbers.below(ends.count)].components(separatedBy: ".")
  }

  /// From what is embedded.
  static func randomOfAClasp(_ numbers: inout SeededRandom) -> KnotLook {
    switch numbers.below(4) {
    case 0: .depth(numbers.below(4))
    case 1: .paths([["depth"]])
    case 2: .paths([["home"], ["depth"]])
    default: .paths([["home"] + randomPath(&numbers)])
    }
  }
}

extension KnotModel {
  /// True if the knot is modified in the eyes of who looks so.
  func isModified(_ id: Int, _ look: KnotLook) -> Bool {
    switch look {
    case .paths(let paths): paths.contains { isTouched(id, along: $0[...]) }
    case .depth(let depth): isTouched(id, within: depth)
    }
  }
}

/// Random writes, to a Realm and to the model.
struct KnotScript {
  var model = KnotModel()
  var nextID = 0
  var numbers: SeededRandom

  /// One of them, with a knot that comes or goes now and then. The first knot stays.
  mutating func write(to realm: Realm) {
    change(realm)
    if numbers.chance(6) { add(to: realm) }
    if numbers.chance(6), model.links.count > 6 {
      let ids = model.links.keys.sorted().dropFirst()
      delete(ids[ids.startIndex + numbers.below(ids.count)], in: realm)
    }
  }

  mutating func delete(_ id: Int, in realm: Realm) {
    realm.delete(realm.object(ofType: Knot.self, forPrimaryKey: id)!)
    model.delete(id)
  }

  mutating func add(to realm: Realm) {
    let knot = Knot()
    knot.id = nextID
    realm.add(knot)
    model.links[nextID] = KnotModel.Links()
    nextID += 1
  }

  mutating func change(_ realm: Realm) {
    let ids = model.links.keys.sorted()
    let (id, other) = (ids[numbers.below(ids.count)], ids[numbers.below(ids.count)])
    let knot = realm.object(ofType: Knot.self, forPrimaryKey: id)!
    let target = realm.object(ofType: Knot.self, forPrimaryKey: other)!
    switch numbers.below(18) {
    case 0, 1:
      knot.name = "\(numbers.below(3))"
      model.change(id, "name") { _ in }
    case 2, 3:
      knot.size = numbers.below(3)
      model.change(id, "size") { _ in }
    case 4:
      knot.next = numbers.chance(70) ? target : nil
      let now = knot.next?.id
      model.change(id, "next") { $0.next = now }
    case 5, 6: insert(target, other, into: knot, id)
    case 7 where !knot.list.isEmpty: remove(from: knot, id)
    case 8: changeSet(of: numbers.chance(50) ? hub(realm) : knot, target, other)
    case 9:
      let key = "k\(numbers.below(3))"
      if knot.map[key] != nil, numbers.chance(30) {
        knot.map[key] = nil
        model.changeMap(id, key) { $0 = nil }
      } else {
        knot.map[key] = target
        model.changeMap(id, key) { $0 = other }
      }
    case 10:
      knot.any = .object(target)
      model.change(id, "any") { $0.any = other }
    case 11:
      // The first knot has the collections that are observed.
      let hub = hub(realm)
      if hub.list.isEmpty || numbers.chance(60) {
        insert(target, other, into: hub, ids[0])
      } else {
        remove(from: hub, ids[0])
      }
    case 12, 13:
      let owner = numbers.chance(60) ? hub(realm) : knot
      changeValues(of: owner, owner.id)
    case 16:
      let owner = numbers.chance(60) ? hub(realm) : knot
      change("counts", of: owner.id, owner.counts) { $0 }
      model.change(owner.id, "counts") { _ in }
    case 17: changeHeap(of: numbers.chance(80) ? hub(realm) : knot)
    case 14: changeClasp(of: knot, id, target, other)
    case 15:
      let owner = numbers.chance(60) ? hub(realm) : knot
      changeClasps(of: owner, owner.id, target, other)
    default: break
    }
  }

  private func hub(_ realm: Realm) -> Knot {
    realm.object(ofType: Knot.self, forPrimaryKey: model.links.keys.min()!)!
  }

  private mutating func changeSet(of knot: Knot, _ target: Knot, _ other: Int) {
    let isIn = knot.set.contains(target)
    if isIn { knot.set.remove(target) } else { knot.set.insert(target) }
    model.change(knot.id, "set") { own in
      if isIn { own.set.remove(other) } else { own.set.insert(other) }
    }
  }

  private mutating func changeValues(of knot: Knot, _ id: Int) {
    let (value, position) = (numbers.below(5), numbers.below(knot.numbers.count + 1))
    switch numbers.below(4) {
    case 0:
      knot.numbers.insert(value, at: position)
      model.change(id, "numbers") { $0.numbers.insert(value, at: position) }
    case 1 where position < knot.numbers.count:
      knot.numbers.remove(at: position)
      model.change(id, "numbers") { _ = $0.numbers.remove(at: position) }
    case 2 where position < knot.numbers.count:
      knot.numbers[position] = value
      model.change(id, "numbers") { $0.numbers[position] = value }
    default:
      let tag = "\(value)"
      let isIn = knot.tags.contains(tag)
      if isIn { knot.tags.remove(tag) } else { knot.tags.insert(tag) }
      model.change(id, "tags") { own in
        if isIn { own.tags.remove(tag) } else { own.tags.insert(tag) }
      }
    }
  }

  /// Sets a value of a map, or takes one out.
  private mutating func change<Value: RealmCollectionValue>(
    _ name: String, of id: Int, _ map: Map<String, Value>, _ value: (Int) -> Value
  ) {
    let key = "k\(numbers.below(3))"
    let isTakenOut = map[key] != nil && numbers.chance(40)
    map[key] = isTakenOut ? nil : value(numbers.below(3))
    model.touched.insert(Spot(id: id, property: KnotModel.key(key, of: name)))
  }

  private mutating func changeHeap(of knot: Knot) {
    defer { model.change(knot.id, "heap") { _ in } }
    let value = AnyRealmValue.int(numbers.below(5))
    guard let heap = knot.heap.dictionaryValue else {
      knot.heap = value
      return
    }
    let list = heap["list"]!.listValue!
    let position = numbers.below(list.count + 1)
    switch numbers.below(5) {
    case 0 where position < list.count: list.remove(at: position)
    case 1 where position < list.count: list[position] = value
    case 2, 3: change("heap", of: knot.id, heap["map"]!.dictionaryValue!) { .int($0) }
    default: list.insert(value, at: position)
    }
  }

  private mutating func changeClasp(of knot: Knot, _ id: Int, _ target: Knot, _ other: Int) {
    let depth = numbers.below(9)
    guard let clasp = knot.clasp, numbers.chance(75) else {
      knot.clasp = numbers.chance(80) ? Clasp(value: ["depth": depth]) : nil
      let now = knot.clasp.map { KnotModel.Clasp(depth: $0.depth) }
      return model.change(id, "clasp") { $0.clasp = now }
    }
    if numbers.chance(50) {
      clasp.depth = depth
      model.change(id, "clasp.depth") { $0.clasp!.depth = depth }
    } else {
      clasp.home = target
      model.change(id, "clasp.home") { $0.clasp!.home = other }
    }
  }

  private mutating func changeClasps(of knot: Knot, _ id: Int, _ target: Knot, _ other: Int) {
    let (depth, position) = (numbers.below(9), numbers.below(knot.clasps.count + 1))
    guard position < knot.clasps.count else {
      knot.clasps.append(Clasp(value: ["depth": depth]))
      let key = knot.clasps[position]._key
      return model.change(id, "clasps") {
        $0.clasps.append(KnotModel.Clasp(key: key, depth: depth))
      }
    }
    let key = knot.clasps[position]._key
    switch numbers.below(3) {
    case 0:
      knot.clasps.remove(at: position)
      model.change(id, "clasps") { _ = $0.clasps.remove(at: position) }
    case 1:
      knot.clasps[position].depth = depth
      model.change(id, "clasps.depth") { $0.clasps[position].depth = depth }
      model.touchedClasps.insert(KnotModel.ClaspSpot(key: key, property: "depth"))
    default:
      knot.clasps[position].home = target
      model.change(id, "clasps.home") { $0.clasps[position].home = other }
      model.touchedClasps.insert(KnotModel.ClaspSpot(key: key, property: "home"))
    }
  }

  private mutating func insert(_ target: Knot, _ other: Int, into knot: Knot, _ id: Int) {
    let position = numbers.below(knot.list.count + 1)
    knot.list.insert(target, at: position)
    model.change(id, "list") { $0.list.insert(other, at: position) }
  }

  private mutating func remove(from knot: Knot, _ id: Int) {
    let position = numbers.below(knot.list.count)
    knot.list.remove(at: position)
    model.change(id, "list") { _ = $0.list.remove(at: position) }
  }
}
