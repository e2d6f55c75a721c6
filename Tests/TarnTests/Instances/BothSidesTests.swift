import CTarn
import Dispatch
import Foundation
import TestSupport
import Testing

@testable import Tarn

private actor Stranger {
  func run(_ body: @Sendable () -> Void) { body() }
}

private actor QueuedStranger {
  private let executor = QueueExecutor("strangers")
  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
  func run(_ body: @Sendable () -> Void) { body() }
}

/// Who uses an instance that belongs elsewhere is told where that is, and where the code runs.
@Suite struct BothSidesTests: TrapSuite {
  private let folder = TemporaryFolder()

  enum Place: String, CaseIterable, Codable {
    case actor, executor, task, queue, thread

    var name: String {
      switch self {
      case .actor: "the actor 'Stranger'."
      case .executor: "an actor on the executor 'QueueExecutor'."
      case .task: "a task without an actor."
      case .queue: "the queue 'strangers'."
      case .thread: "another thread"
      }
    }

    func run(_ body: @escaping @Sendable () -> Void) async {
      switch self {
      case .actor: await Stranger().run(body)
      case .executor: await QueuedStranger().run(body)
      case .task: await Task.detached { body() }.value
      case .queue, .thread:
        await withCheckedContinuation { continuation in
          start {
            body()
            continuation.resume()
          }
        }
      }
    }

    private func start(_ body: @escaping @Sendable () -> Void) {
      if self == .queue { return DispatchQueue(label: "strangers").async(execute: body) }
      Thread.detachNewThread(body)
    }
  }

  /// A Realm of a thread, or of a queue with that name. Either stays on its thread.
  private static func open(_ path: String, onQueue: Bool) -> Realm? {
    let configuration = ActorPet.configuration(URL(fileURLWithPath: path))
    nonisolated(unsafe) var realm: Realm?  // because: this breaks the rule on purpose
    let opened = DispatchSemaphore(value: 0)
    @Sendable func open(_ queue: DispatchQueue?) {
      unsafe realm = try? Realm(configuration: configuration, queue: queue)
      opened.signal()
      DispatchSemaphore(value: 0).wait()
    }
    if onQueue {
      let queue = DispatchQueue(label: "pets")
      queue.async { open(queue) }
    } else {
      Thread.detachNewThread { open(nil) }
    }
    opened.wait()
    return unsafe realm
  }

  /// A Realm of another thread or queue, used in that place.
  private static func row(_ place: Place, ownerIsAQueue: Bool) -> TrapCase {
    // A thread's own name may follow.
    let owner = ownerIsAQueue ? "the queue 'pets';" : "a thread"
    return TrapCase("\(place), of \(owner)", "belongs to \(owner)") { shelter in
      // because: this breaks the rule on purpose.
      nonisolated(unsafe) let realm = BothSidesTests.open(
        shelter.folder + "/pets.realm", onQueue: ownerIsAQueue)
      await place.run { print(unsafe realm?.objects(ActorPet.self).count ?? 0) }
    }
  }

  static let traps: [(Place, TrapCase)] = [true, false].flatMap { ownerIsAQueue in
    Place.allCases.map { ($0, row($0, ownerIsAQueue: ownerIsAQueue)) }
  }

  @Test(arguments: traps.map { ($0.0, $0.1.name) })
  func areNamed(_ place: Place, _ name: String) async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      [folder = folder.path as String, name] in
      try await BothSidesTests.traps.map(\.1).named(name).run(Shelter(within: folder))
    }
    try expect(Self.traps.map(\.1).named(name).message, in: result)
    try expect("; this code runs on \(place.name)", in: result)
  }

  /// A use outside of a queue, on the thread that ran its block.
  private static func outside(
    _ name: String, inside: @escaping @Sendable (Realm) -> Void = { _ in },
    _ use: @escaping @Sendable (Realm) -> Void
  ) -> TrapCase {
    TrapCase(name, "belongs to the queue 'pets';") { shelter in
      let url = URL(fileURLWithPath: shelter.folder + "/pets.realm")
      let queue = DispatchQueue(label: "pets")
      var ran: UInt = 0
      var realm: Realm?
      // A block of `sync` runs on the thread of its caller.
      try queue.sync {
        realm = try Realm(configuration: ActorPet.configuration(url), queue: queue)
        ran = tarn_thread_id()
        // Each of them is allowed in here.
        print(realm!.objects(ActorPet.self).count)
        inside(realm!)
      }
      guard ran == tarn_thread_id() else { return }
      use(realm!)
    }
  }

  static let outsideTraps: [TrapCase] = [
    outside("query") { print($0.objects(ActorPet.self).count) },
    outside("find") { print($0.object(ofType: ActorPet.self, forPrimaryKey: 1) as Any) },
    outside("write") { $0.beginWrite() },
    outside("freeze") { print($0.freeze()) },
    outside("nested queue", inside: onAnotherQueue) { onAnotherQueue($0) },
  ]

  @Sendable private static func onAnotherQueue(_ realm: Realm) {
    DispatchQueue(label: "strangers").sync { print(realm.objects(ActorPet.self).count) }
  }

  @Test(arguments: outsideTraps.map(\.name))
  func stopsOutsideOfAQueueOnItsThread(_ name: String) async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      [folder = folder.path as String, name] in
      try await BothSidesTests.outsideTraps.named(name).run(Shelter(within: folder))
    }
    try expect(Self.outsideTraps.named(name).message, in: result)
  }
}
