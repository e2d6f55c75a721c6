import Foundation
import Testing

@testable import Tarn

/// What a program that breaks a rule is told before it stops.
struct TrapTests: TrapSuite {
  /// The processes that stop leave their files here.
  private let shelter = Result { try Shelter() }
  private var folder: String { get throws { try shelter.get().folder } }

  static let traps: [TrapCase] = [
    TrapCase("setting outside of a write", "outside of a write transaction") { shelter in
      let a = try shelter.open(cats: 1)
      a.cat(0)!.name = "new"
    },
    TrapCase("setting an indexed property outside of a write", "outside of a write transaction") {
      shelter in
      let a = try shelter.open(cats: 1)
      a.cat(0)!.age = 2
    },
    TrapCase("adding outside of a write", "Cannot add objects outside of a write transaction") {
      shelter in
      let a = try shelter.open()
      a.realm.add(Cat(1))
    },
    TrapCase("reading on another thread", "accessed from incorrect thread") { shelter in
      let a = try shelter.open(cats: 1)
      nonisolated(unsafe) let cat = a.cat(0)!  // because: this breaks the rule on purpose
      let done = DispatchSemaphore(value: 0)
      Thread.detachNewThread {
        print(cat.name)
        done.signal()
      }
      done.wait()
    },
    TrapCase("reading a deleted object", "deleted or invalidated") { shelter in
      let a = try shelter.open(cats: 1)
      let cat = a.cat(0)!
      try a.write { a.realm.delete(cat) }
      print(cat.name)
    },
    TrapCase("an index out of bounds", "Index 1 is out of bounds (must be less than 1)") {
      shelter in
      let a = try shelter.open(cats: 1)
      print(a.cats[1])
    },
    TrapCase("a write in a write", "already in a write transaction") { shelter in
      let a = try shelter.open()
      a.realm.beginWrite()
      a.realm.beginWrite()
    },
    // The begin in the callback calls it again, inside of that write.
    TrapCase(
      "a write in a callback that the begin of a write calls", "already in a write transaction"
    ) { shelter in
      let (a, other) = (try shelter.open(cats: 1), try shelter.open())
      let token = a.cats.observe { change in
        if case .update(let cats, _, _, _) = change, cats.count == 2 { try! other.add(8) }
        a.realm.beginWrite()
        a.realm.cancelWrite()
      }
      a.pump()
      try other.add(7)
      a.pump()
      token.invalidate()
    },
    TrapCase("committing where no write is open", "Can't commit a non-existing write transaction") {
      shelter in
      try shelter.open().realm.commitWrite()
    },
    TrapCase("cancelling where no write is open", "Can't cancel a non-existing write transaction") {
      shelter in
      try shelter.open().realm.cancelWrite()
    },
    TrapCase(
      "observing on a plain thread", "Can only add notification blocks from within run loops"
    ) { shelter in
      let realm = try Realm(configuration: shelter.configuration)
      _ = realm.objects(Cat.self).observe { _ in }
    },
    TrapCase("observing after changes in a write", "after making changes in a write transaction") {
      shelter in
      let a = try shelter.open()
      a.realm.beginWrite()
      a.realm.add(Cat(1))
      _ = a.cats.observe { _ in }
    },
    TrapCase("observing an unmanaged object", "managed by a Realm") { _ in
      _ = Cat(1).observe { (_: ObjectChange<Cat>) in }
    },
    TrapCase("observing a deleted object", "deleted or invalidated") { shelter in
      let a = try shelter.open(cats: 1)
      let cat = a.cat(0)!
      try a.write { a.realm.delete(cat) }
      _ = cat.observe { (_: ObjectChange<Cat>) in }
    },
    TrapCase("writing to a read-only Realm", "read-only") { shelter in
      _ = try shelter.open(cats: 1)
      var configuration = shelter.configuration
      configuration.readOnly = true
      try Instance(configuration, shelter).write {}
    },
    TrapCase("changing a primary key", "rimary key") { shelter in
      let a = try shelter.open(cats: 1)
      try a.write { a.cat(0)!.id = 5 }
    },
    TrapCase("adding an object with an existing primary key", "with an existing primary key value")
    { shelter in
      let a = try shelter.open(cats: 1)
      try a.add(0)
    },
    TrapCase(
      "looking up a primary key of another type", "is not the type of the primary key of 'Cat'"
    ) { shelter in
      let a = try shelter.open(cats: 1)
      _ = a.realm.object(ofType: Cat.self, forPrimaryKey: "zero")
    },
    TrapCase("updating an object of a class without a primary key", "does not have a primary key") {
      shelter in
      let a = try shelter.open(cats: 1)
      try a.write { a.realm.add(Home("x"), update: .modified) }
    },
    TrapCase("a class outside of the schema", "'ModelToy' is not managed by the Realm") { shelter in
      let a = try shelter.open()
      _ = a.realm.objects(ModelToy.self).count
    },
    TrapCase("deleting an object of another Realm", "from the Realm it belongs to") { shelter in
      let a = try shelter.open(cats: 1)
      let b = try shelter.open()
      try a.write { a.realm.delete(b.cat(0)!) }
    },
    TrapCase("linking to an object of another Realm", "another Realm") { shelter in
      let a = try shelter.open(cats: 1)
      let b = try Shelter(within: shelter.folder).open()
      let home = Home("x")
      try b.write { b.realm.add(home) }
      try a.write { a.cat(0)!.home = home }
    },
    TrapCase("excluding a token that has ended", "must be active") { shelter in
      let a = try shelter.open()
      let token = a.realm.observe { _, _ in }
      token.invalidate()
      try a.realm.write(withoutNotifying: [token]) {}
    },
    TrapCase(
      "excluding a token of another instance", "must be active and belong to this Realm instance"
    ) { shelter in
      let (a, b) = (try shelter.open(), try shelter.open())
      let token = b.cats.observe { _ in }
      try a.realm.write(withoutNotifying: [token]) { fatalError("begun") }
    },
    TrapCase(
      "excluding a token where no write is open", "Can't commit a non-existing write transaction"
    ) { shelter in
      let a = try shelter.open()
      try a.realm.commitWrite(withoutNotifying: [a.cats.observe { _ in }])
    },
    TrapCase("a global queue", "serial queue") { shelter in
      let configuration = shelter.configuration
      DispatchQueue.global().sync {
        _ = try? Realm(configuration: configuration, queue: .global())
      }
    },
    // Dispatch stops the program and says nothing, so that the case says how far it has come.
    TrapCase("a queue that runs several blocks at once", "opening on a concurrent queue") {
      shelter in
      let configuration = shelter.configuration
      let queue = DispatchQueue(label: "several", attributes: .concurrent)
      queue.sync {
        FileHandle.standardError.write(Data("opening on a concurrent queue\n".utf8))
        _ = try? Realm(configuration: configuration, queue: queue)
      }
    },
    TrapCase("a queue that is not the current one", "call this on 'another'") { shelter in
      _ = try Realm(configuration: shelter.configuration, queue: DispatchQueue(label: "another"))
    },
  ]

  @Test(arguments: traps.map(\.name))
  func stops(_ name: String) async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [folder = try folder as String, name] in
      try await TrapTests.traps.named(name).run(Shelter(within: folder))
    }
    try expect(Self.traps.named(name).message, in: result)
  }
}
