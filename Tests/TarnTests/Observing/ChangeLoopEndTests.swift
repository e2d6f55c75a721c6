import Dispatch
import Foundation
import TestSupport
import Testing

@testable import Tarn

/// Loops over changes whose file goes away, and loops where a serial queue is.
@MainActor @Suite(.timeLimit(.minutes(30))) struct ChangeLoopEndTests {
  private let shelter: Shelter
  private let realm: Realm
  private var pack: Pack { realm.object(ofType: Pack.self, forPrimaryKey: 1)! }

  init() throws {
    shelter = try Shelter()
    realm = try Realm(configuration: PackInstance.configuration(shelter))
    try realm.write {
      realm.create(Pack.self, value: ["id": 1])
      realm.add(Cub(1, "a"))
    }
  }

  private func loseFile() throws {
    for ending in ["-signal", "", "-lock"] {
      try FileManager.default.removeItem(atPath: shelter.folder + "/packs.realm" + ending)
    }
  }

  private func isLoss(_ error: any Error) -> Bool {
    (error as? Realm.Error)?.message.contains("packs.realm") == true
  }

  @Test func loopsGetTheErrorAndEnd() async throws {
    let cubs = realm.objects(Cub.self)
    let (pack, sections) = (pack, cubs.sectioned(by: \.name))
    let results = Task { @MainActor in
      var errors: [any Error] = []
      for await change in cubs.changes {
        if case .error(let error) = change { errors.append(error) }
      }
      return errors.map(isLoss)
    }
    let map = Task { @MainActor in
      var errors: [any Error] = []
      for await change in pack.scores.changes {
        if case .error(let error) = change { errors.append(error) }
      }
      return errors.map(isLoss)
    }
    let object = Task { @MainActor in
      var errors: [any Error] = []
      for await change in pack.changes {
        if case .error(let error) = change { errors.append(error) }
      }
      return errors.map(isLoss)
    }
    let sectioned = Task { @MainActor in
      var errors: [any Error] = []
      for await change in sections.changes {
        if case .error(let error) = change { errors.append(error) }
      }
      return errors.map(isLoss)
    }
    try await yieldUntil { realm.core.delivery.observers.count >= 4 }
    try loseFile()
    #expect(await results.value == [true])
    #expect(await map.value == [true])
    #expect(await object.value == [true])
    #expect(await sectioned.value == [true])
    #expect(realm.core.delivery.observers.isEmpty)
  }

  @Test func aRealmsLoopThrows() async throws {
    let realm = realm
    func follow() -> Task<[Realm.Notification], any Error> {
      Task { @MainActor in
        var told: [Realm.Notification] = []
        do throws(Realm.Error) {
          for try await notification in realm.changes { told.append(notification) }
          Issue.record("the loop ended without an error")
        } catch {
          #expect(isLoss(error))
        }
        return told
      }
    }
    let loop = follow()
    try await yieldUntil { !realm.core.delivery.observers.isEmpty }
    try realm.write { realm.add(Cub(2)) }
    try loseFile()
    #expect(try await loop.value == [.didChange])
    #expect(realm.core.delivery.observers.isEmpty)
    // Who comes later is told as well.
    #expect(try await follow().value == [])
  }

  /// The notification that the loop had not asked for comes before the error, which comes once.
  @Test func whatCameBeforeTheLossIsToldFirst() async throws {
    var changes = realm.changes.makeAsyncIterator()
    let first = Task { @MainActor in
      var copy = changes
      return try await copy.next(isolation: #isolation)
    }
    try await yieldUntil { !realm.core.delivery.observers.isEmpty }
    try realm.write { realm.add(Cub(2)) }
    #expect(try await first.value == .didChange)
    try realm.write { realm.add(Cub(3)) }
    try loseFile()
    try await yieldUntil { realm.core.delivery.failure != nil }
    #expect(try await changes.next(isolation: #isolation) == .didChange)
    await #expect(throws: Realm.Error.incompatibleLockFile) {
      try await changes.next(isolation: #isolation)
    }
    #expect(try await changes.next(isolation: #isolation) == nil)
  }

  @Test func aLoopOnASerialQueue() async throws {
    let keeper = CubKeeper(PackInstance.configuration(shelter))
    try await keeper.open()
    async let names = keeper.names(until: 4)
    try await keeper.untilObserved()
    for id in 2..<5 {
      try realm.write { realm.add(Cub(id, "c\(id)")) }
      await Task.yield()
    }
    #expect(try await names == ["a", "c2", "c3", "c4"])
    #expect(try await keeper.isUnobserved)
  }
}

/// Runs on a queue of its own, which its Realm belongs to.
private actor CubKeeper {
  private final class Executor: SerialExecutor {
    let queue = DispatchQueue(label: "cubs")

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
  }

  private let executor = Executor()
  private let configuration: Realm.Configuration
  private var realm: Realm?

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  init(_ configuration: Realm.Configuration) { self.configuration = configuration }

  func open() throws {
    realm = try Realm(configuration: configuration, queue: executor.queue)
  }

  var isUnobserved: Bool { get throws { try #require(realm).core.delivery.observers.isEmpty } }

  func untilObserved() async throws {
    try await yieldUntil { try !isUnobserved }
  }

  /// Follows the cubs until there are so many.
  func names(until count: Int) async throws -> [String] {
    var copy: [Cub] = []
    for await change in try #require(realm).objects(Cub.self).changes {
      change.apply(to: &copy)
      if copy.count == count { break }
    }
    return copy.map(\.name)
  }
}
