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
      while await clerk.called.count <= id { await Task.yield() }
    }
    return tasks
  }

  @Test("S86", .timeLimit(.minutes(1)))
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
  @Test("S86", .timeLimit(.minutes(1)))
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
}
