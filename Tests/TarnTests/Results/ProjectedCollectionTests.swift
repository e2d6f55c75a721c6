import Foundation
import TestSupport
import Testing

@testable import Tarn

/// Properties of the objects in lists and sets.
struct ProjectedCollectionTests {
  private let a: Instance
  private let b: Instance
  private var kennel: Kennel { a.realm.objects(Kennel.self)[0] }

  init() throws {
    let shelter = try Shelter()
    (a, b) = (try shelter.openKennels(), try shelter.openKennels())
    try b.write {
      let kennel = Kennel(1)
      b.realm.add(kennel)
      for (id, name) in ["Rex", "Bo", "Ida", "Bo"].enumerated() {
        kennel.hounds.append(Hound(id, name, age: 10 - id))
      }
      kennel.pack.insert(objectsIn: kennel.hounds)
      for id in 0..<3 { b.realm.add(Yard(id)) }
      kennel.hounds[1].yard = b.yard(1)
    }
    _ = a.realm.refresh()
  }

  @Test func whatCanBeAskedOfThem() throws {
    let names = kennel.hounds.projectTo.name
    #expect(Array(names) == ["Rex", "Bo", "Ida", "Bo"])
    try #require(names.count == 4)
    #expect(names[2] == "Ida")
    #expect(names.first == "Rex")
    #expect(names.last == "Bo")
    #expect(names[1...2].map { $0 } == ["Bo", "Ida"])
    #expect(names.index(of: "Bo") == 1)
    #expect(names.index(of: "None") == nil)
    #expect(names.realm == a.realm)
    #expect(!names.isInvalidated)
    #expect(!names.isFrozen)
    #expect(names.description.hasPrefix("ProjectedCollection<String> ("))
    #expect(names == kennel.hounds.projectTo.name)
    #expect(names != kennel.pack.projectTo.name)
    #expect(kennel.hounds.projectTo.age != kennel.hounds.projectTo.id)
    #expect(Array(kennel.pack.projectTo.age) == [10, 9, 8, 7])
    #expect(kennel.hounds.projectTo.yard.map { $0?.id } == [nil, 1, nil, nil])
    #expect(kennel.hounds.projectTo.yard.index(of: kennel.hounds[1].yard) == 1)
    #expect(kennel.hounds.projectTo.weight.allSatisfy { $0 == nil })
    #expect(Array(kennel.hounds.projectTo.text)[3] == kennel.hounds[3].text)
  }

  @Test func theyAreLive() throws {
    let names = kennel.hounds.projectTo.name
    var seen: [String] = []
    try a.write {
      for name in names {
        seen.append(name)
        if kennel.hounds.count == 4 { kennel.hounds.removeLast() }
      }
      kennel.hounds[0].name = "Max"
      #expect(Array(names) == ["Max", "Bo", "Ida"])
    }
    #expect(seen == ["Rex", "Bo", "Ida", "Bo"])
    try a.write { a.realm.delete(kennel) }
    #expect(names.isInvalidated)
    #expect(names.description.hasSuffix("[invalidated]"))
  }

  @Test func unmanagedOnesHaveThemToo() {
    let kennel = Kennel(2)
    kennel.hounds.append(Hound(1, "Rex"))
    let names = kennel.hounds.projectTo.name
    #expect(Array(names) == ["Rex"])
    #expect(names.realm == nil)
    #expect(!names.isFrozen)
    kennel.hounds[0].name = "Max"
    #expect(names.first == "Max")
    #expect(names == kennel.hounds.projectTo.name)
  }

  @Test func frozenAndThawed() throws {
    let names = kennel.hounds.projectTo.name
    let frozen = names.freeze()
    try a.write {
      kennel.hounds[0].name = "Max"
      kennel.hounds.removeLast()
    }
    #expect(Array(frozen) == ["Rex", "Bo", "Ida", "Bo"])
    #expect(frozen.isFrozen)
    #expect(frozen.freeze() == frozen)
    #expect(frozen != names)
    #expect(frozen.thaw() == names)
    #expect(names.thaw() == names)
    #expect(frozen.thaw().map(Array.init) == ["Max", "Bo", "Ida"])
    try a.write { a.realm.delete(kennel) }
    #expect(frozen.thaw() == nil)
    #expect(frozen.count == 4)
  }

