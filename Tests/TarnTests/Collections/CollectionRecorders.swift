import Testing

@testable import Tarn

/// What an observer of a list or set was told, as text and as a mirror that follows the changes.
final class SequenceRecorder<C: RealmCollection> {
  private(set) var calls: [String] = []
  /// What each element showed when it was last told of.
  private(set) var mirror: [String] = []
  private(set) var problems: [String] = []
  private let text: (C.Element) -> String
  var token: NotificationToken?

  init(_ collection: C, _ text: @escaping (C.Element) -> String) {
    self.text = text
    token = collection.observe { [unowned self] in record($0) }
  }

  private func record(_ change: RealmCollectionChange<C>) {
    switch change {
    case .initial(let collection):
      calls.append("initial \(collection.count)")
      mirror = collection.map(text)
    case .update(let collection, let deletions, let insertions, let modifications):
      calls.append("-\(deletions) +\(insertions) ~\(modifications)")
      let new = collection.isInvalidated ? [] : collection.map(text)
      follow(new, deletions, insertions, modifications)
    case .error(let error): calls.append("error \(error)")
    }
  }

  private func follow(
    _ new: [String], _ deletions: [Int], _ insertions: [Int], _ modifications: [Int]
  ) {
    func check(_ isRight: Bool, _ problem: String) {
      if !isRight { problems.append("\(problem) in call \(calls.count): \(calls.last!)") }
    }
    for indices in [deletions, insertions, modifications] {
      check(zip(indices, indices.dropFirst()).allSatisfy { $0 < $1 }, "not ascending")
    }
    check(Set(deletions).isDisjoint(with: modifications), "deleted and modified")
    check(!deletions.isEmpty || !insertions.isEmpty || !modifications.isEmpty, "nothing told")
    check(
      (deletions + modifications).allSatisfy(mirror.indices.contains), "old index out of bounds")
    check(insertions.allSatisfy(new.indices.contains), "new index out of bounds")
    guard problems.isEmpty else { return }
    var slots: [String?] = mirror
    for index in modifications { slots[index] = nil }
    for index in deletions.reversed() { slots.remove(at: index) }
    for index in insertions { slots.insert(nil, at: min(index, slots.count)) }
    check(slots.count == new.count, "replay gives \(slots.count) elements, not \(new.count)")
    for (index, slot) in slots.enumerated() where index < new.count {
      check(slot == nil || slot == new[index], "element \(index) untold")
    }
    mirror = new
  }
}

/// The same of a map.
final class MapRecorder<Value: RealmCollectionValue> {
  private(set) var calls: [String] = []
  private(set) var mirror: [String: String] = [:]
  private(set) var problems: [String] = []
  private let text: (Value) -> String
  var token: NotificationToken?

  init(_ map: Map<String, Value>, _ text: @escaping (Value) -> String) {
    self.text = text
    token = map.observe { [unowned self] in record($0) }
  }

  private func contents(_ map: Map<String, Value>) -> [String: String] {
    if map.isInvalidated { return [:] }
    return Dictionary(uniqueKeysWithValues: map.map { ($0.key, text($0.value)) })
  }

  private func record(_ change: RealmMapChange<Map<String, Value>>) {
    switch change {
    case .initial(let map):
      calls.append("initial \(map.count)")
      mirror = contents(map)
    case .update(let map, let deletions, let insertions, let modifications):
      calls.append("-\(deletions) +\(insertions) ~\(modifications)")
      follow(contents(map), deletions, insertions, modifications)
    case .error(let error): calls.append("error \(error)")
    }
  }

  private func follow(
    _ new: [String: String], _ deletions: [String], _ insertions: [String],
    _ modifications: [String]
  ) {
    func check(_ isRight: Bool, _ problem: String) {
      if !isRight { problems.append("\(problem) in call \(calls.count): \(calls.last!)") }
    }
    check(deletions.allSatisfy { mirror[$0] != nil && new[$0] == nil }, "wrong deletions")
    check(insertions.allSatisfy { mirror[$0] == nil && new[$0] != nil }, "wrong insertions")
    check(modifications.allSatisfy { mirror[$0] != nil && new[$0] != nil }, "wrong modifications")
    check(!deletions.isEmpty || !insertions.isEmpty || !modifications.isEmpty, "nothing told")
    for key in deletions { mirror[key] = nil }
    for key in insertions + modifications { mirror[key] = new[key] }
    check(mirror == new, "replay gives \(mirror), not \(new)")
    mirror = new
  }
}

/// Observers of all collections of a chest.
struct ChestRecorder {
  let numbers: SequenceRecorder<List<Int>>
  let words: SequenceRecorder<AnyRealmCollection<String?>>
  let tags: SequenceRecorder<MutableSet<String>>
  let scores: MapRecorder<Int>
  let coins: SequenceRecorder<List<Coin>>
  let gems: SequenceRecorder<MutableSet<Coin>>
  let named: MapRecorder<Coin?>

  private static func text(_ coin: Coin) -> String { "\(coin.value) \(coin.weight ?? -1)" }

  init(_ chest: Chest) {
    numbers = SequenceRecorder(chest.numbers) { "\($0)" }
    words = SequenceRecorder(AnyRealmCollection(chest.words)) { $0 ?? "nil" }
    tags = SequenceRecorder(chest.tags) { $0 }
    scores = MapRecorder(chest.scores) { "\($0)" }
    coins = SequenceRecorder(chest.coins, Self.text)
    gems = SequenceRecorder(chest.gems, Self.text)
    named = MapRecorder(chest.named) { $0.map(Self.text) ?? "nil" }
  }

  var problems: [String] {
    numbers.problems + words.problems + tags.problems + scores.problems + coins.problems
      + gems.problems + named.problems
  }

  func isUpToDate(_ chest: Chest) -> Bool {
    numbers.mirror == chest.numbers.map { "\($0)" } && words.mirror.count == chest.words.count
      && tags.mirror == Array(chest.tags) && coins.mirror == chest.coins.map(Self.text)
      && gems.mirror == chest.gems.map(Self.text)
      && scores.mirror.count == chest.scores.count && named.mirror.count == chest.named.count
  }

  func end() {
    for token in [
      numbers.token, words.token, tags.token, scores.token, coins.token, gems.token, named.token,
    ] {
      token?.invalidate()
    }
  }
}
