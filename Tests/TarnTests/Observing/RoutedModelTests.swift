import Foundation
import TestSupport
import Testing

@testable import Tarn

/// Many observed queries of random conditions over few values, and random writes: whoever
/// shows something else than before has been called with the way there, and nobody else has.
struct RoutedModelTests {
  @Test(arguments: Seeds.of(1...3))
  func whoIsConcernedIsCalledAndNobodyElse(seed: Int) throws {
    var run = try RoutedRun(seed: UInt64(seed))
    for _ in 0..<25 { try run.step() }
    try run.finish()
  }

  @Test(arguments: Seeds.of(1...2))
  func withAWorker(seed: Int) throws {
    var run = try RoutedRun(seed: UInt64(seed), usesWorker: true)
    for _ in 0..<25 { try run.step() }
    try run.finish()
  }
}

/// An observed query, and what its observer knows.
private final class RoutedQuery {
  let text: String
  let cats: Results<Cat>
  private var token: NotificationToken?
  private var mirror: [Int] = []
  /// What was shown at the last call.
  private var shown: [String] = []
  /// False if a callback has written, so that others of its round read a newer state.
  var isExact = true
  var onUpdate: (RoutedQuery) -> Void = { _ in }

  init(_ text: String, _ cats: Results<Cat>) {
    self.text = text
    self.cats = cats
    token = cats.observe { [unowned self] change in
      switch change {
      case .initial(let cats):
        mirror = cats.map(\.id)
        shown = current
      case .update(let cats, let deletions, let insertions, _):
        let now = current
        #expect(now != shown || !isExact, "called in vain: \(text)")
        shown = now
        for index in deletions.reversed() { mirror.remove(at: index) }
        for index in insertions {
          mirror.insert(index < cats.count ? cats[index].id : -1, at: index)
        }
        onUpdate(self)
      case .error(let error): Issue.record("\(error)")
      }
    }
  }

  private var current: [String] {
    cats.map { cat in
      "\(cat.id) \(cat.name) \(cat.age) \(cat.weight ?? -1) \(cat.home?.street ?? "-") "
        + "\(cat.home?.rooms ?? 0)"
    }
  }

  /// Checks that all has been told.
  func check() {
    #expect(shown == current, "not called: \(text)")
    if isExact {
      #expect(mirror == cats.map(\.id), "\(text)")
    } else {
      #expect(mirror.count == cats.count, "\(text)")
      mirror = cats.map(\.id)
    }
    isExact = true
  }

  func end() { token?.invalidate() }
}

/// Groups or sections of a query, and what they showed at the last call.
private final class RoutedText {
  private let read: () -> String
  private var shown: String?
  private var token: NotificationToken?

  init(groups: Results<Cat>) {
    let groups = groups.grouped(by: \.name, .sum(of: \.age))
    read = { "\(groups)" }
    token = groups.observe { [unowned self] _ in shown = read() }
  }

  init(sections: Results<Cat>) {
    let sections = sections.sectioned(by: \.name, sortDescriptors: ["name", "id"])
    read = { "\(sections.map { section in "\(section.key): \(section.map { $0.age })" })" }
    token = sections.observe { [unowned self] _ in shown = read() }
  }

  func check() { #expect(shown == read()) }
  func end() { token?.invalidate() }
}

private struct RoutedRun {
  private let observing: Instance
  private let other: Instance
  private let usesWorker: Bool
  private var numbers: SeededRandom
  private var queries: [RoutedQuery] = []
  private var texts: [RoutedText] = []
  /// What every change sets, so that none goes unseen.
  private var serial = 0

  init(seed: UInt64, usesWorker: Bool = false) throws {
    numbers = SeededRandom(seed: seed)
    self.usesWorker = usesWorker
    let shelter = try Shelter()
    (observing, other) = (try shelter.open(), try shelter.open())
    if usesWorker { observing.realm.useWorker(rows: 10 * numbers.below(6), commits: 4) }
    other.realm.beginWrite()
    for _ in 0..<5 { changeHomes() }
    for _ in 0..<60 { addCat() }
    try other.realm.commitWrite()
    observing.pump()
    for _ in 0..<150 { observe() }
    for _ in 0..<20 {
      texts.append(RoutedText(groups: observing.cats.filter(condition(depth: 1))))
      texts.append(RoutedText(sections: observing.cats.filter(condition(depth: 1))))
    }
    settle()
  }

  private func settle() { usesWorker ? observing.settle() : observing.pump() }

  // MARK: - Queries

  private mutating func observe() {
    let condition = condition(depth: numbers.below(3))
    var (text, cats) = (condition, observing.cats.filter(condition))
    switch numbers.below(6) {
    case 0: (text, cats) = (text + " by name", cats.sorted(by: \.name))
    case 1: (text, cats) = (text + " by street", cats.sorted(byKeyPath: "home.street"))
    case 2: (text, cats) = (text + " distinct", cats.distinct(by: ["age"]))
    case 3: (text, cats) = (text + " window", cats.sorted(by: ["age", "id"]).window(1..<4))
    default: break
    }
    queries.append(RoutedQuery(text, cats))
  }

