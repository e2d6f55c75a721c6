import Foundation
import TestSupport

@testable import Tarn

/// An isle with links of every kind to others.
class Isle: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var name = ""
  @Persisted var next: Isle?
  @Persisted var list: List<Isle>
  @Persisted var set: MutableSet<Isle>
  @Persisted var map: Map<String, Isle?>
  @Persisted var any: AnyRealmValue
  @Persisted var numbers: List<Int>
  @Persisted var tags: MutableSet<String>
  @Persisted var scores: Map<String, Int>
  @Persisted var port: Port?
  @Persisted var ports: List<Port>
  @Persisted(originProperty: "list") var back: LinkingObjects<Isle>

  convenience init(_ id: Int) {
    self.init()
    self.id = id
  }
}

class Port: EmbeddedObject {
  @Persisted var depth = 0
  @Persisted var quays: List<Int>
}

extension Shelter {
  func openIsles(_ count: Int = 0) throws -> Instance {
    var configuration = configuration
    configuration.objectTypes = [Isle.self, Port.self]
    let instance = try Instance(configuration, self)
    if count > 0 { try instance.write { for id in 0..<count { instance.realm.add(Isle(id)) } } }
    return instance
  }
}

extension Instance {
  func isle(_ id: Int) -> Isle { realm.object(ofType: Isle.self, forPrimaryKey: id)! }
  var isles: Results<Isle> { realm.objects(Isle.self).sorted(by: \.id) }
}

extension NestedChange {
  /// Such as `list[0>1].name`, and what became of a collection behind a space.
  var text: String {
    let steps = path.map { $0.property + $0.positions.map(\.text).joined() }
    let name = property.map { $0 + positions.map(\.text).joined() } ?? "self"
    return (steps + [name]).joined(separator: ".") + change.text
  }
}

extension NestedChange.Position {
  var text: String {
    switch self {
    case .index(let old, let new): "[\(old.map { "\($0)" } ?? "")>\(new)]"
    case .key(let key): "[\(key)]"
    }
  }
}

extension NestedChange.Change {
  var text: String {
    switch self {
    case .value: ""
    case .list(let deletions, let insertions, let modifications, let new):
      " -\(deletions) +\(insertions) ~\(modifications)>\(new)"
    case .set(let deletions, let insertions), .linkingObjects(let deletions, let insertions):
      " -\(deletions) +\(insertions)"
    case .map(let deletions, let insertions, let modifications):
      " -\(deletions) +\(insertions) ~\(modifications)"
    }
  }
}

/// What lies behind the changes of a collection, as texts.
final class NestedRecorder {
  /// For each call the changes of each modified element, by its new position.
  private(set) var calls: [[Int: [String]]] = []
  var token: NotificationToken?

  init() {}
  init<C: RealmCollection>(_ collection: C, _ keyPaths: [String]? = nil) {
    token = collection.observeChanges(keyPaths: keyPaths) { [unowned self] in record($0) }
  }

  func record<C, Element>(_ change: ObservedChange<C, CollectionDelta<Element>>) {
    guard case .update(_, let delta) = change else { return }
    calls.append(
      Dictionary(
        uniqueKeysWithValues: delta.modificationsNew.map {
          ($0, delta.nested(at: $0).map(\.text))
        }))
  }

  /// What has come since this was asked for the last time.
  func take() -> [[Int: [String]]] {
    defer { calls = [] }
    return calls
  }
}
