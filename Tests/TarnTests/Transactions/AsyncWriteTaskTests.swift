import Foundation
import TarnStore
import TestSupport
import Testing

@testable import Tarn

private let durabilities: [Realm.Configuration.Durability] = [.full, .relaxed]

private struct Refusal: Error, Equatable {}

/// `asyncWrite`, where main is the actor.
@MainActor @Suite(.timeLimit(.minutes(30))) struct AsyncWriteTaskTests {
  private func open(_ shelter: Shelter) throws -> Realm {
    try Realm(configuration: shelter.configuration)
  }

  @Test("asyncWrite returns the value of its block after the commit", arguments: durabilities)
  func theValueOfTheBlockComesBackWhenItIsWritten(
    _ durability: Realm.Configuration.Durability
  ) async throws {
    let shelter = try Shelter(durability)
    let realm = try open(shelter)
    let cat = try await realm.asyncWrite { realm.create(Cat.self, value: ["id": 1]) }
    #expect(cat.id == 1)
    #expect(!realm.isInWriteTransaction)
    #expect(!realm.isPerformingAsynchronousWriteOperations)
    try await realm.asyncWrite { cat.name = "Mia" }
    #expect(cat.name == "Mia")
    #expect(try shelter.open().cat(1)?.name == "Mia")
  }

  @Test("asyncWrite rolls back and rethrows when its block throws", arguments: durabilities)
  func aBlockThatThrowsIsRolledBack(_ durability: Realm.Configuration.Durability) async throws {
    let shelter = try Shelter(durability)
    let realm = try open(shelter)
    await #expect(throws: Refusal()) {
      try await realm.asyncWrite {
        realm.add(Cat(1))
        throw Refusal()
      }
    }
    #expect(realm.objects(Cat.self).isEmpty)
    #expect(!realm.isInWriteTransaction)
    try shelter.open().add(2)
  }

  @Test("the block of asyncWrite may commit or cancel the write itself", arguments: durabilities)
  func theBlockMayEndItsWrite(_ durability: Realm.Configuration.Durability) async throws {
    let shelter = try Shelter(durability)
    let realm = try open(shelter)
    try await realm.asyncWrite {
      realm.add(Cat(1))
      realm.cancelWrite()
    }
    #expect(realm.objects(Cat.self).isEmpty)
    try await realm.asyncWrite {
      realm.cancelWrite()
      realm.beginWrite()
      realm.add(Cat(2))
    }
    #expect(realm.objects(Cat.self).count == 1)
  }

  @Test("asyncWrite excludes tokens")
  func tokensCanBeLeftOut() async throws {
    let shelter = try Shelter(.full)
    let realm = try open(shelter)
    var calls = 0
    let token = realm.observe { _, _ in calls += 1 }
    try await realm.asyncWrite(withoutNotifying: [token]) { realm.add(Cat(1)) }
    #expect(calls == 0)
    try await realm.asyncWrite { realm.add(Cat(2)) }
    #expect(calls == 1)
    token.invalidate()
  }

  @Test("calls of asyncWrite run in order, after ordinary writes", arguments: durabilities)
  func callsWriteInOrderAndOrdinaryWritesGoFirst(
    _ durability: Realm.Configuration.Durability
  ) async throws {
    let shelter = try Shelter(durability)
    let realm = try open(shelter)
    let held = try realm.core.store.acquireGate()
    var log: [Int] = []
    let tasks = (1...5).map { id in
      // In order: each runs up to its first suspension before the next one begins.
      Task { @MainActor in
        try await realm.asyncWrite {
          log.append(id)
          realm.add(Cat(id))
        }
      }
    }
    realm.writeAsync { log.append(0) }
    try await yieldUntil { realm.isPerformingAsynchronousWriteOperations }
    await Task.yield()
    held.release()
    try realm.write { log.append(100) }
    for task in tasks { try await task.value }
    #expect(log.first == 100)
    #expect(log.filter { (1...5).contains($0) } == [1, 2, 3, 4, 5])
    #expect(realm.objects(Cat.self).count == 5)
  }

  @Test("a task cancelled before its turn writes nothing")
  func aTaskThatIsCancelledBeforeItIsItsTurnWritesNothing() async throws {
    let shelter = try Shelter(.full)
    let realm = try open(shelter)
    let held = try realm.core.store.acquireGate()
    let task = Task { @MainActor in
      try await realm.asyncWrite { Issue.record("cancelled before") }
    }
    try await yieldUntil { realm.isPerformingAsynchronousWriteOperations }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(!realm.isPerformingAsynchronousWriteOperations)
    held.release()
    let early = Task { @MainActor in
      try await realm.asyncWrite { Issue.record("cancelled at the start") }
    }
    early.cancel()
    await #expect(throws: CancellationError.self) { try await early.value }
    // After the block has run the commit goes on.
    let late = Task { @MainActor in
      try await realm.asyncWrite {
        realm.add(Cat(1))
        unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
      }
    }
    try await late.value
    #expect(realm.objects(Cat.self).count == 1)
  }

  @Test("many cancelled tasks leave no queued write behind", arguments: durabilities)
  func aStormOfCancellationsLeavesNothingBehind(
    _ durability: Realm.Configuration.Durability
  ) async throws {
    let shelter = try Shelter(durability)
    let realm = try open(shelter)
    var (written, cancelled, wanted) = (0, 0, 0)
    var random = SystemRandomNumberGenerator()
    // 1,000 with `TARN_SEEDS=all`.
    let rounds = Seeds.rounds(1_000, few: 200)
    for round in 0..<rounds {
      // Half of the time somebody else has the gate.
      let held = round % 2 == 0 ? try realm.core.store.acquireGate() : nil
      let tasks = (0..<10).map { _ in
        Task { @MainActor in
          try await realm.asyncWrite { written += 1 }
        }
      }
      for task in tasks {
        for _ in 0..<Int.random(in: 0..<3, using: &random) { await Task.yield() }
        if Bool.random(using: &random) { task.cancel() }
      }
      held?.release()
      for task in tasks {
        wanted += 1
        do {
          try await task.value
        } catch is CancellationError {
          cancelled += 1
        }
      }
    }
    #expect(written + cancelled == wanted)
    #expect(wanted == 10 * rounds)
    #expect(cancelled > 0)
    #expect(written > 0)
    #expect(!realm.isPerformingAsynchronousWriteOperations)
    // The gate is free, and nobody stands in line.
    try shelter.open().realm.write(timeout: .seconds(300)) {}
    #expect(realm.core.store.gate.holder == nil)
  }
}

struct WriteTimeoutTests {
  @Test func aWriteThatWaitsTooLongIsToldWhoWrites() throws {
    let shelter = try Shelter(.relaxed)
    let (a, b) = (try shelter.open(), try shelter.open())
    b.realm.beginWrite()
    let error = #expect(throws: Realm.Error.self) {
      try a.realm.write(timeout: .milliseconds(20)) { Issue.record("never") }
    }
    #expect(error?.code == .busy)
    #expect(error?.message.contains("process \(getpid()) (") == true)
    #expect(error?.message.contains("has been writing for ") == true)
    #expect(error?.message.contains("is stopped") == false)
    #expect(!a.realm.isInWriteTransaction)
    b.realm.cancelWrite()
    #expect(try a.realm.write(timeout: .seconds(300)) { 7 } == 7)
  }
}