  private mutating func condition(depth: Int) -> String {
    if depth > 0 {
      let (a, b) = (condition(depth: depth - 1), condition(depth: depth - 1))
      switch numbers.below(4) {
      case 0, 1: return "(\(a) AND \(b))"
      case 2: return "(\(a) OR \(b))"
      default: return "(\(a) AND NOT (\(b)))"
      }
    }
    let (age, name) = (numbers.below(12), numbers.pick(Self.names))
    switch numbers.below(14) {
    case 0, 1: return "age == \(age)"
    case 2: return "age IN {\(age), \(numbers.below(12)), 99}"
    case 3: return "age BETWEEN {\(age), \(age + numbers.below(4))}"
    case 4: return "age > \(age)"
    case 5, 6: return "name == '\(name)'"
    case 7: return "name BEGINSWITH '\(name)'"
    case 8: return "name LIKE '\(name)*'"
    case 9: return "name CONTAINS[c] '\(name)'"
    case 10: return "home.street == '\(name)'"
    case 11: return numbers.chance(50) ? "home == nil" : "weight != nil"
    case 12: return "mood == '\(numbers.pick(["sleepy", "wild"]))'"
    default: return "name != '\(name)'"
    }
  }

  private static let names = ["a", "ab", "abc", "b", "ba", "c", "C"]

  // MARK: - Steps

  /// Some writes, then turns.
  mutating func step() throws {
    let isReacting = numbers.chance(25)
    if isReacting { react() }
    for _ in 0...numbers.below(3) {
      let instance = numbers.chance(50) ? observing : other
      instance.realm.beginWrite()
      for _ in 0...numbers.below(numbers.chance(10) ? 30 : 3) { change(instance) }
      if numbers.chance(10) {
        instance.realm.cancelWrite()
      } else {
        try instance.realm.commitWrite()
      }
      if numbers.chance(20) { observing.realm.refresh() }
    }
    settle()
    for query in queries {
      query.onUpdate = { _ in }
      query.check()
    }
    for text in texts { text.check() }
    for (added, ended) in additions {
      ended?.end()
      if let query = added.query { queries.append(query) }
    }
    additions = []
    for _ in 0..<numbers.below(8) {
      queries.remove(at: numbers.below(queries.count)).end()
      observe()
    }
    settle()
  }

  /// The first callback writes, ends an observer and begins to observe a query.
  private mutating func react() {
    let (realm, age, name) = (observing.realm, numbers.below(12), numbers.pick(Self.names))
    let all = queries
    let ended = numbers.below(queries.count)
    var ending: RoutedQuery? = queries.remove(at: ended)
    let condition = condition(depth: 1)
    let added = RoutedAddition()
    serial += 1
    let weight = Double(serial)
    for query in all {
      query.onUpdate = { _ in
        guard let old = ending, !realm.isInWriteTransaction else { return }
        ending = nil
        old.end()
        for query in all { query.isExact = false }
        try! realm.write {
          guard let cat = realm.objects(Cat.self).first else { return }
          (cat.age, cat.name, cat.weight) = (age, name, weight)
        }
        added.query = RoutedQuery(condition, realm.objects(Cat.self).filter(condition))
      }
    }
    additions.append((added, ending))
  }

  private var additions: [(added: RoutedAddition, ended: RoutedQuery?)] = []

  mutating func finish() throws {
    settle()
    for query in queries { query.end() }
    for text in texts { text.end() }
    settle()
    #expect(observing.realm.core.delivery.observers.sources.isClear)
  }

  // MARK: - Changes

  private mutating func addCat() {
    serial += 1
    let cat = Cat(serial, numbers.pick(Self.names), age: numbers.below(12))
    cat.weight = numbers.chance(20) ? nil : Double(serial)
    cat.home = other.realm.objects(Home.self).first
    other.realm.add(cat)
  }

  private mutating func changeHomes() {
    serial += 1
    other.realm.add(Home(numbers.pick(Self.names), rooms: serial))
  }

  private mutating func change(_ instance: Instance) {
    serial += 1
    let (cats, homes) = (instance.cats, instance.realm.objects(Home.self))
    let home = homes.isEmpty ? nil : homes[numbers.below(homes.count)]
    guard !cats.isEmpty, !numbers.chance(15) else {
      let cat = Cat(1_000 + serial, numbers.pick(Self.names), age: numbers.below(12))
      (cat.weight, cat.home) = (Double(serial), home)
      return instance.realm.add(cat)
    }
    let cat = cats[numbers.below(cats.count)]
    switch numbers.below(12) {
    case 0: return instance.realm.delete(cat)
    case 1, 2: cat.age = numbers.below(12)
    case 3, 4: cat.name = numbers.pick(Self.names)
    case 5: cat.home = numbers.chance(30) ? nil : home
    case 6: cat.mood = numbers.chance(50) ? .wild : .sleepy
    case 7:
      home?.rooms = serial
      return
    case 8:
      home?.rooms = serial
      home?.street = numbers.pick(Self.names)
      return
    case 9:
      if let home, numbers.chance(30) { instance.realm.delete(home) }
      return
    case 10: instance.realm.add(Home(numbers.pick(Self.names), rooms: serial))
    default: break
    }
    cat.weight = Double(serial)
  }
}

/// What a callback begins to observe.
private final class RoutedAddition {
  var query: RoutedQuery?
}
