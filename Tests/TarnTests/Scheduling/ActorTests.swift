import Dispatch
import Foundation
import TestSupport
import Testing

@testable import Tarn

private final class ActorNote: Object {
  @Persisted var text: String
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// Runs an actor on a queue of its own.
final class QueueExecutor: SerialExecutor {
  let queue: DispatchQueue

  init(_ label: String, _ quality: DispatchQoS = .unspecified) {
    queue = DispatchQueue(label: label, qos: quality)
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }
}

/// What the article on threads and actors says about an actor that has an instance.
private actor Notes {
  private let executor = QueueExecutor("notes")
  private let url: URL
  private var realm: Realm?
  private var token: NotificationToken?

  init(_ url: URL) { self.url = url }

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  private static func configuration(_ url: URL) -> Realm.Configuration {
    Realm.Configuration(fileURL: url, objectTypes: [ActorNote.self])
  }

  func open() throws {
    realm = try Realm(configuration: Self.configuration(url), queue: executor.queue)
  }

  func add(_ text: String) throws {
    try realm?.write { realm?.create(ActorNote.self, value: ["text": text]) }
  }

  /// The Realm is the queue's, and so the actor's.
  func addLater(_ text: String) async throws {
    try await realm?.asyncWrite { _ = realm?.create(ActorNote.self, value: ["text": text]) }
  }

  func observe(_ told: @escaping @Sendable (Int) -> Void) {
    token = realm?.objects(ActorNote.self).observe { change in
      if case .update(let notes, _, _, _) = change { told(notes.count) }
      if case .initial(let notes) = change { told(notes.count) }
    }
  }

  /// A synchronous method that keeps nothing.
  nonisolated static func count(_ url: URL) throws -> Int {
    try Realm(configuration: configuration(url)).objects(ActorNote.self).count
  }
}

@Suite struct ActorTests: TrapSuite {
  private let folder = TemporaryFolder()

  @Test func anActorOnASerialQueueKeepsItsRealm() async throws {
    let notes = Notes(folder.url("notes.realm"))
    try await notes.open()
    let (counts, told) = AsyncStream.makeStream(of: Int.self)
    await notes.observe { told.yield($0) }
    var seen = counts.makeAsyncIterator()
    #expect(await seen.next() == 0)
    for number in 1...5 {
      await Task.yield()
      if number.isMultiple(of: 2) {
        try await notes.addLater("note \(number)")
      } else {
        try await notes.add("note \(number)")
      }
      #expect(await seen.next() == number)
    }
    let url = folder.url("notes.realm")
    #expect(try await Task.detached { try Notes.count(url) }.value == 5)
  }

  @Test func aTaskThatMovedToAnotherThreadIsToldWhatToDo() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [path = folder.file("notes.realm") as String] in
      nonisolated(unsafe) var kept: Realm?  // because: this breaks the rule on purpose
      let done = DispatchSemaphore(value: 0)
      Thread.detachNewThread {
        let configuration = Realm.Configuration(
          fileURL: URL(fileURLWithPath: path), objectTypes: [ActorNote.self])
        kept = try? Realm(configuration: configuration, queue: nil)
        done.signal()
      }
      done.wait()
      print(kept?.objects(ActorNote.self).count ?? 0)
    }
    try expect("Realm accessed from incorrect thread", in: result)
    try expect("open the Realm for the actor, with try await Realm(actor:)", in: result)
  }

  @Test func anActorThatObservesIsToldWhatToDo() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [path = folder.file("notes.realm") as String] in
      let configuration = Realm.Configuration(
        fileURL: URL(fileURLWithPath: path), objectTypes: [ActorNote.self])
      func observe() throws {
        let token = try Realm(configuration: configuration).objects(ActorNote.self).observe { _ in }
        withExtendedLifetime(token) {}
      }
      try observe()
    }
    try expect("Can only add notification blocks from within run loops", in: result)
    try expect("open the Realm for the actor", in: result)
  }
}
