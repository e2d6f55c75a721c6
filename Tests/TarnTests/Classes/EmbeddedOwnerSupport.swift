import Foundation
import TestSupport
import Testing

@testable import Tarn
@testable import TarnStore

class Bead: EmbeddedObject {
  @Persisted var n = 0
  @Persisted var size = 0
  @Persisted var inner: Bead?
  @Persisted var pearls: List<Bead>
  @Persisted var seller: BeadShop?

  convenience init(_ n: Int) {
    self.init()
    self.n = n
  }
}

class BeadShop: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var name = ""
}

class Necklace: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var beads: List<Bead>
  @Persisted var clasp: Bead?
  @Persisted var named: Map<String, Bead?>
  @Persisted var bag: MutableSet<Bead>

  convenience init(_ id: Int, beads count: Int = 0) {
    self.init()
    self.id = id
    beads.append(objectsIn: (0..<count).map { Bead($0) })
  }

  var numbers: [Int] { beads.map(\.n) }
  var names: [String: Int?] {
    Dictionary(uniqueKeysWithValues: named.map { ($0.key, $0.value?.n) })
  }
}

/// Necklaces in a file of their own.
struct BeadBox {
  let instance: Instance
  var realm: Realm { instance.realm }

  init(_ shelter: Shelter? = nil) throws {
    let shelter = try shelter ?? Shelter()
    var configuration = shelter.configuration
    configuration.objectTypes = [Necklace.self, Bead.self, BeadShop.self]
    instance = try Instance(configuration, shelter)
  }

  func add(_ id: Int, beads count: Int = 4) throws -> Necklace {
    let necklace = Necklace(id, beads: count)
    try instance.write { realm.add(necklace) }
    return necklace
  }

  /// The numbers of a list of four after a change in a write, and in memory.
  func after(
    _ change: (Necklace) -> Void, _ location: SourceLocation = #_sourceLocation
  ) throws -> [Int] {
    let necklace = try add(Int.random(in: 1...(.max)))
    try instance.write { change(necklace) }
    let unmanaged = Necklace(0, beads: 4)
    change(unmanaged)
    #expect(unmanaged.numbers == necklace.numbers, sourceLocation: location)
    try expectSound(location)
    return necklace.numbers
  }

  var beadCount: Int {
    get throws { try realm.core.rows().count(of: realm.core.binding(of: Bead.self).classID) }
  }

  /// Every bead has one position, and every index says what the rows say.
  func expectSound(_ location: SourceLocation = #_sourceLocation) throws {
    let reader = try SnapshotReader(realm.core.store.newestSnapshot())
    #expect(OwnerCheck(reader).problems == [], sourceLocation: location)
    #expect(SequenceCheck(reader).problems == [], sourceLocation: location)
  }
}
