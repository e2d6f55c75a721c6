import Foundation
import TestSupport
import Testing

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
  @Persisted(originProperty: "list") var back: LinkingObjects<Knot>
}

/// Random knots that link to each other in every way, random writes, and observers along random key
/// paths: they are told what a walk forwards from each object, over a plain copy, finds.
struct KeyPathModelTests {
  @Test(arguments: 1...16)
  func observersAreToldWhatAWalkForwardsFinds(seed: Int) throws {
    var run = try KnotRun(seed: UInt64(seed))
    for _ in 0..<40 { try run.step() }
    #expect(run.told > 40)
  }
}

/// A property of a knot.
private struct Spot: Hashable {
  var id: Int
  var property: String
}

/// What the knots are, in Swift.
private struct KnotModel {
  struct Links {
    var next: Int?
    var list: [Int] = []
    var set: Set<Int> = []
    var map: [String: Int] = [:]
    var any: Int?
  }

  var links: [Int: Links] = [:]
  /// What was set since it was told last.
  var touched: Set<Spot> = []

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

  mutating func delete(_ id: Int) {
    for (other, own) in links where other != id {
      if own.next == id { change(other, "next") { $0.next = nil } }
      if own.list.contains(id) { change(other, "list") { $0.list.removeAll { $0 == id } } }
      if own.set.contains(id) { change(other, "set") { $0.set.remove(id) } }
      if own.map.values.contains(id) {
        change(other, "map") { own in own.map = own.map.filter { $0.value != id } }
      }
      if own.any == id { change(other, "any") { $0.any = nil } }
    }
    change(id, "list") { $0.list = [] }
    links[id] = nil
  }

  func isTouched(_ id: Int, along path: ArraySlice<String>) -> Bool {
    guard let first = path.first else { return false }
    if touched.contains(Spot(id: id, property: first)) { return true }
    return targets(of: id, first).contains { isTouched($0, along: path.dropFirst()) }
  }

  func isTouched(_ id: Int, within depth: Int) -> Bool {
    if touched.contains(where: { $0.id == id && $0.property != "back" }) { return true }
    if depth == 0 { return false }
    return ["next", "list", "set", "map", "any"].contains { property in
      targets(of: id, property).contains { isTouched($0, within: depth - 1) }
    }
  }
}

/// One who is told, and what it is told.
private final class KnotWatch {
  enum Look {
    case paths([[String]])
    case depth(Int)
  }
  let look: Look
  /// Nil for one of all knots.
  let id: Int?
  var token: NotificationToken?
  var calls: [Set<String>] = []

  init(_ look: Look, id: Int? = nil) {
    self.look = look
    self.id = id
  }
}

private struct KnotRun {
  private let a: Place
  private let b: Place
  private var numbers: SeededRandom
  private var model = KnotModel()
  private var nextID = 0
  private var watches: [KnotWatch] = []
  private(set) var told = 0

  init(seed: UInt64) throws {
    numbers = SeededRandom(seed: seed)
    let shelter = try Shelter()
    var configuration = shelter.configuration
    configuration.objectTypes = [Knot.self]
    a = try Place(configuration, shelter)
    b = try Place(configuration, shelter)
    try a.write { for _ in 0..<12 { add() } }
    try a.write { for _ in 0..<40 { change() } }
    model.touched = []
    b.realm.refresh()
    for _ in 0..<8 { observeAll(.paths((0...numbers.below(2)).map { _ in randomPath() })) }
    for depth in 0..<5 { observeAll(.depth(depth)) }
    for id in 0..<12 where model.links[id] != nil { observe(id) }
    b.pump()
    for watch in watches { watch.calls = [] }
  }

  private mutating func randomPath() -> [String] {
    let links = (0..<numbers.below(4)).map { _ in
      ["next", "list", "set", "map", "any", "back"][numbers.below(6)]
    }
    return links + [["name", "size", "next", "list", "map", "back"][numbers.below(6)]]
  }

