import Foundation
import TestSupport
import Testing

@testable import Tarn

/// What the collections of a chest should hold, in the standard library's collections. Coins are
/// named by their value, which none shares with another.
struct ChestModel: Equatable {
  var numbers: [Int] = []
  var words: [String?] = []
  var tags: Set<String> = []
  var scores: [String: Int] = [:]
  var coins: [Int] = []
  var gems: Set<Int> = []
  var named: [String: Int?] = [:]

  static func order(_ texts: some Sequence<String>) -> [String] {
    texts.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }

  /// Compares, and names what differs.
  func difference(from chest: Chest) -> String? {
    if Array(chest.numbers) != numbers { return "numbers \(Array(chest.numbers)), not \(numbers)" }
    if Array(chest.words) != words { return "words \(Array(chest.words)), not \(words)" }
    if Array(chest.tags) != Self.order(tags) { return "tags \(Array(chest.tags)), not \(tags)" }
    if chest.scores.keys != Self.order(scores.keys) { return "keys \(chest.scores.keys)" }
    for (key, value) in scores where chest.scores[key] != value { return "score \(key)" }
    if chest.coins.map(\.value) != coins {
      return "coins \(chest.coins.map(\.value)), not \(coins)"
    }
    if Set(chest.gems.map(\.value)) != gems || chest.gems.count != gems.count {
      return "gems \(chest.gems.map(\.value)), not \(gems)"
    }
    if chest.named.keys != Self.order(named.keys) { return "named \(chest.named.keys)" }
    for (key, value) in named {
      guard let found = chest.named[key], found?.value == value else { return "named \(key)" }
    }
    return nil
  }

  mutating func delete(coin: Int) {
    coins.removeAll { $0 == coin }
    gems.remove(coin)
    for (key, value) in named where value == coin { named.updateValue(nil, forKey: key) }
  }
}

/// Random operations on the collections of a chest and on their model.
struct ChestOperations {
  var numbers: SeededRandom
  var model = ChestModel()

  init(seed: UInt64) { numbers = SeededRandom(seed: seed) }

  private mutating func text() -> String {
    let number = numbers.below(30)
    return number % 7 == 0
      ? "long" + String(repeating: "é", count: 200) + "\(number)" : "t\(number)"
  }

  /// One operation; `coins` are those that exist.
  mutating func apply(to chest: Chest, _ coins: [Coin]) {
    let coin = coins.isEmpty ? nil : coins[numbers.below(coins.count)]
    switch numbers.below(100) {
    case 0..<30: changeNumbers(chest.numbers)
    case 30..<40: changeWords(chest.words)
    case 40..<55: changeTags(chest.tags)
    case 55..<70: changeScores(chest.scores)
    case 70..<82: if let coin { changeCoins(chest.coins, coin) }
    case 82..<90: if let coin { changeGems(chest.gems, coin) }
    case 90..<96: changeNamed(chest.named, coin)
    default: assign(chest)
    }
  }

  private mutating func changeNumbers(_ list: List<Int>) {
    let count = model.numbers.count
    let position = numbers.below(count + 1)
    let value = numbers.below(1000)
    switch numbers.below(12) {
    case 0, 1:
      list.append(value)
      model.numbers.append(value)
    case 2, 3:
      list.insert(value, at: position)
      model.numbers.insert(value, at: position)
    case 4 where numbers.chance(20):
      let many = (0..<400).map { $0 * value }
      list.insert(contentsOf: many, at: position)
      model.numbers.insert(contentsOf: many, at: position)
    case 5 where count > 0:
      list.remove(at: position % count)
      model.numbers.remove(at: position % count)
    case 6 where count > 0:
      list[position % count] = value
      model.numbers[position % count] = value
    case 7 where count > 1:
      let (from, to) = (position % count, value % count)
      list.move(from: from, to: to)
      model.numbers.insert(model.numbers.remove(at: from), at: to)
    case 8 where count > 1:
      list.swapAt(position % count, value % count)
      model.numbers.swapAt(position % count, value % count)
    case 9:
      let end = min(count, position + numbers.below(40))
      list.replaceSubrange(position..<end, with: [1, value])
      model.numbers.replaceSubrange(position..<end, with: [1, value])
    case 10 where numbers.chance(15):
      list.removeAll()
      model.numbers.removeAll()
    default:
      let number = min(count, 3)
      list.removeLast(number)
      model.numbers.removeLast(number)
    }
  }

