import Foundation
import Tarn
import TarnStore

/// An object of the feed's runs. It has few keys, so that they are deleted and added again.
class FeedThing: Object {
  @Persisted(primaryKey: true) var id = 0
  /// Distinguishes it from others that had the key.
  @Persisted var birth = 0
  @Persisted var number = 0
  @Persisted var text = ""
  @Persisted var owner: FeedOwner?
  @Persisted var marks: List<Int>
  @Persisted var place: FeedPlaceOfThing?
}

/// With a primary key that is not the object key.
class FeedOwner: Object {
  @Persisted(primaryKey: true) var name = ""
  @Persisted var birth = 0
  @Persisted var rank = 0
}

class FeedPlaceOfThing: EmbeddedObject {
  @Persisted var city = ""
}

/// The files of the feed's runs.
enum FeedFile {
  static let types: [ObjectBase.Type] = [
    FeedThing.self, FeedOwner.self, FeedPlaceOfThing.self,
  ]

  static func configuration(_ path: String) -> Realm.Configuration {
    Realm.Configuration(
      fileURL: URL(fileURLWithPath: path), objectTypes: types, durability: .relaxed)
  }

  /// A consumer's copy of an object.
  ///
  /// - Parameter properties: those whose changes the consumer receives; nil for all.
  static func text(_ values: [String: RecordedValue], only properties: Set<String>?) -> String {
    values.filter { properties?.contains($0.key) ?? true }.sorted { $0.key < $1.key }
      .map { "\($0.key)=\($0.value)" }.joined(separator: ";")
  }
}

/// One random commit after the other.
struct FeedProgram {
  private var state: UInt64

  init(seed: UInt64) { state = seed &* 0x9e37_79b9_7f4a_7c15 | 1 }

  mutating func below(_ limit: Int) -> Int {
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return Int(state % UInt64(limit))
  }

  mutating func commit(_ realm: Realm) throws {
    let steps = 1 + below(4)
    try realm.write {
      for _ in 0..<steps { step(realm) }
    }
  }

  private mutating func step(_ realm: Realm) {
    let id = below(10)
    let thing = realm.object(ofType: FeedThing.self, forPrimaryKey: id)
    switch (thing, below(10)) {
    case (nil, _): create(id, realm)
    case (let thing?, 0): realm.delete(thing)
    case (let thing?, 1): thing.text = String(repeating: "x", count: below(2) * 400 + below(5))
    case (let thing?, 2): thing.marks.append(below(5))
    case (let thing?, 3): if !thing.marks.isEmpty { thing.marks.remove(at: 0) }
    case (let thing?, 4): thing.owner = owner(realm)
    case (let thing?, 5):
      thing.place = FeedPlaceOfThing()
      thing.place?.city = "city \(below(3))"
    case (let thing?, 6): thing.place?.city = "city \(below(3))"
    case (_, 7): owner(realm).rank = below(5)
    case (_, 8):
      let owners = realm.objects(FeedOwner.self)
      if !owners.isEmpty { realm.delete(owners[below(owners.count)]) }
    case (let thing?, _): thing.number = below(6)
    }
    if below(30) == 0 { empty(realm) }
  }

  private mutating func create(_ id: Int, _ realm: Realm) {
    realm.create(
      FeedThing.self, value: ["id": id, "birth": below(1 << 40), "number": below(6)])
  }

  /// Deletes all objects of a class, and may add some again.
  private mutating func empty(_ realm: Realm) {
    let count = below(4)
    if below(2) == 0 {
      realm.delete(realm.objects(FeedThing.self))
      for id in 0..<count { create(id, realm) }
    } else {
      realm.delete(realm.objects(FeedOwner.self))
      for _ in 0..<count { owner(realm).rank = below(5) }
    }
  }

  private mutating func owner(_ realm: Realm) -> FeedOwner {
    let name = "owner \(below(4))"
    return realm.object(ofType: FeedOwner.self, forPrimaryKey: name)
      ?? realm.create(FeedOwner.self, value: ["name": name, "birth": below(1 << 40)])
  }
}

/// The copies of a consumer, by class and identity.
struct FeedCopies: Equatable, Codable {
  var objects: [String: [ObjectIdentity: String]] = [:]
  /// Kept with the copies, as a consumer with transactions would.
  var position: ChangePosition?

  init() {}

  /// Everything that is selected, as data.
  init(_ batch: ChangeBatch, _ names: [String], only properties: Set<String>? = nil) {
    for name in names {
      let changes = batch.changes(ofClass: name)
      for object in batch.objects(ofClass: name) {
        let identity = changes.identity(of: object)
        objects[name, default: [:]][identity] = FeedFile.text(
          changes.values(of: identity) ?? [:], only: properties)
      }
    }
  }

  mutating func apply(
    _ batch: ChangeBatch, _ names: [String], only properties: Set<String>? = nil
  ) {
    if batch.fullResync != nil {
      self = FeedCopies(batch, names, only: properties)
    } else {
      for name in batch.classNames {
        let changes = batch.changes(ofClass: name)
        if changes.isCleared { objects[name] = nil }
        for change in changes.recorded { apply(change, name, properties) }
        if objects[name]?.isEmpty == true { objects[name] = nil }
      }
    }
    position = batch.position
  }

  private mutating func apply(
    _ change: RecordedChange, _ name: String, _ properties: Set<String>?
  ) {
    if let values = change.values {
      objects[name, default: [:]][change.identity] = FeedFile.text(values, only: properties)
    } else {
      objects[name]?[change.identity] = nil
    }
  }
}
