import Foundation
import TarnStore
import Testing

@testable import Tarn

class Pack: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var numbers: List<Int>
  @Persisted var cubs: List<Cub>
  @Persisted var tags: MutableSet<String>
  @Persisted var friends: MutableSet<Cub>
  @Persisted var scores: Map<String, Int>
}

class Cub: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var name = ""
  @Persisted var age = 0
  @Persisted(originProperty: "cubs") var packs: LinkingObjects<Pack>

  convenience init(_ id: Int, _ name: String = "", age: Int = 0) {
    self.init()
    self.id = id
    self.name = name
    self.age = age
  }
}

/// An instance of a file with one pack, whose key is 1, and its turns.
struct PackInstance {
  let realm: Realm
  let scheduler = ManualScheduler()
  let shelter: Shelter

  static func configuration(_ shelter: Shelter) -> Realm.Configuration {
    Realm.Configuration(
      fileURL: URL(fileURLWithPath: shelter.folder + "/packs.realm"),
      objectTypes: [Pack.self, Cub.self], durability: .relaxed)
  }

  init(_ shelter: Shelter) throws {
    self.shelter = shelter
    realm = try Realm(configuration: Self.configuration(shelter), scheduler: scheduler)
    if realm.object(ofType: Pack.self, forPrimaryKey: 1) == nil {
      try realm.write { realm.create(Pack.self, value: ["id": 1]) }
    }
  }

  var pack: Pack { realm.object(ofType: Pack.self, forPrimaryKey: 1)! }
  var cubs: Results<Cub> { realm.objects(Cub.self) }
  func cub(_ id: Int) -> Cub? { realm.object(ofType: Cub.self, forPrimaryKey: id) }

  func write(_ block: () throws -> Void) throws { try realm.write(block) }
  func pump() {
    while scheduler.pump() {}
  }
}

/// Copies of a collection that follow it by what observers are told.
final class CopyKeeper<C: RealmCollection> {
  private(set) var copy: [C.Element] = []
  private(set) var identities: [ElementIdentity] = []
  private(set) var changes: [ObservedChange<C, CollectionDelta<C.Element>>] = []
  var token: NotificationToken?
  /// Called after the copies have followed.
  var onChange: (CopyKeeper) -> Void = { _ in }

  init(_ collection: C, _ onChange: @escaping (CopyKeeper) -> Void = { _ in }) {
    self.onChange = onChange
    token = collection.observeChanges { [unowned self] in follow($0) }
  }

  private func follow(_ change: ObservedChange<C, CollectionDelta<C.Element>>) {
    changes.append(change)
    change.apply(to: &copy)
    change.apply(toIdentities: &identities)
    onChange(self)
  }

  var lastDelta: CollectionDelta<C.Element>? {
    if case .update(_, let delta)? = changes.last { delta } else { nil }
  }
}

extension RealmCollection {
  var identities: [ElementIdentity] { map { ElementIdentity(of: $0) } }
}
