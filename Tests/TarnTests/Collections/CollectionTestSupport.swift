import Foundation
import Testing

@testable import Tarn

/// One of each kind of collection.
class Chest: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var numbers: List<Int>
  @Persisted var words: List<String?>
  @Persisted var tags: MutableSet<String>
  @Persisted var sizes: MutableSet<Double?>
  @Persisted var scores: Map<String, Int>
  @Persisted var notes: Map<String, String?>
  @Persisted var coins: List<Coin>
  @Persisted var gems: MutableSet<Coin>
  @Persisted var named: Map<String, Coin?>
  @Persisted var moods: List<CatMood>
  @Persisted var inner: List<Chest>

  convenience init(_ id: Int) {
    self.init()
    self.id = id
  }
}

class Coin: Object {
  @Persisted var value = 0
  @Persisted var weight: Double?
  @Persisted(originProperty: "coins") var chests: LinkingObjects<Chest>
  @Persisted(originProperty: "gems") var gemChests: LinkingObjects<Chest>
  @Persisted(originProperty: "named") var namedChests: LinkingObjects<Chest>

  convenience init(_ value: Int) {
    self.init()
    self.value = value
  }
}

/// All types of elements.
class Elements: Object {
  @Persisted var ints: List<Int>
  @Persisted var bytes: List<Int8>
  @Persisted var bools: List<Bool>
  @Persisted var floats: List<Float>
  @Persisted var doubles: List<Double>
  @Persisted var strings: List<String>
  @Persisted var data: List<Data>
  @Persisted var dates: List<Date>
  @Persisted var ids: List<ObjectId>
  @Persisted var uuids: List<UUID>
  @Persisted var moods: List<CatMood>
  @Persisted var optionalInts: List<Int?>
  @Persisted var optionalData: List<Data?>
  @Persisted var optionalMoods: List<CatMood?>
  @Persisted var intSet: MutableSet<Int?>
  @Persisted var dateSet: MutableSet<Date>
  @Persisted var dataSet: MutableSet<Data>
  @Persisted var idSet: MutableSet<ObjectId>
  @Persisted var floatMap: Map<String, Float?>
  @Persisted var uuidMap: Map<String, UUID>
}

/// Where the collections of a test are.
enum CollectionHome: CaseIterable, CustomTestStringConvertible {
  case memory, realm
  var testDescription: String { self == .memory ? "unmanaged" : "managed" }
}

/// An object whose collections a test uses, in memory or in a Realm with an open write.
final class Treasury {
  let chest: Chest
  let shelter: Shelter
  let instance: Instance?

  init(_ home: CollectionHome) throws {
    shelter = try Shelter()
    chest = Chest(1)
    guard home == .realm else {
      instance = nil
      return
    }
    let opened = try shelter.openChests()
    instance = opened
    opened.realm.beginWrite()
    opened.realm.add(chest)
  }

  deinit {
    if let realm = instance?.realm, realm.isInWriteTransaction { realm.cancelWrite() }
  }

  /// Commits and goes on, so that what follows is read from the file.
  func commit() throws {
    guard let instance else { return }
    try instance.realm.commitWrite()
    instance.realm.beginWrite()
  }

  /// Runs checks in the write, and again after it.
  func everywhere(_ check: () throws -> Void) throws {
    try check()
    guard let instance else { return }
    try instance.realm.commitWrite()
    try check()
    instance.realm.beginWrite()
  }
}

extension Shelter {
  func openChests(returnsObjects: Bool = false) throws -> Instance {
    var configuration = configuration
    configuration.returnsObjectsOfCancelledWrites = returnsObjects
    configuration.fileURL = URL(fileURLWithPath: folder + "/chests.realm")
    configuration.objectTypes = [Chest.self, Coin.self, Elements.self]
    return try Instance(configuration, self)
  }
}

extension Instance {
  var chests: Results<Chest> { realm.objects(Chest.self) }
  func chest(_ id: Int) -> Chest? { realm.object(ofType: Chest.self, forPrimaryKey: id) }
}
