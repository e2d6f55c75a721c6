import Tarn

/// The items of one writer. Which items there are, and their values, follow from the writer's
/// number and the number of steps: so every process can verify every version.
class StressStock: Object {
  @Persisted(primaryKey: true) var id = 0
  @Persisted var steps = 0
  @Persisted var items: List<StressItem>
}

/// The items that a stock must have.
struct StockModel {
  struct Item: Equatable, Codable {
    var stamp: Int
    var code: Int
    /// The id of the item that it links to.
    var friend: Int?
  }

  /// One change of a step.
  enum Change {
    /// Sets all values of an item, or adds it.
    case put(Int)
    case delete(Int)
    case exchangeCodes(Int, Int)
    case clear
  }

  private static let itemsMax = 12
  private static let codesPerStock = 1 << 40

  let owner: Int
  private(set) var steps = 0
  private(set) var items: [Int: Item] = [:]

  init(owner: Int) { self.owner = owner }

  /// Goes to that number of steps; from the beginning, if that is fewer.
  mutating func go(to steps: Int) {
    if steps < self.steps { self = StockModel(owner: owner) }
    while self.steps < steps {
      for change in begin() { apply(change) }
    }
  }

  /// Begins the next step; returns its changes, to be applied in this order.
  mutating func begin() -> [Change] {
    steps += 1
    if steps % 97 == 0 { return [.clear] }
    var random = self.random
    func anyID() -> Int { owner * 100 + random.below(Self.itemsMax) }
    return (0...random.below(3)).map { _ in
      switch random.below(10) {
      case 0...5: .put(anyID())
      case 6, 7: .delete(anyID())
      default: .exchangeCodes(anyID(), anyID())
      }
    }
  }

  private var random: StressRandom { StressRandom(UInt64(owner) << 40 | UInt64(steps)) }

  mutating func apply(_ change: Change) {
    switch change {
    case .put(let id):
      let code = items[id]?.code ?? owner * Self.codesPerStock + steps * Self.itemsMax + id % 100
      items[id] = Item(stamp: steps, code: code, friend: friend(of: id))
    case .delete(let id):
      guard items.removeValue(forKey: id) != nil else { return }
      for (other, item) in items where item.friend == id { items[other]?.friend = nil }
    case .exchangeCodes(let one, let other):
      guard let first = items[one], let second = items[other] else { return }
      items[one]?.code = second.code
      items[other]?.code = first.code
    case .clear: items = [:]
    }
  }

  /// The item that one links to after this step; nil for none.
  private func friend(of id: Int) -> Int? {
    let others = items.keys.sorted()
    var random = StressRandom(UInt64(id) << 40 | UInt64(steps))
    return others.isEmpty || random.chance(30) ? nil : others[random.below(others.count)]
  }
}

extension StockModel {
  /// Makes one step of the stock in an open write. Restores itself if it is not at the stock's
  /// number of steps, as after a write that failed.
  mutating func step(_ realm: Realm) {
    let stock =
      realm.object(ofType: StressStock.self, forPrimaryKey: owner)
      ?? realm.create(StressStock.self, value: ["id": owner])
    go(to: stock.steps)
    for change in begin() {
      apply(change)
      make(change, stock, realm)
    }
    stock.steps = steps
  }

  /// Makes a change that was applied.
  private func make(_ change: Change, _ stock: StressStock, _ realm: Realm) {
    func item(_ id: Int) -> StressItem? {
      realm.object(ofType: StressItem.self, forPrimaryKey: id)
    }
    switch change {
    case .put(let id):
      guard let wanted = items[id] else { return }
      let isNew = item(id) == nil
      var values = StressContent.values(id, stamp: steps)
      values["code"] = wanted.code
      let made = realm.create(
        StressItem.self, value: values, update: steps % 2 == 0 ? .modified : .all)
      made.friend = wanted.friend.flatMap(item)
      if isNew { stock.items.append(made) }
    case .delete(let id): if let item = item(id) { realm.delete(item) }
    case .exchangeCodes(let one, let other):
      guard let first = item(one), let second = item(other) else { return }
      (first.code, second.code) = (second.code, first.code)
    case .clear: realm.delete(stock.items)
    }
  }
}

/// Verifies the stocks of a file against the model, version by version.
final class StressStockCheck {
  private var models: [Int: StockModel] = [:]
  /// The items whose values were compared, by id.
  private var compared: [Int: Int] = [:]
  private var random: StressRandom

  init(seed: UInt64) { random = StressRandom(seed) }

  /// A mismatch in the data of `realm`; nil without one.
  func problem(_ realm: Realm) -> String? {
    var wanted: [Int: StockModel.Item] = [:]
    for stock in realm.objects(StressStock.self) {
      models[stock.id, default: StockModel(owner: stock.id)].go(to: stock.steps)
      let items = models[stock.id]?.items ?? [:]
      if Set(stock.items.map(\.id)) != Set(items.keys) || stock.items.count != items.count {
        return "stock \(stock.id) at step \(stock.steps) lists \(stock.items.map(\.id)), not "
          + "\(items.keys.sorted())"
      }
      wanted.merge(items) { $1 }
    }
    let all = realm.objects(StressItem.self)
    if all.count != wanted.count { return "there are \(all.count) items, not \(wanted.count)" }
    let always = wanted.isEmpty ? 0 : random.below(wanted.count)
    for (index, item) in all.enumerated() {
      if let problem = problem(item, wanted[item.id], comparesValues: index == always) {
        return "item \(item.id): \(problem)"
      }
    }
    compared = compared.filter { wanted[$0.key] != nil }
    return indexProblem(all, wanted)
  }

  private func problem(
    _ item: StressItem, _ wanted: StockModel.Item?, comparesValues: Bool
  ) -> String? {
    guard let wanted else { return "it was deleted" }
    let found = StockModel.Item(stamp: item.stamp, code: item.code, friend: item.friend?.id)
    if found != wanted { return "\(found), not \(wanted)" }
    guard comparesValues || compared[item.id] != item.stamp else { return nil }
    compared[item.id] = item.stamp
    return StressContent(item).difference(from: .expected(item.id, stamp: item.stamp))
  }

  /// Questions that indexes answer, and backlinks.
  private func indexProblem(
    _ all: Results<StressItem>, _ wanted: [Int: StockModel.Item]
  ) -> String? {
    for (id, item) in wanted {
      let code = item.code
      let found = Array(all.where { $0.code == code }.map(\.id))
      if found != [id] { return "the index finds \(found) by code \(code), not \(id)" }
    }
    guard let (id, item) = wanted.randomElement(using: &random) else { return nil }
    let shade = item.stamp % StressItem.shades
    let found = all.where { $0.shade == shade }.count
    let right = wanted.values.count { $0.stamp % StressItem.shades == shade }
    if found != right { return "the index finds \(found) items with shade \(shade), not \(right)" }
    let friends = Set(all.where { $0.id == id }.first?.friends.map(\.id) ?? [])
    let linking = Set(wanted.filter { $0.value.friend == id }.keys)
    if friends != linking { return "backlinks of \(id): \(friends), not \(linking)" }
    return nil
  }
}
