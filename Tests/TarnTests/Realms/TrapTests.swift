import Foundation
import Testing

@testable import Tarn

/// What a program that breaks a rule is told before it stops.
struct TrapTests: TrapSuite {
  /// The processes that stop leave their files here.
  private let shelter = Result { try Shelter() }
  private var folder: String { get throws { try shelter.get().folder } }

  @Test func settingOutsideOfAWrite() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [folder = try folder as String] in
      let a = try Shelter(within: folder).open(cats: 1)
      a.cat(0)!.name = "new"
    }
    try expect("outside of a write transaction", in: result)
  }

  @Test func settingAnIndexedPropertyOutsideOfAWrite() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [folder = try folder as String] in
      let a = try Shelter(within: folder).open(cats: 1)
      a.cat(0)!.age = 2
    }
    try expect("outside of a write transaction", in: result)
  }

  @Test func addingOutsideOfAWrite() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [folder = try folder as String] in
      let a = try Shelter(within: folder).open()
      a.realm.add(Cat(1))
    }
    try expect("Cannot add objects outside of a write transaction", in: result)
  }

  @Test func anotherThread() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [folder = try folder as String] in
      let a = try Shelter(within: folder).open(cats: 1)
      nonisolated(unsafe) let cat = a.cat(0)!  // because: this breaks the rule on purpose
      let done = DispatchSemaphore(value: 0)
      Thread.detachNewThread {
        print(cat.name)
        done.signal()
      }
      done.wait()
    }
    try expect("accessed from incorrect thread", in: result)
  }

  @Test func aDeletedObject() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [folder = try folder as String] in
      let a = try Shelter(within: folder).open(cats: 1)
      let cat = a.cat(0)!
      try a.write { a.realm.delete(cat) }
      print(cat.name)
    }
    try expect("deleted or invalidated", in: result)
  }

  @Test func anIndexOutOfBounds() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [folder = try folder as String] in
      let a = try Shelter(within: folder).open(cats: 1)
      print(a.cats[1])
    }
    try expect("Index 1 is out of bounds (must be less than 1)", in: result)
  }

  @Test func aWriteInAWrite() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [folder = try folder as String] in
      let a = try Shelter(within: folder).open()
      a.realm.beginWrite()
      a.realm.beginWrite()
    }
    try expect("already in a write transaction", in: result)
  }

  /// In the begin that a callback caused it is called inside of that write.
  @Test func aWriteInACallbackThatABeginHasMade() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [folder = try folder as String] in
      let shelter = try Shelter(within: folder)
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
    }
    try expect("already in a write transaction", in: result)
  }

  @Test func endingAWriteThatIsNotThere() async throws {
    let commit = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [folder = try folder as String] in try Shelter(within: folder).open().realm.commitWrite() }
    try expect("Can't commit a non-existing write transaction", in: commit)
    let cancel = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [folder = try folder as String] in try Shelter(within: folder).open().realm.cancelWrite() }
    try expect("Can't cancel a non-existing write transaction", in: cancel)
  }

  @Test func observingOnAPlainThread() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [folder = try folder as String] in
      let shelter = try Shelter(within: folder)
      let realm = try Realm(configuration: shelter.configuration)
      _ = realm.objects(Cat.self).observe { _ in }
    }
    try expect("Can only add notification blocks from within run loops", in: result)
  }

  @Test func observingAfterChangesInAWrite() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [folder = try folder as String] in
      let a = try Shelter(within: folder).open()
      a.realm.beginWrite()
      a.realm.add(Cat(1))
      _ = a.cats.observe { _ in }
    }
    try expect("after making changes in a write transaction", in: result)
  }

  @Test func observingWhatIsNotManagedOrDeleted() async throws {
    let unmanaged = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { _ = Cat(1).observe { (_: ObjectChange<Cat>) in } }
    try expect("managed by a Realm", in: unmanaged)
    let deleted = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [folder = try folder as String] in
      let a = try Shelter(within: folder).open(cats: 1)
      let cat = a.cat(0)!
      try a.write { a.realm.delete(cat) }
      _ = cat.observe { (_: ObjectChange<Cat>) in }
    }
    try expect("deleted or invalidated", in: deleted)
  }

  @Test func aReadOnlyRealm() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [folder = try folder as String] in
      let shelter = try Shelter(within: folder)
      _ = try shelter.open(cats: 1)
      var configuration = shelter.configuration
      configuration.readOnly = true
      try Instance(configuration, shelter).write {}
    }
    try expect("read-only", in: result)
  }

  @Test func aPrimaryKeyThatChangesOrExists() async throws {
    let changed = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [folder = try folder as String] in
      let a = try Shelter(within: folder).open(cats: 1)
      try a.write { a.cat(0)!.id = 5 }
    }
    try expect("rimary key", in: changed)
    let existing = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [folder = try folder as String] in
      let a = try Shelter(within: folder).open(cats: 1)
      try a.add(0)
    }
    try expect("with an existing primary key value", in: existing)
    let wrong = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [folder = try folder as String] in
      let a = try Shelter(within: folder).open(cats: 1)
      _ = a.realm.object(ofType: Cat.self, forPrimaryKey: "zero")
    }
    try expect("is not the type of the primary key of 'Cat'", in: wrong)
    let none = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [folder = try folder as String] in
      let a = try Shelter(within: folder).open(cats: 1)
      try a.write { a.realm.add(Home("x"), update: .modified) }
    }
    try expect("does not have a primary key", in: none)
  }

  @Test func aClassOutsideOfTheSchema() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [folder = try folder as String] in
      let a = try Shelter(within: folder).open()
      _ = a.realm.objects(ModelToy.self).count
    }
    try expect("'ModelToy' is not managed by the Realm", in: result)
  }

  @Test func anObjectOfAnotherRealm() async throws {
    let deleted = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [folder = try folder as String] in
      let shelter = try Shelter(within: folder)
      let a = try shelter.open(cats: 1)
      let b = try shelter.open()
      try a.write { a.realm.delete(b.cat(0)!) }
    }
    try expect("from the Realm it belongs to", in: deleted)
    let linked = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [folder = try folder as String] in
      let a = try Shelter(within: folder).open(cats: 1)
      let b = try Shelter(within: folder).open()
      let home = Home("x")
      try b.write { b.realm.add(home) }
      try a.write { a.cat(0)!.home = home }
    }
    try expect("another Realm", in: linked)
  }

  @Test func aTokenToLeaveOutThatIsNotActiveHere() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [folder = try folder as String] in
      let a = try Shelter(within: folder).open()
      let token = a.realm.observe { _, _ in }
      token.invalidate()
      try a.realm.write(withoutNotifying: [token]) {}
    }
    try expect("must be an active one", in: result)
  }

  /// One of another instance, and where no write is open.
  @Test func tokensThatCannotBeLeftOut() async throws {
    let foreign = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [folder = try folder as String] in
      let shelter = try Shelter(within: folder)
      let (a, b) = (try shelter.open(), try shelter.open())
      let token = b.cats.observe { _ in }
      try a.realm.write(withoutNotifying: [token]) { fatalError("begun") }
    }
    try expect("must be an active one of this very Realm instance", in: foreign)
    let outside = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [folder = try folder as String] in
      let a = try Shelter(within: folder).open()
      try a.realm.commitWrite(withoutNotifying: [a.cats.observe { _ in }])
    }
    try expect("Can't commit a non-existing write transaction", in: outside)
  }

  @Test func aQueueThatIsNotTheCurrentOneOrRunsSeveralBlocksAtOnce() async throws {
    let global = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [folder = try folder as String] in
      let shelter = try Shelter(within: folder)
      let configuration = shelter.configuration
      DispatchQueue.global().sync {
        _ = try? Realm(configuration: configuration, queue: .global())
      }
    }
    try expect("serial queue", in: global)
    await #expect(processExitsWith: .failure) { [folder = try folder as String] in
      let shelter = try Shelter(within: folder)
      let configuration = shelter.configuration
      let queue = DispatchQueue(label: "several", attributes: .concurrent)
      queue.sync { _ = try? Realm(configuration: configuration, queue: queue) }
    }
    await #expect(processExitsWith: .failure) { [folder = try folder as String] in
      let shelter = try Shelter(within: folder)
      _ = try Realm(
        configuration: shelter.configuration, queue: DispatchQueue(label: "another"))
    }
  }
}
