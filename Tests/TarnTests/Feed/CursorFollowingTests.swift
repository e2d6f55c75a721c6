import Dispatch
import TestSupport
import Testing

@testable import Tarn
@testable import TarnStore

/// Loops over batches, and observers of a cursor.
@Suite struct CursorFollowingTests {
  private let shelter: Shelter

  init() throws {
    shelter = try Shelter()
    shelter.moreTypes = [FedDog.self, FedPerson.self, FedNote.self, FedAddress.self, FedRoom.self]
  }

  /// A write in an instance of its own, wherever this code runs.
  private func add(_ ids: Int..., to configuration: Realm.Configuration) throws {
    let scheduler = ManualScheduler()
    let realm = try Realm(configuration: configuration, scheduler: scheduler)
    for id in ids { try realm.write { realm.create(FedDog.self, value: ["id": id]) } }
  }

  private func addNote(to configuration: Realm.Configuration) throws {
    let scheduler = ManualScheduler()
    let realm = try Realm(configuration: configuration, scheduler: scheduler)
    try realm.write { realm.create(FedNote.self) }
  }

  @Test func aLoopGetsWhatWasAndWhatComes() async throws {
    let configuration = shelter.configuration
    let (cursor, pinned) = try open()
    defer { withExtendedLifetime(pinned) {} }
    try add(1, to: configuration)
    var told: [[Int]] = []
    for try await batch in cursor.batches() {
      told.append(batch[FedDog.self].inserted.map(\.id))
      try await batch.acknowledge()
      if told.count == 3 { break }
      try add(told.count + 1, to: configuration)
    }
    #expect(told == [[1], [2], [3]])
  }

  @Test func aLoopRepeatsWithTheNextCommit() async throws {
    let configuration = shelter.configuration
    let (cursor, pinned) = try open()
    defer { withExtendedLifetime(pinned) {} }
    try add(1, to: configuration)
    var loop = cursor.batches().makeAsyncIterator()
    let first = try await loop.next(isolation: nil)
    #expect(first?.isRepeated == false)
    try add(2, to: configuration)
    let second = try await loop.next(isolation: nil)
    #expect(second?.isRepeated == true)
    #expect(second?[FedDog.self].inserted.map(\.id) == [1, 2])
  }

  @Test func aLoopEndsWithItsCursor() async throws {
    let (cursor, pinned) = try open()
    defer { withExtendedLifetime(pinned) {} }
    let task = Task {
      var count = 0
      for try await _ in cursor.batches() { count += 1 }
      return count
    }
    cursor.close()
    #expect(try await task.value == 0)
  }

  @Test func aLoopEndsWithItsTask() async throws {
    let (cursor, pinned) = try open()
    defer { withExtendedLifetime(pinned) {} }
    let task = Task {
      for try await _ in cursor.batches() {}
      return Task.isCancelled
    }
    task.cancel()
    #expect(try await task.value)
  }

  @Test func aLoopOfOneClassPassesOverOthers() async throws {
    let configuration = shelter.configuration
    let (cursor, pinned) = try open()
    defer { withExtendedLifetime(pinned) {} }
    try addNote(to: configuration)
    try add(1, to: configuration)
    var loop = cursor.batches(of: FedDog.self).makeAsyncIterator()
    let batch = try await loop.next(isolation: nil)
    #expect(batch?.classNames == ["FedDog"])
  }

  @Test func anObserverGetsWhatWasAndWhatComes() async throws {
    let configuration = shelter.configuration
    let (cursor, pinned) = try open()
    defer { withExtendedLifetime(pinned) {} }
    try add(1, to: configuration)
    let (told, tell) = AsyncStream.makeStream(of: [Int].self)
    let token = cursor.observe { result in
      guard let batch = try? result.get() else { return }
      tell.yield(batch[FedDog.self].inserted.map(\.id))
      try? batch.acknowledge()
    }
    var seen: [Int] = []
    for await ids in told {
      seen += ids
      if seen.count == 3 { break }
      try add(seen.count + 1, to: configuration)
    }
    #expect(seen == [1, 2, 3])
    #expect(token.invalidate())
    #expect(!token.invalidate())
  }

  @Test func anObserverIsCalledOnItsQueue() async throws {
    let configuration = shelter.configuration
    let (cursor, pinned) = try open()
    defer { withExtendedLifetime(pinned) {} }
    try add(1, to: configuration)
    let queue = DispatchQueue(label: "test")
    let key = DispatchSpecificKey<Bool>()
    queue.setSpecific(key: key, value: true)
    let (told, tell) = AsyncStream.makeStream(of: Bool.self)
    let token = cursor.observe(on: queue) { _ in
      tell.yield(DispatchQueue.getSpecific(key: key) == true)
    }
    var first = told.makeAsyncIterator()
    #expect(await first.next() == true)
    token.invalidate()
  }

  /// A cursor, and what keeps the records since.
  private func open() throws -> (ChangeCursor, Realm) {
    let scheduler = ManualScheduler()
    let realm = try Realm(configuration: shelter.configuration, scheduler: scheduler)
    return (try MemoryCursor(realm).cursor, realm.freeze())
  }
}
