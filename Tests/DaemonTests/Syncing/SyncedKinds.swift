import Foundation
import Tarn
import TarnSync

// A model for each kind of property that synchronization treats in a way of its own.

final class ScalarKinds: Object {
  @Persisted(primaryKey: true) var _id: ObjectId
  @Persisted var flag: Bool
  @Persisted var small: Int8
  @Persisted var number: Int?
  @Persisted var float: Float
  @Persisted var double: Double?
  @Persisted var text: String
  @Persisted var note: String?
  @Persisted var data: Data
  @Persisted var date: Date?
  @Persisted var price: Decimal128
  @Persisted var uuid: UUID?
  @Persisted var object: ObjectId?
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

final class CollectionKinds: Object {
  @Persisted(primaryKey: true) var _id: UUID
  @Persisted var numbers: List<Int>
  @Persisted var dates: List<Date?>
  @Persisted var tags: MutableSet<String>
  @Persisted var prices: Map<String, Decimal128>
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

final class LinkKinds: Object {
  @Persisted(primaryKey: true) var _id: Int
  @Persisted var next: LinkKinds?
  @Persisted var others: List<LinkTarget>
  @Persisted var named: Map<String, LinkTarget?>
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

final class LinkTarget: Object {
  @Persisted(primaryKey: true) var _id: String
  @Persisted(originProperty: "others") var holders: LinkingObjects<LinkKinds>
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

final class EmbeddedPart: EmbeddedObject {
  @Persisted var street: String
  @Persisted var part: InnerPart?
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

final class InnerPart: EmbeddedObject {
  @Persisted var number: Int
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

final class EmbeddedKinds: Object {
  @Persisted(primaryKey: true) var _id: String
  @Persisted var one: EmbeddedPart?
  @Persisted var many: List<EmbeddedPart>
  @Persisted var named: Map<String, EmbeddedPart?>
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

final class MixedKinds: Object {
  @Persisted(primaryKey: true) var _id: Int
  @Persisted var any: AnyRealmValue
  @Persisted var list: List<AnyRealmValue>
  @Persisted var map: Map<String, AnyRealmValue>
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

final class AsymmetricKinds: AsymmetricObject {
  @Persisted(primaryKey: true) var _id: String
  @Persisted var value: Int
  @Persisted var part: EmbeddedPart?
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// One of these models.
enum SyncedKind: CaseIterable {
  case scalars, collections, links, embedded, mixed, asymmetric

  /// The classes that a program declares.
  var types: [ObjectBase.Type] {
    switch self {
    case .scalars: [ScalarKinds.self]
    case .collections: [CollectionKinds.self]
    case .links: [LinkKinds.self, LinkTarget.self]
    case .embedded: [EmbeddedKinds.self, EmbeddedPart.self, InnerPart.self]
    case .mixed: [MixedKinds.self]
    case .asymmetric: [AsymmetricKinds.self, EmbeddedPart.self, InnerPart.self]
    }
  }

  /// The table with the objects.
  var table: String {
    switch self {
    case .scalars: "ScalarKinds"
    case .collections: "CollectionKinds"
    case .links: "LinkKinds"
    case .embedded: "EmbeddedKinds"
    case .mixed: "MixedKinds"
    case .asymmetric: "AsymmetricKinds"
    }
  }

  /// Makes two objects.
  func fill(_ realm: Realm) throws {
    try realm.write {
      switch self {
      case .scalars:
        realm.create(
          ScalarKinds.self,
          value: [
            "_id": ObjectId.generate(), "flag": true, "small": 7, "number": -1, "float": 1.5,
            "double": 0.1, "text": "'\\\"\u{301}", "note": "", "data": Data([0, 255]),
            "date": Date(timeIntervalSince1970: 1_000.25), "price": Decimal128(number: 12.50),
            "uuid": UUID(), "object": ObjectId.generate(),
          ] as [String: Any])
        realm.create(ScalarKinds.self, value: ["_id": ObjectId.generate(), "text": ""])
      case .collections:
        realm.create(
          CollectionKinds.self,
          value: [
            "_id": UUID(), "numbers": [3, 1, 3], "dates": [Date(timeIntervalSince1970: 5), nil],
            "tags": ["b", "a"], "prices": ["x": Decimal128(value: 1)],
          ] as [String: Any])
        realm.create(CollectionKinds.self, value: ["_id": UUID()])
      case .links:
        let first = realm.create(LinkKinds.self, value: ["_id": 1])
        let second = realm.create(LinkKinds.self, value: ["_id": 2])
        (first.next, second.next) = (second, first)
        let target = realm.create(LinkTarget.self, value: ["_id": "t"])
        first.others.append(objectsIn: [target, target])
        second.named["a"] = target
        second.named["none"] = .some(nil)
      case .embedded:
        let part: [String: Any] = ["street": "Bagshot Row", "part": ["number": 3]]
        realm.create(
          EmbeddedKinds.self,
          value: ["_id": "a", "one": part, "many": [part, part], "named": ["x": part]])
        realm.create(EmbeddedKinds.self, value: ["_id": "b"])
      case .mixed:
        let object = realm.create(MixedKinds.self, value: ["_id": 1])
        object.any = .fromDictionary(["a": .fromArray([.int(1), .string("x"), .none])])
        object.list.append(objectsIn: [.double(0.5), .bool(true), .uuid(UUID())])
        object.map["date"] = .date(Date(timeIntervalSince1970: 7))
        realm.create(MixedKinds.self, value: ["_id": 2])
      case .asymmetric:
        for id in ["r1", "r2"] {
          realm.create(
            AsymmetricKinds.self, value: ["_id": id, "value": 1, "part": ["street": "Hill"]])
        }
      }
    }
  }

  /// The objects of a file as text. None of those that only go to a server.
  func objects(_ realm: Realm) -> [String] {
    func texts<T: Object>(_ type: T.Type) -> [String] {
      realm.objects(type).map { "\($0)" }.sorted()
    }
    switch self {
    case .scalars: return texts(ScalarKinds.self)
    case .collections: return texts(CollectionKinds.self)
    case .links: return texts(LinkKinds.self) + texts(LinkTarget.self)
    case .embedded: return texts(EmbeddedKinds.self)
    case .mixed: return texts(MixedKinds.self)
    case .asymmetric: return []
    }
  }

  /// Subscribes to all objects.
  func subscribe(_ set: SyncSubscriptionSet) {
    switch self {
    case .scalars: set.append(QuerySubscription<ScalarKinds>())
    case .collections: set.append(QuerySubscription<CollectionKinds>())
    case .links:
      set.append(QuerySubscription<LinkKinds>())
      set.append(QuerySubscription<LinkTarget>())
    case .embedded: set.append(QuerySubscription<EmbeddedKinds>())
    case .mixed: set.append(QuerySubscription<MixedKinds>())
    case .asymmetric: break
    }
  }
}
