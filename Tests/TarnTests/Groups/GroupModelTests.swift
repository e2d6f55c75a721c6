import Foundation
import TestSupport
import Testing

@testable import Tarn

/// Random writes through three instances with observers of many groups: what is shown is what plain
/// Swift makes of the rows, and each difference, applied to an array, leads there.
struct GroupModelTests {
  @Test(arguments: Seeds.of(1...8))
  func randomChanges(seed: Int) throws {
    var run = try GroupRun(seed: UInt64(seed))
    for _ in 0..<200 { try run.step() }
    run.finish()
  }

  /// The same where nearly every step and first evaluation goes over the worker.
  @Test(arguments: Seeds.of(1...5))
  func withAWorker(seed: Int) throws {
    var run = try GroupRun(seed: UInt64(100 + seed), usesWorker: true)
    for _ in 0..<100 { try run.step() }
    run.finish()
  }
}

/// Groups of one kind, observed or not.
private protocol Grouped {
  func observe()
  func stop() -> [String]
  func check(_ when: String)
}

private final class GroupView<Key: _Persistable & Hashable>: Grouped {
  private let name: String
  private let rows: () -> [Purse]
  private let groups: GroupedResults<Key, PurseValues>
  private let key: (Purse) -> Key
  private let rank: (Key) -> KeyRank
  private var mirror: [GroupedResults<Key, PurseValues>.Group] = []
  private var problems: [String] = []
  private var token: NotificationToken?

  init<C: RealmCollection>(
    _ name: String, _ rows: C, _ keyPath: KeyPath<Purse, Key>, _ rank: @escaping (Key) -> KeyRank
  ) where C.Element == Purse {
    self.name = name
    self.rows = { Array(rows) }
    groups = rows.groupedWithAll(by: keyPath)
    key = { $0[keyPath: keyPath] }
    self.rank = rank
  }

  private func line(_ group: GroupedResults<Key, PurseValues>.Group) -> String {
    "\(rank(group.key)) \(group.count): \(text(group.values))"
  }

  private func expected() -> [String] {
    Dictionary(grouping: rows()) { rank(key($0)) }.sorted { $0.key < $1.key }.map {
      "\($0.key) \($0.value.count): \(text(plainValues($0.value)))"
    }
  }

  func observe() {
    token = groups.observeChanges { [unowned self] change in
      let old = mirror.map(line)
      change.apply(to: &mirror)
      guard case .update(let shown, let delta) = change else { return }
      if mirror.map(line) != shown.map(line) {
        problems.append("\(name): \(mirror.map(line)), not \(shown.map(line))")
      }
      for (from, to) in zip(delta.modifications, delta.modificationsNew)
      where old[from] == line(mirror[to]) {
        problems.append("\(name): \(old[from]) did not change")
      }
    }
  }

  func stop() -> [String] {
    token?.invalidate()
    token = nil
    return problems
  }

  func check(_ when: String) {
    let (shown, expected) = (groups.map(line), expected())
    #expect(shown == expected, "\(name), \(when)")
    for group in groups {
      #expect(groups.group(for: group.key).map(line) == line(group), "\(name), \(when)")
    }
    if when == "end", token != nil { #expect(mirror.map(line) == expected, "\(name), told") }
  }
}

private final class AggregateView: Grouped {
  private let rows: Results<Purse>
  private let aggregate: LiveAggregate<PurseValues>
  private var told: String?
  private var problems: [String] = []
  private var token: NotificationToken?

  init(_ rows: Results<Purse>) {
    self.rows = rows
    aggregate = rows.aggregateOfAll()
  }

  func observe() {
    token = aggregate.observe { [unowned self] change in
      switch change {
      case .initial(let values): told = text(values)
      case .update(let old, let new):
        if text(old) != told { problems.append("old is \(text(old)), not \(told ?? "-")") }
        if text(old) == text(new) { problems.append("\(text(new)) did not change") }
        told = text(new)
      case .error(let error): problems.append("\(error)")
      }
    }
  }

  func stop() -> [String] {
    token?.invalidate()
    token = nil
    return problems
  }

  func check(_ when: String) {
    let expected = text(plainValues(Array(rows)))
    #expect(text(aggregate.value) == expected, "\(when)")
    if when == "end", token != nil { #expect(told == expected, "told") }
  }
}

private struct GroupRun {
  private let folder = TemporaryFolder()
  private let instances: [Instance]
  private let usesWorker: Bool
  private var operations: PurseOperations
  private var views: [[any Grouped]] = []

