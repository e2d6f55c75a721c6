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

  @Test(arguments: Place.allCases, [true, false])
  func areNamed(_ place: Place, ownerIsAQueue: Bool) async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      [
        path = folder.file("pets.realm") as String, place = place as Place,
        onQueue = ownerIsAQueue as Bool
      ] in
      // because: this breaks the rule on purpose.
      nonisolated(unsafe) let realm = BothSidesTests.open(path, onQueue: onQueue)
      await place.run { print(unsafe realm?.objects(ActorPet.self).count ?? 0) }
    }
    // A thread's own name may follow.
    let owner = ownerIsAQueue ? "the queue 'pets';" : "a thread"
    try expect("belongs to \(owner)", in: result)
    try expect("; this code runs on \(place.name)", in: result)
  }

  /// Outside of a queue, on the thread that ran its block.
  enum Use: String, CaseIterable, Codable {
    case query, find, write, freeze, nestedQueue

    func run(_ realm: Realm) {
      switch self {
      case .query: print(realm.objects(ActorPet.self).count)
      case .find: print(realm.object(ofType: ActorPet.self, forPrimaryKey: 1) as Any)
      case .write: realm.beginWrite()
      case .freeze: print(realm.freeze())
      case .nestedQueue:
        DispatchQueue(label: "strangers").sync { print(realm.objects(ActorPet.self).count) }
      }
    }
  }

  @Test(arguments: Use.allCases)
  func whatIsOutsideOfAQueueOnItsThreadTraps(_ use: Use) async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      [path = folder.file("pets.realm") as String, use = use as Use] in
      let configuration = ActorPet.configuration(URL(fileURLWithPath: path))
      let queue = DispatchQueue(label: "pets")
      var ran: UInt = 0
      var realm: Realm?
      // A block of `sync` runs on the thread of its caller.
      try queue.sync {
        realm = try Realm(configuration: configuration, queue: queue)
        ran = tarn_thread_id()
        // Each of them is allowed in here.
        print(realm!.objects(ActorPet.self).count)
        if use == .nestedQueue { use.run(realm!) }
      }
      guard ran == tarn_thread_id() else { exit(0) }
      use.run(realm!)
    }
    try expect("belongs to the queue 'pets';", in: result)
  }
}
