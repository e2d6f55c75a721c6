import Foundation
import TestSupport
import Testing

@testable import Tarn

private let durabilities: [Realm.Configuration.Durability] = [.full, .relaxed]

/// Asynchronous writes that wait for a limited time.
@Suite(.timeLimit(.minutes(30))) struct AsyncWriteTimeoutTests {
  private func expectBusy(_ error: (any Error)?) {
    let error = error as? Realm.Error
    #expect(error?.code == .busy)
    #expect(error?.message.contains("process \(getpid()) (") == true)
    #expect(error?.message.contains("has been writing for ") == true)
  }

  @Test(arguments: durabilities)
  func queuedBlocksGiveUpAndOthersStay(_ durability: Realm.Configuration.Durability) throws {
    let shelter = try Shelter(durability)
    let (a, b) = (try shelter.open(), try shelter.open())
    b.realm.beginWrite()
    var ends: [String] = []
    a.realm.writeAsync(timeout: .seconds(600)) { a.realm.add(Cat(1)) }
    a.realm.writeAsync(timeout: .milliseconds(30)) {
      Issue.record("too late")
    } onComplete: { error in
      expectBusy(error)
      ends.append("write")
    }
    a.realm.beginAsyncWrite(timeout: .milliseconds(5)) {
      Issue.record("too late")
    } onFailure: { error in
      expectBusy(error)
      ends.append("begin")
    }
    a.realm.beginAsyncWrite {
      a.realm.add(Cat(2))
      a.realm.commitAsyncWrite()
    }
    while ends.count < 2 {
      a.scheduler.wait(timeout: 10)
      a.pump()
    }
    // In either order: on a busy machine both are late at the first look.
    #expect(ends.sorted() == ["begin", "write"])
    #expect(a.realm.isPerformingAsynchronousWriteOperations)
    #expect(a.cats.isEmpty)
    b.realm.cancelWrite()
    a.finish()
    #expect(a.cats.map(\.id).sorted() == [1, 2])
  }

  /// The last deadline may pass while the others are looked at.
  @Test func noDeadlineIsMissed() throws {
    let shelter = try Shelter(.relaxed)
    let (a, b) = (try shelter.open(), try shelter.open())
    b.realm.beginWrite()
    for later in stride(from: 0, to: 3_000, by: 100) {
      var count = 0
      for timeout in [1_000 + later] + Array(repeating: 1_000, count: 50) {
        a.realm.writeAsync(timeout: .microseconds(timeout)) {
          Issue.record("too late")
        } onComplete: { _ in
          count += 1
        }
      }
      while count < 51, a.scheduler.wait(timeout: 20) { a.pump() }
      try #require(count == 51, "\(later) microseconds later: only \(count) gave up")
    }
    b.realm.cancelWrite()
  }

  /// Those behind it go on.
  @Test func theFirstInLineGivesUp() throws {
    let shelter = try Shelter(.relaxed)
    let (a, b) = (try shelter.open(), try shelter.open())
    b.realm.beginWrite()
    var isOver = false
    a.realm.writeAsync(timeout: .milliseconds(5)) {
      Issue.record("too late")
    } onComplete: { error in
      expectBusy(error)
      isOver = true
    }
    a.realm.writeAsync { a.realm.add(Cat(1)) }
    while !isOver {
      a.scheduler.wait(timeout: 10)
      a.pump()
    }
    b.realm.cancelWrite()
    a.finish()
    #expect(a.cats.count == 1)
    #expect(a.realm.core.store.gate.holder == nil)
  }

  @Test func theInstancesOwnWriteCounts() throws {
    let a = try Shelter(.relaxed).open()
    var isOver = false
    a.realm.beginWrite()
    a.realm.writeAsync(timeout: .milliseconds(5)) {
      Issue.record("too late")
    } onComplete: { error in
      expectBusy(error)
      isOver = true
    }
    while !isOver {
      a.scheduler.wait(timeout: 10)
      a.pump()
    }
    a.realm.cancelWrite()
    a.finish()
  }

  @Test func whoCanBeginIsNeverTooLate() throws {
    let a = try Shelter(.relaxed).open()
    var ends = 0
    for timeout in [Duration.zero, .milliseconds(-1), .seconds(Int64.max)] {
      a.realm.writeAsync(timeout: timeout) {
        a.realm.add(Cat(ends))
      } onComplete: { error in
        #expect(error == nil)
        ends += 1
      }
      a.finish()
    }
    #expect(ends == 3)
    #expect(a.cats.count == 3)
  }

  @Test func whatIsCancelledIsToldNothing() throws {
    let shelter = try Shelter(.relaxed)
    let (a, b) = (try shelter.open(), try shelter.open())
    b.realm.beginWrite()
    var isOver = false
    let id = a.realm.writeAsync(timeout: .milliseconds(5)) {
      Issue.record("cancelled")
    } onComplete: { _ in
      Issue.record("cancelled")
    }
    try a.realm.cancelAsyncWrite(id)
    a.realm.writeAsync(timeout: .milliseconds(20)) {
    } onComplete: { _ in
      isOver = true
    }
    while !isOver {
      a.scheduler.wait(timeout: 10)
      a.pump()
    }
    b.realm.cancelWrite()
    #expect(!a.realm.isPerformingAsynchronousWriteOperations)
  }

  @MainActor @Test(arguments: durabilities)
  func aTaskGivesUp(_ durability: Realm.Configuration.Durability) async throws {
    let shelter = try Shelter(durability)
    let realm = try await Realm(configuration: shelter.configuration)
    let held = try realm.core.store.acquireGate()
    let ahead = Task { @MainActor in
      try await realm.asyncWrite(timeout: .seconds(600)) { realm.add(Cat(1)) }
    }
    try await yieldUntil { realm.isPerformingAsynchronousWriteOperations }
    let error = await #expect(throws: Realm.Error.self) {
      try await realm.asyncWrite(timeout: .milliseconds(5)) { Issue.record("too late") }
    }
    expectBusy(error)
    let cancelled = Task { @MainActor in
      try await realm.asyncWrite(timeout: .seconds(600)) { Issue.record("cancelled") }
    }
    await Task.yield()
    cancelled.cancel()
    await #expect(throws: CancellationError.self) { try await cancelled.value }
    held.release()
    try await ahead.value
    #expect(try await realm.asyncWrite(timeout: .zero) { 7 } == 7)
    #expect(realm.objects(Cat.self).count == 1)
  }
}