  private mutating func changeWords(_ list: List<String?>) {
    let count = model.words.count
    let position = numbers.below(count + 1)
    let value = numbers.chance(30) ? nil : text()
    if count > 0, numbers.chance(40) {
      list[position % count] = value
      model.words[position % count] = value
    } else if count > 0, numbers.chance(40) {
      list.remove(at: position % count)
      model.words.remove(at: position % count)
    } else {
      list.insert(value, at: position)
      model.words.insert(value, at: position)
    }
  }

  private mutating func changeTags(_ set: MutableSet<String>) {
    switch numbers.below(10) {
    case 0..<5:
      let value = text()
      set.insert(value)
      model.tags.insert(value)
    case 5..<8:
      let value = text()
      set.remove(value)
      model.tags.remove(value)
    case 8:
      let other = MutableSet<String>()
      other.insert(objectsIn: [text(), text(), text()])
      if numbers.chance(50) {
        set.formUnion(other)
        model.tags.formUnion(other)
      } else {
        set.subtract(other)
        model.tags.subtract(other)
      }
    default:
      // Out and in again within one write.
      let all = Array(model.tags)
      set.removeAll()
      if numbers.chance(80) { set.insert(objectsIn: all) } else { model.tags = [] }
    }
  }

  private mutating func changeScores(_ map: Map<String, Int>) {
    let key = text().replacing(".", with: "")
    switch numbers.below(10) {
    case 0..<6:
      let value = numbers.below(100)
      map[key] = value
      model.scores[key] = value
    case 6..<9:
      map[key] = nil
      model.scores[key] = nil
    default:
      let entries = model.scores
      map.removeAll()
      if numbers.chance(70) {
        map.merge(entries) { _, new in new }
      } else {
        model.scores = [:]
      }
    }
  }

  private mutating func changeCoins(_ list: List<Coin>, _ coin: Coin) {
    let count = model.coins.count
    let position = numbers.below(count + 1)
    switch numbers.below(6) {
    case 0, 1:
      list.insert(coin, at: position)
      model.coins.insert(coin.value, at: position)
    case 2 where count > 0:
      list[position % count] = coin
      model.coins[position % count] = coin.value
    case 3 where count > 0:
      list.remove(at: position % count)
      model.coins.remove(at: position % count)
    case 4 where count > 1:
      list.move(from: position % count, to: 0)
      model.coins.insert(model.coins.remove(at: position % count), at: 0)
    default:
      coin.weight = Double(numbers.below(5))
    }
  }

  private mutating func changeGems(_ set: MutableSet<Coin>, _ coin: Coin) {
    if numbers.chance(60) {
      set.insert(coin)
      model.gems.insert(coin.value)
    } else {
      set.remove(coin)
      model.gems.remove(coin.value)
    }
  }

  private mutating func changeNamed(_ map: Map<String, Coin?>, _ coin: Coin?) {
    let key = "k\(numbers.below(12))"
    if numbers.chance(70) {
      map.updateValue(coin, forKey: key)
      model.named.updateValue(coin?.value, forKey: key)
    } else {
      map.removeObject(for: key)
      model.named.removeValue(forKey: key)
    }
  }

  private mutating func assign(_ chest: Chest) {
    let list = List<Int>()
    list.append(objectsIn: 0..<numbers.below(5))
    chest.numbers = list
    model.numbers = Array(list)
    let words = chest.words
    chest.words = words
  }
}
