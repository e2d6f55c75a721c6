import Foundation
import Testing

@testable import Tarn

class Pound: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var name = ""
  @Persisted var best: Whelp?
  @Persisted var hounds: List<Whelp>
  @Persisted var pack: MutableSet<Whelp>
  @Persisted var byName: Map<String, Whelp?>
  @Persisted var things: List<AnyRealmValue>
}

class Whelp: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var name = ""
  @Persisted var age = 0
  @Persisted var friend: Whelp?
  @Persisted var collar: Strap?
  @Persisted(originProperty: "hounds") var kennels: LinkingObjects<Pound>
  /// Reads an element of another object's collection.
  var firstOfKennel: Whelp? { kennels.first?.hounds.first }
}

class Strap: EmbeddedObject {
  @Persisted var color = ""
  @Persisted var width = 0
}

class Tally: Object {
  @Persisted var counts: List<Int>
}

/// Two instances of a file with a pound of four: one to write, one to observe.
struct Pounds {
  let configuration: Realm.Configuration
  let a: Instance
  let b: Instance

  init(within folder: String? = nil) throws {
    let shelter = try folder.map { try Shelter(within: $0) } ?? Shelter()
    var configuration = shelter.configuration
    configuration.objectTypes = [Pound.self, Whelp.self, Strap.self, Tally.self]
    self.configuration = configuration
    a = try Instance(configuration, shelter)
    b = try Instance(configuration, shelter)
    try a.write {
      let made = Pound()
      for id in 0..<4 {
        let hound = Whelp()
        hound.id = id
        made.hounds.append(hound)
      }
      made.pack.insert(made.hounds[0])
      made.byName["a"] = made.hounds[0]
      made.byName["b"] = made.hounds[1]
      made.things.append(objectsIn: [.int(1), .object(made.hounds[0])])
      made.best = made.hounds[0]
      made.hounds[0].friend = made.hounds[1]
      made.hounds[0].collar = Strap()
      a.realm.add(made)
      a.realm.add(Tally())
    }
    b.realm.refresh()
  }

  /// As those see them who write.
  func hound(_ id: Int) -> Whelp { a.realm.object(ofType: Whelp.self, forPrimaryKey: id)! }
  var written: Pound { a.realm.object(ofType: Pound.self, forPrimaryKey: 0)! }
  /// As those see them who observe.
  var kennel: Pound { b.realm.object(ofType: Pound.self, forPrimaryKey: 0)! }
  var whelps: Results<Whelp> { b.realm.objects(Whelp.self) }

  /// What `calls` grows by in each of those writes; "-" where it does not.
  func follow(_ writes: [() -> Void], _ calls: () -> [String]) throws -> [String] {
    var told: [String] = []
    for write in writes {
      let before = calls().count
      try a.write(write)
      b.pump()
      let new = calls()[before...]
      told += new.isEmpty ? ["-"] : Array(new)
    }
    return told
  }
}
