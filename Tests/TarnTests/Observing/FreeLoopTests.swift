import Foundation
import Testing

@testable import Tarn

/// While a worker computes, the queue that an instance lives on runs other things.
struct FreeLoopTests {
  /// An instance with an observer on a serial queue.
  private final class QueueHome: @unchecked Sendable {
    // because: everything but `queue` and `told` is used on the queue alone.
    let queue = DispatchQueue(label: "cats at home")
    let told = DispatchSemaphore(value: 0)
    private(set) var realm: Realm!
    private(set) var recorder = CatRecorder()

    init(_ configuration: Realm.Configuration) throws {
      try queue.sync {
        realm = try Realm(configuration: configuration, queue: queue)
        realm.useWorker(rows: 10)
        recorder.onCall = { [told] _ in told.signal() }
      }
    }

    func observe() {
      queue.sync { recorder.observe(realm.objects(Cat.self).sorted(by: \.age)) }
    }

    func hold() -> HeldWorker { queue.sync { realm.holdWorker() } }
    func goOn(_ held: HeldWorker) { queue.sync { realm.goOn(held) } }

    /// Runs on the queue, if that does anything at all.
    func count() -> Int? {
      let done = DispatchSemaphore(value: 0)
      nonisolated(unsafe) var count: Int?  // because: written before the signal, read after it
      queue.async {
        count = self.realm.objects(Cat.self).count
        done.signal()
      }
      return done.wait(timeout: .now() + 300) == .success ? count : nil
    }

    func wasTold() -> Bool { told.wait(timeout: .now() + 300) == .success }

    func end() {
      queue.sync {
        recorder.token?.invalidate()
        recorder = CatRecorder()
        realm = nil
      }
    }
  }

  @Test func aQueueRunsOtherThingsWhileTheWorkerComputes() throws {
    let shelter = try Shelter()
    let writer = try shelter.open(cats: 30)
    let home = try QueueHome(shelter.configuration)
    let first = home.hold()
    home.observe()
    #expect(first.waitUntilHeld())
    #expect(home.count() == 30)
    #expect(home.queue.sync { home.recorder.calls } == [])
    home.goOn(first)
    #expect(home.wasTold())
    #expect(home.queue.sync { home.recorder.calls } == ["initial 30"])

    let second = home.hold()
    try writer.write { writer.realm.delete(writer.cats.where { $0.age < 200 }) }
    #expect(second.waitUntilHeld())
    #expect(home.count() == 30)
    home.goOn(second)
    #expect(home.wasTold())
    let gone = Array(0..<20)
    #expect(home.queue.sync { home.recorder.calls } == ["initial 30", "-\(gone) +[] ~[]"])
    #expect(home.queue.sync { home.recorder.problems } == [])
    home.end()
  }
}
