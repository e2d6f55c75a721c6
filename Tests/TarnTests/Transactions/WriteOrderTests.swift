import Foundation
import TestSupport
import Testing

@testable import Tarn

/// An actor that notes the order of writes.
private actor Clerk {
  private var realm: Realm!
  private(set) var called: [Int] = []
  private(set) var order: [Int] = []

  init(_ configuration: Realm.Configuration) async throws {
    realm = try await Realm(configuration: configuration, actor: self)
  }

  func write(_ id: Int) async throws {
    called.append(id)
    try await realm.asyncWrite {
      order.append(id)
      realm.add(Cat(id))
    }
  }

  /// Runs on the actor without a pause that anybody of lower rank could use, until it is told.
  func keepBusy(until enough: Int) async {
    while order.count < enough { await Task.yield() }
  }
}

/// An actor of low priority, on a thread of its own, that does not get on with its work.
private actor SlowClerk {
  private let executor = QueueExecutor("slow", .background)
  private var realm: Realm!
  private(set) var hasCalled = false

  init(_ configuration: Realm.Configuration) async throws {
    realm = try await Realm(configuration: configuration, actor: self)
  }

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  func write(_ id: Int) async throws {
    hasCalled = true
    try await realm.asyncWrite { realm.add(Cat(id)) }
  }

  /// The actor's thread gets no time until it is let go on.
  func stand(_ stands: DispatchSemaphore, until goesOn: DispatchSemaphore) {
    stands.signal()
    goesOn.wait()
  }
}

/// Writes of tasks of every priority: first come, first served.
struct WriteOrderTests {
  private let shelter: Shelter
  private let other: Instance

  init() throws {
    shelter = try Shelter(.full)
    other = try shelter.open()
  }

  /// Calls, one after the other, while somebody else writes.
  private func queue(
    _ clerk: Clerk, _ priorities: [TaskPriority]
  ) async throws -> [Task<Void, any Error>] {
    var tasks: [Task<Void, any Error>] = []
    for (id, priority) in priorities.enumerated() {
      tasks.append(Task.detached(priority: priority) { try await clerk.write(id) })
      while await clerk.called.count <= id {
        try Task.checkCancellation()
        await Task.yield()
      }
    }
    return tasks
  }

  @Test("a task of low priority that queued first writes first", .timeLimit(.minutes(30)))
  func aTaskOfLowPriorityThatCameFirstWritesFirst() async throws {
    let clerk = try await Clerk(shelter.configuration)
    let held = try other.realm.core.store.acquireGate()
    let tasks = try await queue(
      clerk, [.background, .high, .background, .high, .medium, .high, .low])
    #expect(await clerk.order.isEmpty)
    held.release()
    for task in tasks { try await task.value }
    #expect(await clerk.order == Array(0..<7))
  }

  /// One of high priority waits behind one of low priority, while its actor and the pool have work
  /// of high priority all the time.
  @Test("a busy actor does not starve writes of low priority", .timeLimit(.minutes(30)))
  func aBusyActorDoesNotStarveTheWritesOfLowPriority() async throws {
    let clerk = try await Clerk(shelter.configuration)
    let held = try other.realm.core.store.acquireGate()
    let tasks = try await queue(clerk, [.background, .high])
    let busy = (0..<4).map { _ in
      Task.detached(priority: .high) { await clerk.keepBusy(until: 2) }
    }
    held.release()
    for task in tasks { try await task.value }
    #expect(await clerk.order == [0, 1])
    for task in busy { await task.value }
  }

  /// Priority inversion: one of high priority is behind one of low priority, which others keep from
  /// running at all.
  @Test("an actor that cannot run does not keep others from writing", .timeLimit(.minutes(30)))
  func whoDoesNotGetToRunKeepsNoOtherActorFromWriting() async throws {
    let (slow, clerk) = (
      try await SlowClerk(shelter.configuration), try await Clerk(shelter.configuration)
    )
    let held = try other.realm.core.store.acquireGate()
    let low = Task.detached(priority: .background) { try await slow.write(100) }
    while await !slow.hasCalled {
      try Task.checkCancellation()
      await Task.yield()
    }
    let (stands, goesOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let standing = Task.detached(priority: .medium) { await slow.stand(stands, until: goesOn) }
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async {
        stands.wait()
        continuation.resume()
      }
    }
    let busy = (0..<8).map { _ in
      Task.detached(priority: .medium) { while !Task.isCancelled { await Task.yield() } }
    }
    let high = try await queue(clerk, [.high, .high, .high])
    held.release()
    for task in high { try await task.value }
    for task in busy {
      task.cancel()
      await task.value
    }
    // It was the first in line all the time, and nobody has waited for it.
    #expect(await clerk.order == [0, 1, 2])
    #expect(try ids() == [0, 1, 2])
    goesOn.signal()
    await standing.value
    try await low.value
    #expect(try ids() == [0, 1, 2, 100])
  }

  private func ids() throws -> Set<Int> {
    let realm = try Realm(configuration: shelter.configuration, queue: nil)
    return Set(realm.objects(Cat.self).map(\.id))
  }
}