  private mutating func observeAll(_ look: KnotWatch.Look) {
    let knots = b.realm.objects(Knot.self).sorted(by: \.id)
    let watch = KnotWatch(look)
    var ids: [Int] = []
    let tell = { (change: RealmCollectionChange<Results<Knot>>) in
      if case .update(let knots, let deletions, let insertions, let modifications) = change {
        watch.calls.append(
          Set(
            deletions.map { "-\(ids[$0])" } + insertions.map { "+\(knots[$0].id)" }
              + modifications.map { "~\(ids[$0])" }))
      }
      ids = knots.map(\.id)
    }
    switch look {
    case .paths(let paths):
      watch.token = knots.observe(keyPaths: paths.map { $0.joined(separator: ".") }, tell)
    case .depth(3): watch.token = knots.observe(tell)
    case .depth(let depth): watch.token = knots.observe(depth: depth, tell)
    }
    watches.append(watch)
  }

  private mutating func observe(_ id: Int) {
    let paths = (0...numbers.below(3)).map { _ in randomPath() }
    let watch = KnotWatch(.paths(paths), id: id)
    let knot = b.realm.object(ofType: Knot.self, forPrimaryKey: id)!
    let names = paths.map { $0.joined(separator: ".") }
    watch.token = knot.observe(keyPaths: names) { change in
      switch change {
      case .change(_, let properties): watch.calls.append(Set(properties.map(\.name)))
      case .deleted: watch.calls.append(["deleted"])
      case .error(let error): watch.calls.append(["\(error)"])
      }
    }
    watches.append(watch)
  }

  // MARK: - Writing

  private mutating func add() {
    let knot = Knot()
    knot.id = nextID
    a.realm.add(knot)
    model.links[nextID] = KnotModel.Links()
    nextID += 1
  }

  private mutating func change() {
    let ids = model.links.keys.sorted()
    let (id, other) = (ids[numbers.below(ids.count)], ids[numbers.below(ids.count)])
    let knot = a.realm.object(ofType: Knot.self, forPrimaryKey: id)!
    let target = a.realm.object(ofType: Knot.self, forPrimaryKey: other)!
    switch numbers.below(12) {
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
    case 5, 6:
      knot.list.append(target)
      model.change(id, "list") { $0.list.append(other) }
    case 7 where !knot.list.isEmpty:
      let place = numbers.below(knot.list.count)
      knot.list.remove(at: place)
      model.change(id, "list") { _ = $0.list.remove(at: place) }
    case 8 where !knot.set.contains(target):
      knot.set.insert(target)
      model.change(id, "set") { $0.set.insert(other) }
    case 9:
      let key = "k\(numbers.below(2))"
      knot.map[key] = target
      model.change(id, "map") { $0.map[key] = other }
    case 10:
      knot.any = .object(target)
      model.change(id, "any") { $0.any = other }
    default: break
    }
  }

  // MARK: - Checking

  mutating func step() throws {
    let before = Set(model.links.keys)
    try a.write {
      for _ in 0...numbers.below(2) { change() }
      if numbers.chance(10) { add() }
      if numbers.chance(10), model.links.count > 6 {
        let ids = model.links.keys.sorted()
        let id = ids[numbers.below(ids.count)]
        a.realm.delete(a.realm.object(ofType: Knot.self, forPrimaryKey: id)!)
        model.delete(id)
      }
    }
    b.pump()
    let after = Set(model.links.keys)
    for watch in watches {
      let expected = expected(watch, before, after)
      #expect(watch.calls == (expected.isEmpty ? [] : [expected]), "\(watch.look)")
      told += watch.calls.count
      watch.calls = []
    }
    watches.removeAll { $0.id.map { !after.contains($0) } == true }
    model.touched = []
  }

  private func expected(
    _ watch: KnotWatch, _ before: Set<Int>, _ after: Set<Int>
  ) -> Set<String> {
    func isHit(_ id: Int, _ paths: [[String]]) -> Bool {
      paths.contains { model.isTouched(id, along: $0[...]) }
    }
    switch watch.look {
    case .paths(let paths):
      if let id = watch.id {
        if !after.contains(id) { return ["deleted"] }
        return Set(paths.filter { isHit(id, [$0]) }.map { $0[0] })
      }
      return moves(before, after) { isHit($0, paths) }
    case .depth(let depth): return moves(before, after) { model.isTouched($0, within: depth) }
    }
  }

  private func moves(
    _ before: Set<Int>, _ after: Set<Int>, _ isModified: (Int) -> Bool
  ) -> Set<String> {
    Set(before.subtracting(after).map { "-\($0)" })
      .union(after.subtracting(before).map { "+\($0)" })
      .union(before.intersection(after).filter(isModified).map { "~\($0)" })
  }
}
