import Foundation
import TestSupport
import Testing

@testable import Tarn

/// Random writes through three instances with observers of many sections: each difference leads
/// from what was shown to what is shown, and that is what grouping an array of the rows gives.
struct SectionModelTests {
  @Test(arguments: Seeds.of(1...10))
  func randomChanges(seed: Int) throws {
    var run = try SectionRun(seed: UInt64(seed))
    for _ in 0..<250 { try run.step() }
    run.finish()
  }

  /// The same where nearly every step and first evaluation goes over the worker.
  @Test(arguments: Seeds.of(1...6))
  func withAWorker(seed: Int) throws {
    var run = try SectionRun(seed: UInt64(100 + seed), usesWorker: true)
    for _ in 0..<120 { try run.step() }
    run.finish()
  }
}

extension Cat {
  fileprivate var text: String {
    let position = "\(home?.street ?? "-") \(home?.rooms ?? 0)"
    return "\(id) \(name) \(age) \(weight.map { "\($0)" } ?? "-") \(position)"
  }
}

/// Sections of one kind, observed or not.
private protocol Sectioned {
  func observe()
  func stop() -> [String]
  func check(_ when: String)
}

private final class SectionView<Key: _Persistable & Hashable>: Sectioned {
  let sections: SectionedResults<Key, Cat>
  private let name: String
  private let key: (Cat) -> Key
  private var recorder: SectionRecorder<Key, Cat>?

  init(_ name: String, _ sections: SectionedResults<Key, Cat>, _ key: @escaping (Cat) -> Key) {
    self.name = name
    self.sections = sections
    self.key = key
  }

  func observe() { recorder = SectionRecorder(sections) { $0.text } }

  func stop() -> [String] {
    defer { recorder = nil }
    recorder?.token?.invalidate()
    return recorder?.problems ?? []
  }

  func check(_ when: String) {
    let expected = grouped(Array(sections.results), key) { $0.text }
    let shown = sections.map { (key: SectionKey($0.key), rows: $0.map(\.text)) }
    let isRight =
      shown.map(\.key) == expected.map(\.key) && shown.map(\.rows) == expected.map(\.rows)
    #expect(isRight, "\(name), \(when): \(shown), not \(expected)")
    let byNumber = sections.indices.map { number in
      sections[number].indices.map { sections[IndexPath(item: $0, section: number)].text }
    }
    #expect(byNumber == expected.map(\.rows), "\(name), \(when)")
    if when == "end", let mirror = recorder?.mirror {
      let isRight = mirror.map(\.key) == expected.map(\.key)
      #expect(isRight, "\(name), told")
      #expect(mirror.map(\.rows) == expected.map(\.rows), "\(name), told")
    }
  }
}

private struct SectionRun {
  private let instances: [Instance]
  private let usesWorker: Bool
  private var numbers: SeededRandom
  private var views: [[any Sectioned]] = []

  init(seed: UInt64, usesWorker: Bool = false) throws {
    numbers = SeededRandom(seed: seed)
    self.usesWorker = usesWorker
    let shelter = try Shelter()
    instances = [try shelter.open(), try shelter.open(), try shelter.open()]
    if usesWorker {
      for instance in instances {
        instance.realm.useWorker(rows: 10 * numbers.below(40), commits: 4)
      }
    }
    try instances[0].write {
      for street in ["b", "a", "c"] {
        instances[0].realm.add(Home(street, rooms: numbers.below(5)))
      }
      for id in 0..<20 { instances[0].realm.add(randomCat(id, instances[0])) }
    }
    instances[1].realm.refresh()
    instances[2].realm.refresh()
    views = instances.map { Self.views($0.cats) }
    // The third instance reads its sections now and then and observes few.
    for (instance, all) in views.enumerated() {
      for (number, view) in all.enumerated() where instance < 2 || number == 3 { view.observe() }
    }
  }

