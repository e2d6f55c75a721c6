import Foundation
import Tarn

/// Objects with links, for the workloads that observe through links.
class Kin: Object {
  @Persisted(primaryKey: true) var id = 0
  @Persisted var name = ""
  @Persisted var age = 0
  @Persisted var group = 0
  @Persisted var home: KinHome?
}

class KinHome: Object {
  @Persisted(primaryKey: true) var id = 0
  @Persisted var street = ""
}

class KinTribe: Object {
  @Persisted var members: List<Kin>
}

/// The first object of a chain of links, and the other ones.
class ChainRoot: Object {
  @Persisted var next: ChainLink?
}

class ChainLink: Object {
  @Persisted var next: ChainLink?
  @Persisted var value = 0
}

/// Objects with ten links each: a thousand paths of three links.
class Hub: Object {
  @Persisted(primaryKey: true) var id = 0
  @Persisted var value = 0
  @Persisted var a0: Hub?
  @Persisted var a1: Hub?
  @Persisted var a2: Hub?
  @Persisted var a3: Hub?
  @Persisted var a4: Hub?
  @Persisted var a5: Hub?
  @Persisted var a6: Hub?
  @Persisted var a7: Hub?
  @Persisted var a8: Hub?
  @Persisted var a9: Hub?

  static let links = (0..<10).map { "a\($0)" }
}

enum KinSchema {
  static let types: [ObjectBase.Type] = [
    Kin.self, KinHome.self, KinTribe.self, ChainRoot.self, ChainLink.self, Hub.self,
  ]
}

extension Bench {
  /// An empty store of these classes. The benchmark takes its turns.
  func kinRealm(_ name: String) throws -> Realm {
    var configuration = configuration(name)
    configuration.objectTypes = KinSchema.types
    return try Realm(configuration: configuration, scheduler: scheduler)
  }
}
