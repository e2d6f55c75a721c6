import Tarn

/// Collections that all writers share.
class StressShelf: Object {
  @Persisted(primaryKey: true) var id = 0
  /// The number of elements of the three collections below.
  @Persisted var size = 0
  @Persisted var numbers: List<Int>
  @Persisted var tags: MutableSet<String>
  @Persisted var marks: Map<String, Int>
  /// Not counted, because deleted accounts leave it.
  @Persisted var accounts: List<StressAccount>

  static let shelves = 2
  /// Short collections are stored in their object's row, long ones in separate pages.
  private static let countMax = 150

  /// One change to one of the collections.
  func change(_ random: inout StressRandom, _ account: StressAccount) {
    switch random.below(4) {
    case 0: changeNumbers(&random)
    case 1:
      let tag = "tag \(random.below(Self.countMax))"
      if tags.contains(tag) { tags.remove(tag) } else { tags.insert(tag) }
    case 2:
      let key = "key \(random.below(Self.countMax))"
      if random.chance(30) { marks[key] = nil } else { marks[key] = random.below(1000) }
    default: changeAccounts(&random, account)
    }
    size = numbers.count + tags.count + marks.count
  }

  private func changeNumbers(_ random: inout StressRandom) {
    let count = numbers.count
    guard count > 3 else { return numbers.append(objectsIn: 0..<10) }
    switch random.below(count > Self.countMax ? 2 : 6) {
    case 0: numbers.removeSubrange(0..<random.below(count))
    case 1: numbers.remove(at: random.below(count))
    case 2: numbers.move(from: random.below(count), to: random.below(count))
    case 3: numbers[random.below(count)] = random.below(1000)
    case 4: numbers.swapAt(random.below(count), random.below(count))
    default:
      let values = (0..<random.below(40)).map { _ in random.below(1000) }
      numbers.insert(contentsOf: values, at: random.below(count + 1))
    }
  }

  private func changeAccounts(_ random: inout StressRandom, _ account: StressAccount) {
    let count = accounts.count
    if count < 20 || random.chance(40) && count < 60 {
      accounts.insert(account, at: random.below(count + 1))
    } else if random.chance(50) {
      accounts.move(from: random.below(count), to: random.below(count))
    } else {
      accounts.remove(at: random.below(count))
    }
  }
}

/// A copy of one list, set or map, built only from the changes that its observer received.
final class StressShelfMirror {
  private let name: String
  private var forgets: Bool
  private var elements: [String] = []
  private var pairs: [String: Int] = [:]
  private(set) var updates = 0

  /// - Parameter forgets: true to skip the insertions of one update, from the fifth on, which the
  ///   comparison must then detect.
  init(_ name: String, forgets: Bool = false) {
    self.name = name
    self.forgets = forgets
  }

  /// Applies a change of a list or set and compares the copy with the data; returns a mismatch.
  func apply<Elements: RealmCollection>(
    _ change: RealmCollectionChange<Elements>, _ text: (Elements.Element) -> String
  ) -> String? {
    switch change {
    case .initial(let now):
      elements = now.map(text)
    case .update(let now, let deletions, let insertions, let modifications):
      updates += 1
      let texts = now.map(text)
      guard modifications.allSatisfy({ $0 < elements.count }),
        deletions.allSatisfy({ $0 < elements.count })
      else { return "\(name): positions \(deletions) \(modifications) of \(elements.count)" }
      var replayed = elements.map { (text: $0, isChanged: false) }
      for index in modifications { replayed[index].isChanged = true }
      for index in deletions.reversed() { replayed.remove(at: index) }
      let isForgotten = forgets && updates >= 5 && !insertions.isEmpty
      if isForgotten { forgets = false }
      for index in insertions where !isForgotten {
        guard index <= replayed.count, index < texts.count else {
          return "\(name): a gap before the insertion at \(index)"
        }
        replayed.insert((texts[index], false), at: index)
      }
      guard replayed.count == texts.count else {
        return "\(name): \(texts.count) elements, but \(replayed.count) by the changes"
      }
      elements = replayed.enumerated().map { $1.isChanged ? texts[$0] : $1.text }
      guard elements == texts else {
        return "\(name): \(texts), but \(elements) by the changes"
      }
    case .error(let error): return "\(name) ended: \(error)"
    }
    return nil
  }

  /// The same for a map.
  func apply(_ change: RealmMapChange<Map<String, Int>>) -> String? {
    func content(_ map: Map<String, Int>) -> [String: Int] {
      Dictionary(uniqueKeysWithValues: map.asKeyValueSequence().map { ($0.key, $0.value) })
    }
    switch change {
    case .initial(let now):
      pairs = content(now)
    case .update(let now, let deletions, let insertions, let modifications):
      updates += 1
      let shown = content(now)
      for key in deletions where pairs.removeValue(forKey: key) == nil {
        return "\(name): \(key) was deleted, but did not exist"
      }
      for key in insertions where pairs.updateValue(shown[key] ?? -1, forKey: key) != nil {
        return "\(name): \(key) was inserted, but existed"
      }
      for key in modifications where pairs.updateValue(shown[key] ?? -1, forKey: key) == nil {
        return "\(name): \(key) was modified, but did not exist"
      }
      if pairs != shown { return "\(name): \(shown), but \(pairs) by the changes" }
    case .error(let error): return "\(name) ended: \(error)"
    }
    return nil
  }
}