  init(seed: UInt64, usesWorker: Bool = false) throws {
    operations = PurseOperations(numbers: SeededRandom(seed: seed))
    self.usesWorker = usesWorker
    let folder = folder
    instances = try (0..<3).map { _ in try Instance.withPurses(folder) }
    if usesWorker {
      for instance in instances {
        instance.realm.useWorker(rows: 10 * operations.numbers.below(40), commits: 4)
      }
    }
    let first = instances[0]
    try first.write {
      first.realm.add(PurseBox())
      for id in 0..<20 { operations.add(id, to: first) }
    }
    for instance in instances { instance.realm.refresh() }
    views = instances.map(Self.views)
    // The third instance reads its groups now and then and observes few.
    for (instance, all) in views.enumerated() {
      for (number, view) in all.enumerated() where instance < 2 || number == 3 { view.observe() }
    }
  }

  private static func views(_ instance: Instance) -> [any Grouped] {
    let purses = instance.purses
    let some = purses.where { $0.coins > 0 && $0.shop.street != "z" }.sorted(by: \.weight)
    let chest = instance.realm.objects(PurseBox.self)[0]
    return [
      GroupView("by owner", purses, \.owner) { KeyRank($0) },
      GroupView("some by coins", some, \.coins) { KeyRank(Double($0)) },
      GroupView("by weight", purses, \.weight) { KeyRank($0) },
      GroupView("behind a link", purses, \.shop?.street) { KeyRank($0) },
      GroupView("some by metal", some, \.metal) { KeyRank($0.rawValue) },
      GroupView("by price", purses.where { $0.isOpen }, \.price) { price in
        KeyRank(price.map { Double("\($0)") ?? 0 })
      },
      GroupView("by day", purses, \.day) { KeyRank($0?.timeIntervalSince1970) },
      GroupView("by openness", purses, \.isOpen) { KeyRank($0 ? 1 : 0) },
      GroupView("by ratio", purses, \.ratio) { KeyRank(Double($0)) },
      GroupView("of a list", chest.purses, \.owner) { KeyRank($0) },
      GroupView("some of a list", chest.purses.where { $0.coins > 3 }, \.coins) {
        KeyRank(Double($0))
      },
      GroupView("of distinct ones", purses.sorted(by: \.id).distinct(by: [\.coins]), \.owner) {
        KeyRank($0)
      },
      GroupView("of a window", purses.sorted(by: \.coins).offset(1).limit(9), \.owner) {
        KeyRank($0)
      },
      GroupView("of a list's window", chest.purses.window(1..<7), \.isOpen) {
        KeyRank($0 ? 1 : 0)
      },
      AggregateView(purses), AggregateView(some), AggregateView(some.limit(4)),
    ]
  }

  mutating func step() throws {
    let index = operations.numbers.below(instances.count)
    let instance = instances[index]
    switch operations.numbers.below(12) {
    case 0...6: try write(index)
    case 7: instance.pump()
    case 8: usesWorker ? instance.settle() : instance.pump()
    case 9: instance.realm.refresh()
    case 10: check(index, "between")
    default:
      let view = operations.numbers.pick(views[index])
      #expect(view.stop() == [])
      if index < 2 || operations.numbers.chance(30) { view.observe() }
    }
  }

  private mutating func check(_ index: Int, _ when: String) {
    operations.numbers.pick(views[index]).check(when)
  }

  private mutating func write(_ index: Int) throws {
    let instance = instances[index]
    instance.realm.beginWrite()
    let most = usesWorker && operations.numbers.chance(20) ? 60 : 5
    for _ in 0...operations.numbers.below(most) {
      operations.apply(to: instance)
      if operations.numbers.chance(20) { check(index, "in a write") }
    }
    if operations.numbers.chance(12) { return instance.realm.cancelWrite() }
    try instance.realm.commitWrite()
  }

  func finish() {
    for instance in instances where !usesWorker { instance.realm.refresh() }
    for instance in instances { instance.settle() }
    for all in views {
      for view in all {
        view.check("end")
        #expect(view.stop() == [])
        view.check("unobserved")
      }
    }
  }
}