  @Test func keyPathsChooseWhatCounts() throws {
    var told: [String] = []
    func note(_ name: String) -> (RealmCollectionChange<ProjectedCollection<String>>) -> Void {
      { change in
        guard case .update(_, _, let insertions, let modifications) = change else { return }
        told.append("\(name) +\(insertions) ~\(modifications)")
      }
    }
    let names = kennel.hounds.projectTo.name
    let tokens = [
      names.observe(keyPaths: nil, note("name")), names.observe(keyPaths: ["age"], note("age")),
      names.observe(keyPaths: ["name", "yard.rooms"], note("both")),
      names.observeChanges(keyPaths: ["age"]) {
        if case .update(_, let delta) = $0 { told.append("delta ~\(delta.modificationsNew)") }
      },
    ]
    func written(_ change: () -> Void) throws -> [String] {
      told = []
      try b.write(change)
      a.pump()
      return told
    }
    a.pump()
    let hounds = b.realm.objects(Kennel.self)[0].hounds
    #expect(try written { hounds[0].name = "Max" } == ["name +[] ~[0]", "both +[] ~[0]"])
    #expect(try written { hounds[2].age = 1 } == ["age +[] ~[2]", "delta ~[2]"])
    #expect(try written { b.yard(1)!.rooms = 7 } == ["both +[] ~[1]"])
    #expect(try written { hounds.append(Hound(9)) }.count == 4)
    for token in tokens { token.invalidate() }
  }

  @Test func keyPathsOnAQueue() async throws {
    let names = kennel.hounds.projectTo.name
    let configuration = b.realm.configuration
    let queue = DispatchQueue(label: "projected")
    let (calls, told) = AsyncStream.makeStream(of: String.self)
    // Nothing else uses it: the block takes it to the queue.
    var texts: [String] = []
    let token = names.observe(keyPaths: ["age"], on: queue) { change in
      defer { texts.append("\(change)") }
      switch change {
      case .initial(let names): told.yield("\(names.count + texts.count)")
      case .update(_, _, _, let modifications): told.yield("\(modifications)")
      case .error(let error): told.yield("\(error)")
      }
    }
    var iterator = calls.makeAsyncIterator()
    #expect(await iterator.next() == "4")
    // After the wait, the test may run on another thread.
    func write() throws {
      let realm = try Realm(configuration: configuration)
      let hounds = realm.objects(Kennel.self)[0].hounds
      try realm.write { hounds[0].name = "Max" }
      try realm.write { hounds[1].age = 1 }
    }
    try write()
    #expect(await iterator.next() == "[1]")
    token.invalidate()
  }

  @Test(arguments: Array(1...4) as [UInt64])
  func differencesLeadFromStateToState(seed: UInt64) throws {
    let list = Recorder(kennel.hounds.projectTo.name)
    let set = Recorder(kennel.pack.projectTo.age)
    a.pump()
    var operations = KennelOperations(numbers: SeededRandom(seed: seed))
    for _ in 0..<60 {
      try b.write { for _ in 0...operations.numbers.below(5) { operations.apply(to: b) } }
      if operations.numbers.chance(60) { a.pump() }
    }
    a.pump()
    #expect(list.problems == [])
    #expect(set.problems == [])
    #expect(list.updates > 3)
    #expect(set.updates > 3)
  }
}

/// What an observer of values was told, followed in an array.
private final class Recorder<Value: RealmCollectionValue> {
  private var mirror: [Value] = []
  private(set) var problems: [String] = []
  private(set) var updates = 0
  private var token: NotificationToken?

  init(_ values: ProjectedCollection<Value>) {
    token = values.observe { [unowned self] in record($0) }
  }

  private func record(_ change: RealmCollectionChange<ProjectedCollection<Value>>) {
    switch change {
    case .initial(let values): mirror = Array(values)
    case .update(let values, let deletions, let insertions, let modifications):
      updates += 1
      let new = values.isInvalidated ? [] : Array(values)
      var slots: [Value?] = mirror
      for position in modifications { slots[position] = nil }
      for position in deletions.reversed() { slots.remove(at: position) }
      for position in insertions { slots.insert(nil, at: position) }
      let isRight =
        slots.count == new.count && zip(slots, new).allSatisfy { $0 == nil || $0 == $1 }
      if !isRight { problems.append("call \(updates): \(mirror) to \(new)") }
      mirror = new
    case .error(let error): problems.append("\(error)")
    }
  }
}
