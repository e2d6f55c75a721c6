import Dispatch
import Foundation
import Tarn
import TarnStore
import ToolSupport

/// W8a and W4a: observes and reads in an actor.
private actor BenchActor {
  private var realm: Realm!
  private var token: NotificationToken?

  init(_ configuration: Realm.Configuration) async throws {
    realm = try await Realm(configuration: configuration, actor: self)
  }

  func observe(_ hear: @escaping @Sendable () -> Void) {
    token = realm.objects(Person.self).observe { _ in hear() }
  }

  /// The duration of one read of a property, in seconds.
  func read(_ reads: Int) -> Double {
    let people = Array(realm.objects(Person.self).prefix(100))
    var sum = 0
    let time = benchTime {
      for _ in 0..<(reads / people.count) { for person in people { sum &+= person.age } }
    }
    return sum > 0 ? time / Double(reads) : .infinity
  }

  func end() {
    token = nil
    realm = nil
  }
}

/// W8a: lets a thread wait for calls of observers, and records their times.
private final class Hearing: Sendable {
  private let called = DispatchSemaphore(value: 0)
  private let time = Lock(0.0)

  func hear() {
    let now = benchNow()
    time.withLock { $0 = now }
    called.signal()
  }

  func await() throws -> Double {
    guard called.wait(timeout: .now() + 120) == .success else {
      throw ToolError("an observer was not called within 120 s")
    }
    return time.withLock { $0 }
  }
}

/// W8a: from the start of a commit on another thread until an actor's observer is called; the floor
/// is an observer in a thread's run loop. W4a: a property of an actor's object.
func measureActors(_ bench: Bench) throws {
  let configuration = bench.configuration("actors")
  let writer = try Realm(configuration: configuration, scheduler: ManualScheduler())
  try writer.write {
    for id in 1...100 { writer.create(Person.self, value: ["_id": id, "age": 30]) }
  }
  let actor = try waiting { try await BenchActor(configuration) }
  let reads = bench.rounds(10_000_000, tiny: 10_000)
  let read = try waiting { await actor.read(reads) }
  let commits = bench.rounds(2000, tiny: 20)
  let onActor = Hearing()
  try waiting { await actor.observe { onActor.hear() } }
  let ours = try latencies(commits, writer, onActor)
  try waiting { await actor.end() }
  let onLoop = Hearing()
  let loop = ObservingLoop(configuration) { onLoop.hear() }
  let floor = try latencies(commits, writer, onLoop)
  loop.end()
  bench.add(
    BenchFigure(
      "W8a", "commit to callback on an actor, p50; baseline: in a run loop", .seconds,
      ours: Statistics.median(ours), floor: Statistics.median(floor), target: .ratio(2)))
  bench.add(
    BenchFigure(
      "W4a", "read an Int of an actor's object", .seconds, ours: read, target: .value(5e-9)))
}

/// Commits one at a time, each after the observer was called for the one before.
private func latencies(_ commits: Int, _ writer: Realm, _ hearing: Hearing) throws -> [Double] {
  _ = try hearing.await()
  let person = writer.object(ofType: Person.self, forPrimaryKey: 1)
  return try (0..<commits).map { number in
    let start = benchNow()
    try writer.write { person?.age = 31 + number }
    return try hearing.await() - start
  }
}

/// A thread that observes in its run loop.
private final class ObservingLoop: Sendable {
  private let isEnded = Lock(false)
  private let hasEnded = DispatchSemaphore(value: 0)

  init(_ configuration: Realm.Configuration, _ hear: @escaping @Sendable () -> Void) {
    Thread.detachNewThread { [self] in
      let loop = RunLoop.current
      let timer = Timer(timeInterval: 0.01, repeats: true) { _ in }
      loop.add(timer, forMode: .default)
      // A Realm uses the run loop that is running when it is opened.
      loop.perform {
        let people = try? Realm(configuration: configuration).objects(Person.self)
        let token = people?.observe { _ in hear() }
        while !self.isEnded.withLock({ $0 }) {
          _ = RunLoop.current.run(mode: .default, before: Date() + 0.1)
        }
        token?.invalidate()
      }
      _ = loop.run(mode: .default, before: Date() + 0.1)
      hasEnded.signal()
    }
  }

  func end() {
    isEnded.withLock { $0 = true }
    hasEnded.wait()
  }
}

/// Waits for the value of a task in synchronous code.
func waiting<R: Sendable>(
  _ work: @escaping @Sendable () async throws -> R
) throws -> R {
  let outcome = Outcome<R>()
  Task.detached {
    do { outcome.end(.success(try await work())) } catch { outcome.end(.failure(error)) }
  }
  return try outcome.await().get()
}

private final class Outcome<R: Sendable>: Sendable {
  private let done = DispatchSemaphore(value: 0)
  private let result = Lock<Result<R, any Error>?>(nil)

  func end(_ result: Result<R, any Error>) {
    self.result.withLock { $0 = result }
    done.signal()
  }

  func await() -> Result<R, any Error> {
    done.wait()
    return result.withLock { $0! }
  }
}