  private static func views(_ cats: Results<Cat>) -> [any Sectioned] {
    let down = SortDescriptor(keyPath: \Cat.name, ascending: false)
    let some = cats.where { $0.age > 20 && $0.age < 80 }
    return [
      SectionView("by name", cats.sectioned(by: \.name)) { $0.name },
      SectionView("down", some.sectioned(by: \.name, sortDescriptors: [down, "age"])) { $0.name },
      SectionView("behind a link", cats.sectioned(by: \.home?.rooms)) { $0.home?.rooms },
      SectionView("by tens", cats.sectioned(by: { $0.age / 10 }, sortDescriptors: ["name"])) {
        $0.age / 10
      },
      SectionView("by weight", cats.sectioned(by: \.weight, ascending: false)) { $0.weight },
      SectionView(
        "by street",
        some.sectioned(by: { $0.home?.street ?? "none" }, sortDescriptors: ["age", "name"])
      ) { $0.home?.street ?? "none" },
      SectionView(
        "of backlinks",
        AnyRealmCollection(cats).where { $0.home.rooms > 1 }
          .sectioned(by: { $0.mood }, sortDescriptors: ["home.street", down])
      ) { $0.mood },
    ]
  }

  private mutating func randomName() -> String {
    ["a", "ab", "b", "c", "", "zz"][numbers.below(6)]
  }

  private mutating func randomWeight() -> Double? {
    [nil, 0, -0.0, .nan, 2, 3][numbers.below(6)]
  }

  private mutating func randomCat(_ id: Int, _ instance: Instance) -> Cat {
    let cat = Cat(id, randomName(), age: numbers.below(100))
    cat.weight = randomWeight()
    cat.mood = numbers.chance(40) ? .wild : .sleepy
    if numbers.chance(60) { cat.home = randomHome(instance) }
    return cat
  }

  private mutating func randomHome(_ instance: Instance) -> Home? {
    let homes = instance.realm.objects(Home.self)
    return homes.isEmpty ? nil : homes[numbers.below(homes.count)]
  }

  mutating func step() throws {
    let index = numbers.below(instances.count)
    let instance = instances[index]
    switch numbers.below(12) {
    case 0...6: try write(index)
    case 7: instance.pump()
    case 8: usesWorker ? instance.settle() : instance.pump()
    case 9: instance.realm.refresh()
    case 10: check(index, "between")
    default:
      let view = numbers.pick(views[index])
      #expect(view.stop() == [])
      if index < 2 || numbers.chance(30) { view.observe() }
    }
  }

  private mutating func check(_ index: Int, _ when: String) {
    numbers.pick(views[index]).check(when)
  }

  private mutating func write(_ index: Int) throws {
    let instance = instances[index]
    instance.realm.beginWrite()
    let most = usesWorker && numbers.chance(20) ? 60 : 5
    for _ in 0...numbers.below(most) {
      change(instance)
      if numbers.chance(20) { check(index, "in a write") }
    }
    if numbers.chance(12) { return instance.realm.cancelWrite() }
    try instance.realm.commitWrite()
  }

  private mutating func change(_ instance: Instance) {
    let cats = instance.cats
    let cat = cats.isEmpty ? nil : cats[numbers.below(cats.count)]
    switch numbers.below(100) {
    case 0..<20:
      let id = numbers.below(50)
      if instance.cat(id) == nil { instance.realm.add(randomCat(id, instance)) }
    case 20..<32: if let cat { instance.realm.delete(cat) }
    case 32..<45: cat?.age = numbers.below(100)
    case 45..<58: cat?.name = randomName()
    case 58..<64: cat?.weight = randomWeight()
    case 64..<68: cat?.mood = numbers.chance(50) ? .wild : .sleepy
    case 68..<72: cat.map { $0.age = $0.age }
    case 72..<82: cat?.home = numbers.chance(20) ? nil : randomHome(instance)
    case 82..<90: randomHome(instance)?.rooms = numbers.below(5)
    case 90..<94: randomHome(instance)?.street = randomName()
    case 94..<96: instance.realm.add(Home(randomName()))
    case 96..<98: if let home = randomHome(instance) { instance.realm.delete(home) }
    case 98: instance.realm.delete(cats.where { $0.age > 70 })
    default: if numbers.chance(30) { instance.realm.delete(cats) }
    }
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
