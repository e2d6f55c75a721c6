import Foundation
import TestSupport
import Testing

@testable import Tarn

/// Random writes through two instances of one file, each with observers of many queries: whatever
/// they are told must lead from what they showed before to what they show now.
struct CollectionModelTests {
  @Test(arguments: Seeds.of(1...12))
  func whatObserversAreToldLeadsToWhatTheyShow(seed: Int) throws {
    var run = try ModelWrites(seed: UInt64(seed))
    for _ in 0..<120 { try run.step() }
    try run.finish()
  }

  /// Nearly every step and first evaluation goes over the worker, at whatever moment that is done.
  @Test(arguments: Seeds.of(1...12))
  func withAWorker(seed: Int) throws {
    var run = try ModelWrites(seed: UInt64(seed), usesWorker: true)
    for _ in 0..<120 { try run.step() }
    try run.finish()
  }
}

private struct ModelWrites {
  private typealias CatQuery = @Sendable (Results<Cat>) -> Results<Cat>

  private static let queries: [CatQuery] = [
    { $0 },
    { $0.where { $0.age > 40 } },
    { $0.sorted(by: \.name) },
    { $0.where { $0.age > 20 && $0.age < 80 }.sorted(by: \.age, ascending: false) },
    { $0.where { $0.home.rooms > 2 } },
    { $0.sorted(byKeyPath: "home.street") },
    { $0.where { $0.name.starts(with: "a") || $0.weight == nil }.sorted(by: ["age", "name"]) },
    {
      $0.where { $0.home != nil }.where { $0.age != 7 }
        .sorted(by: ["home.rooms", SortDescriptor(keyPath: "name", ascending: false)])
    },
    { $0.window(3..<7) },
    { $0.sorted(by: \.name).limit(5) },
    { $0.where { $0.age > 20 }.sorted(by: ["age", "name"]).offset(2).limit(6) },
    { $0.sorted(by: \.age).distinct(by: ["name"]).sorted(by: \.name).window(1...3) },
    { $0.sorted(byKeyPath: "home.street").offset(4) },
  ]

  private let instances: [Instance]
  private let usesWorker: Bool
  private var numbers: SeededRandom
  private var recorders: [(position: Int, query: Int, recorder: CatRecorder)] = []

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
    for instance in instances.indices {
      for query in Self.queries.indices { observe(instance, query) }
    }
  }

  private mutating func observe(_ instance: Int, _ query: Int) {
    recorders.append((instance, query, CatRecorder(Self.queries[query](instances[instance].cats))))
  }

  private mutating func randomName() -> String {
    ["a", "ab", "b", "c", "", "zz"][numbers.below(6)]
  }

  private mutating func randomCat(_ id: Int, _ instance: Instance) -> Cat {
    let cat = Cat(id, randomName(), age: numbers.below(100))
    if numbers.chance(50) { cat.weight = Double(numbers.below(5)) }
    if numbers.chance(60) { cat.home = randomHome(instance) }
    return cat
  }

  private mutating func randomHome(_ instance: Instance) -> Home? {
    let homes = instance.realm.objects(Home.self)
    return homes.isEmpty ? nil : homes[numbers.below(homes.count)]
  }

  /// A write of one to five changes, or turns.
  mutating func step() throws {
    let instance = instances[numbers.below(instances.count)]
    switch numbers.below(10) {
    case 0...5: try write(instance)
    case 6: instance.pump()
    case 7: usesWorker ? instance.settle() : instance.pump()
    case 8: instance.realm.refresh()
    default:
      let index = numbers.below(recorders.count)
      check(recorders[index].recorder)
      let (where_, query, recorder) = recorders.remove(at: index)
      recorder.token?.invalidate()
      observe(where_, query)
    }
  }

  private mutating func write(_ instance: Instance) throws {
    instance.realm.beginWrite()
    let most = usesWorker && numbers.chance(20) ? 60 : 5
    for _ in 0...numbers.below(most) { change(instance) }
    if numbers.chance(12) { return instance.realm.cancelWrite() }
    try instance.realm.commitWrite()
  }

  private mutating func change(_ instance: Instance) {
    let cats = instance.cats
    let cat = cats.isEmpty ? nil : cats[numbers.below(cats.count)]
    switch numbers.below(100) {
    case 0..<20:
      let id = numbers.below(60)
      if instance.cat(id) == nil { instance.realm.add(randomCat(id, instance)) }
    case 20..<32: if let cat { instance.realm.delete(cat) }
    case 32..<47: cat?.age = numbers.below(100)
    case 47..<60: cat?.name = randomName()
    case 60..<66: cat?.weight = numbers.chance(50) ? nil : 2
    case 66..<72: cat.map { $0.age = $0.age }
    case 72..<82: cat?.home = numbers.chance(20) ? nil : randomHome(instance)
    case 82..<90: randomHome(instance)?.rooms = numbers.below(5)
    case 90..<94: randomHome(instance)?.street = randomName()
    case 94..<96: instance.realm.add(Home(randomName()))
    case 96..<98: if let home = randomHome(instance) { instance.realm.delete(home) }
    case 98: instance.realm.delete(cats.where { $0.age > 70 })
    default: if numbers.chance(30) { instance.realm.delete(cats) }
    }
  }

  private func check(_ recorder: CatRecorder) {
    #expect(recorder.problems == [])
  }

  func finish() throws {
    for instance in instances where !usesWorker { instance.realm.refresh() }
    for instance in instances { instance.settle() }
    for (instance, query, recorder) in recorders {
      check(recorder)
      let cats = Self.queries[query](instances[instance].cats)
      #expect(recorder.mirror == cats.map(\.id), "query \(query)")
    }
    // A fresh instance evaluates from nothing.
    let fresh = try Instance(instances[0].realm.configuration)
    for query in Self.queries {
      #expect(query(fresh.cats).map(\.id) == query(instances[1].cats).map(\.id))
    }
    for recorder in recorders { recorder.recorder.token?.invalidate() }
  }
}
