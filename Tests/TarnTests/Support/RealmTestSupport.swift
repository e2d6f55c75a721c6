import Foundation
import Testing

@testable import Tarn

enum CatMood: String, PersistableEnum { case sleepy, wild }

class Cat: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var name = ""
  @Persisted(indexed: true) var age = 0
  @Persisted var weight: Double?
  @Persisted var mood: CatMood
  @Persisted var home: Home?

  convenience init(_ id: Int, _ name: String = "", age: Int = 0, home: Home? = nil) {
    self.init()
    self.id = id
    self.name = name
    self.age = age
    self.home = home
  }
}

class Home: Object {
  @Persisted var street = ""
  @Persisted var rooms = 1
  @Persisted var next: Home?
  @Persisted(originProperty: "home") var cats: LinkingObjects<Cat>

  convenience init(_ street: String, rooms: Int = 1) {
    self.init()
    self.street = street
    self.rooms = rooms
  }
}

class Stray: Object {
  @Persisted(primaryKey: true) var _id: ObjectId
  @Persisted var tag: String?
}

/// A file in a folder of its own, gone with this.
final class Shelter {
  let folder: String
  var durability = Realm.Configuration.Durability.relaxed
  /// Classes besides those of every shelter.
  var moreTypes: [ObjectBase.Type] = []

  init(within parent: String = NSTemporaryDirectory()) throws {
    folder = parent + "/tarn-test-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  var configuration: Realm.Configuration {
    var configuration = Self.configuration(in: folder)
    configuration.durability = durability
    configuration.objectTypes! += moreTypes
    return configuration
  }

  static func configuration(in folder: String) -> Realm.Configuration {
    Realm.Configuration(
      fileURL: URL(fileURLWithPath: folder + "/cats.realm"),
      objectTypes: [Cat.self, Home.self, Stray.self], durability: .relaxed)
  }

  /// Another instance: each has a scheduler of its own, as if it were in another process.
  func open() throws -> Instance { try Instance(configuration, self) }

  /// An instance with cats of the ids 0..<count, aged ten times their ids.
  func open(cats count: Int) throws -> Instance {
    let instance = try open()
    try instance.realm.write {
      for id in 0..<count { instance.realm.add(Cat(id, "cat \(id)", age: 10 * id)) }
    }
    return instance
  }
}

/// An instance and its turns.
struct Instance {
  let realm: Realm
  let scheduler = ManualScheduler()
  private let shelter: Shelter?

  init(_ configuration: Realm.Configuration, _ shelter: Shelter? = nil) throws {
    self.shelter = shelter
    realm = try Realm(configuration: configuration, scheduler: scheduler)
  }

  /// As another process opens what is in a shelter of this one.
  init(catsIn folder: String) throws { try self.init(Shelter.configuration(in: folder)) }

  var cats: Results<Cat> { realm.objects(Cat.self) }
  func cat(_ id: Int) -> Cat? { realm.object(ofType: Cat.self, forPrimaryKey: id) }
  func write(_ block: () throws -> Void) throws { try realm.write(block) }
  func add(_ id: Int, age: Int = 0) throws { try write { realm.add(Cat(id, age: age)) } }

  /// Takes turns until nothing is left to do.
  func pump() {
    while scheduler.pump() {}
  }
}

/// What an observer was told, as text and as a mirror that follows the index changes.
final class CatRecorder {
  private(set) var calls: [String] = []
  private(set) var mirror: [Int] = []
  private(set) var problems: [String] = []
  /// What each cat showed when it was last told of.
  private var shown: [Int: String] = [:]
  /// False where a callback of the test writes, so that later ones read a newer state.
  var checksContents = true
  var onCall: (Results<Cat>) -> Void = { _ in }
  var token: NotificationToken?

  init() {}
  init(_ cats: Results<Cat>) { observe(cats) }

  func observe(_ cats: Results<Cat>) {
    token = cats.observe { [unowned self] in record($0) }
  }

  func record(_ change: RealmCollectionChange<Results<Cat>>) {
    switch change {
    case .initial(let cats):
      calls.append("initial \(cats.count)")
      mirror = cats.map(\.id)
      remember(cats)
      onCall(cats)
    case .update(let cats, let deletions, let insertions, let modifications):
      calls.append("-\(deletions) +\(insertions) ~\(modifications)")
      if checksContents { follow(cats, deletions, insertions, modifications) }
      onCall(cats)
    case .error(let error): calls.append("error \(error)")
    }
  }

  private func text(_ cat: Cat) -> String {
    "\(cat.name) \(cat.age) \(cat.weight ?? -1) \(cat.home?.street ?? "-") \(cat.home?.rooms ?? 0)"
  }

  private func remember(_ cats: Results<Cat>) {
    shown = Dictionary(cats.map { ($0.id, self.text($0)) }) { first, _ in first }
  }

  private func follow(
    _ cats: Results<Cat>, _ deletions: [Int], _ insertions: [Int], _ modifications: [Int]
  ) {
    func check(_ isRight: Bool, _ problem: String) {
      if !isRight { problems.append("\(problem) in call \(calls.count): \(calls.last!)") }
    }
    for indices in [deletions, insertions, modifications] {
      check(zip(indices, indices.dropFirst()).allSatisfy { $0 < $1 }, "not ascending")
    }
    check(Set(deletions).isDisjoint(with: modifications), "deleted and modified")
    check(!deletions.isEmpty || !insertions.isEmpty || !modifications.isEmpty, "nothing told")
    let old = mirror
    let new: [Int] = cats.map(\.id)
    check((deletions + modifications).allSatisfy(old.indices.contains), "old index out of bounds")
    check(insertions.allSatisfy(new.indices.contains), "new index out of bounds")
    guard problems.isEmpty else { return }
    for index in deletions.reversed() { mirror.remove(at: index) }
    for index in insertions { mirror.insert(new[index], at: min(index, mirror.count)) }
    check(mirror == new, "replay gives \(mirror), not \(new)")
    let told = Set(modifications.map { old[$0] })
    let removed = Set(deletions.map { old[$0] })
    for cat in cats where old.contains(cat.id) && !removed.contains(cat.id) {
      check(told.contains(cat.id) || shown[cat.id] == text(cat), "cat \(cat.id) untold")
    }
    remember(cats)
  }
}
