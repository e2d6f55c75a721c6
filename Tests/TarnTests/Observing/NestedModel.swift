import TestSupport

/// What isles are, in Swift, each element with a number of its own, so that a copy of an earlier
/// state says where it was.
struct IsleModel {
  struct Slot: Hashable {
    var serial: Int
    var target: Int
    /// How often it was set.
    var settings = 0
  }

  struct Entry: Hashable {
    var serial: Int
    var target: Int?
  }

  struct Links {
    var next: Int?
    var list: [Slot] = []
    var set: Set<Int> = []
    var map: [String: Entry] = [:]
    var any: Int?
    var numbers: [Slot] = []
  }

  var isles: [Int: Links] = [:]
  /// The properties that were set since, of isles that were there before.
  var touched: [Int: Set<String>] = [:]
  /// Isles that came since.
  var fresh: Set<Int> = []

  /// Which isles' lists lead to one, as often as they do, with the number of the time.
  func origins(of id: Int) -> [[Int]] {
    isles.keys.sorted().flatMap { origin in
      isles[origin]!.list.count { $0.target == id }.times.map { [origin, $0] }
    }
  }

  mutating func touch(_ id: Int, _ property: String) {
    if !fresh.contains(id) { touched[id, default: []].insert(property) }
  }

  mutating func change(_ id: Int, _ property: String, _ body: (inout Links) -> Void = { _ in }) {
    touch(id, property)
    let before = isles[id]!.list
    body(&isles[id]!)
    let after = isles[id]!.list
    for other in Set((before + after).map(\.target)) where isles[other] != nil {
      if before.count(where: { $0.target == other }) != after.count(where: { $0.target == other }) {
        touch(other, "back")
      }
    }
  }

  mutating func forgetTouches() {
    touched = [:]
    fresh = []
  }
}

extension Int {
  fileprivate var times: Range<Int> { 0..<self }
}

/// What a walk over the copies of two states finds behind an isle.
struct IsleWalk {
  let before: IsleModel
  let after: IsleModel
  private static let columns = ["name", "next", "list", "set", "map", "any", "numbers"]

  /// All changes of an isle and up to so many links away, on ways that pass no isle twice.
  func changes(of id: Int, within depth: Int, passed: [Int] = []) -> [String] {
    var found = Self.columns.flatMap { change(of: $0, id) }
    if depth == 0 { return found }
    for property in ["next", "list", "set", "map", "any"] {
      for (target, position) in targets(of: id, property)
      where target != id && !passed.contains(target) {
        found += changes(of: target, within: depth - 1, passed: passed + [id]).map {
          "\(property)\(position).\($0)"
        }
      }
    }
    return found
  }

  /// The changes of each property on a path.
  func changes(of id: Int, along path: ArraySlice<String>) -> Set<String> {
    guard let first = path.first else { return [] }
    var found = Set(change(of: first, id))
    if path.count == 1 { return found }
    for (target, position) in targets(of: id, first) {
      for change in changes(of: target, along: path.dropFirst()) {
        found.insert("\(first)\(position).\(change)")
      }
    }
    return found
  }

  /// Where a property leads, and where that is in it.
  private func targets(of id: Int, _ property: String) -> [(Int, String)] {
    let own = after.isles[id]!
    let old = after.fresh.contains(id) ? nil : before.isles[id]
    func position(_ old: Int?, _ new: Int) -> String { "[\(old.map { "\($0)" } ?? "")>\(new)]" }
    switch property {
    case "next": return own.next.map { [($0, "")] } ?? []
    case "any": return own.any.map { [($0, "")] } ?? []
    case "list":
      return own.list.enumerated().map { index, slot in
        (slot.target, position(old?.list.firstIndex { $0.serial == slot.serial }, index))
      }
    case "set":
      let former = old?.set.sorted() ?? []
      return own.set.sorted().enumerated().map { index, target in
        (target, position(former.firstIndex(of: target), index))
      }
    case "map":
      return own.map.sorted { $0.key < $1.key }.compactMap { key, entry in
        entry.target.map { ($0, "[\(key)]") }
      }
    case "back":
      let former = old == nil ? [] : before.origins(of: id)
      return after.origins(of: id).enumerated().map { index, origin in
        (origin[0], position(former.firstIndex(of: origin), index))
      }
    default: return []
    }
  }

  /// What became of a property, if it was set.
  private func change(of property: String, _ id: Int) -> [String] {
    guard after.touched[id]?.contains(property) == true, let old = before.isles[id],
      let new = after.isles[id]
    else { return [] }
    switch property {
    case "list": return ["list" + Self.difference(old.list, new.list)]
    case "numbers": return ["numbers" + Self.difference(old.numbers, new.numbers)]
    case "set": return ["set" + Self.difference(old.set.sorted(), new.set.sorted())]
    case "back":
      return ["back" + Self.difference(before.origins(of: id), after.origins(of: id))]
    case "map":
      let (old, new) = (old.map, new.map)
      let gone = old.keys.filter { new[$0] == nil }.sorted()
      let come = new.keys.filter { old[$0] == nil }.sorted()
      let set = new.keys.filter { old[$0] != nil && old[$0] != new[$0] }.sorted()
      return ["map -\(gone) +\(come) ~\(set)"]
    default: return [property]
    }
  }

  private static func difference<T: Hashable>(_ old: [T], _ new: [T]) -> String {
    let gone = old.indices.filter { !new.contains(old[$0]) }
    let come = new.indices.filter { !old.contains(new[$0]) }
    return " -\(gone) +\(come)"
  }

  private static func difference(_ old: [IsleModel.Slot], _ new: [IsleModel.Slot]) -> String {
    let stayed = new.indices.compactMap { index in
      old.firstIndex { $0.serial == new[index].serial }.map { (old: $0, new: index) }
    }
    let set = stayed.filter { old[$0.old].settings != new[$0.new].settings }
    return difference(old.map(\.serial), new.map(\.serial))
      + " ~\(set.map(\.old))>\(set.map(\.new))"
  }
}
