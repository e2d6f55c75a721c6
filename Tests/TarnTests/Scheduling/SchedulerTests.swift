import Foundation
import Testing

@testable import Tarn

// Passes of a run loop do not end with a block that it ran, and Foundation has no way to end one.
@_silgen_name("CFRunLoopGetCurrent") private func currentRunLoop() -> UnsafeMutableRawPointer
@_silgen_name("CFRunLoopStop") private func stopRunLoop(_ loop: UnsafeMutableRawPointer)

/// Where observers are called: on the main queue, on a thread's run loop, on a serial queue.
struct SchedulerTests {
  private func add(_ id: Int, _ configuration: Realm.Configuration) throws {
    let realm = try Realm(configuration: configuration)
    try realm.write { realm.add(Cat(id)) }
  }

  @Test func onASerialQueue() async throws {
    let shelter = try Shelter()
    let configuration = shelter.configuration
    let queue = DispatchQueue(label: "cats")
    let (calls, told) = AsyncStream.makeStream(of: Int.self)
    let token = try queue.sync { () -> NotificationToken in
      let realm = try Realm(configuration: configuration, queue: queue)
      return realm.objects(Cat.self).observe { change in
        dispatchPrecondition(condition: .onQueue(queue))
        if case .initial(let cats) = change { told.yield(cats.count) }
        if case .update(let cats, _, _, _) = change { told.yield(cats.count) }
      }
    }
    var next = calls.makeAsyncIterator()
    #expect(await next.next() == 0)
    try add(1, configuration)
    #expect(await next.next() == 1)
    try queue.sync {
      let realm = try Realm(configuration: configuration, queue: queue)
      try realm.write { realm.add(Cat(2)) }
    }
    #expect(await next.next() == 2)
    token.invalidate()
    queue.sync {}
  }

  @MainActor @Test func onTheMainActorAndTheMainQueue() async throws {
    let shelter = try Shelter()
    let configuration = shelter.configuration
    let realm = try Realm(configuration: configuration, queue: nil)
    let again = try Realm(configuration: configuration, queue: .main)
    #expect(realm == again)
    let (calls, told) = AsyncStream.makeStream(of: Int.self)
    let token = realm.objects(Cat.self).observe { change in
      MainActor.assertIsolated()
      if case .initial(let cats) = change { told.yield(cats.count) }
      if case .update(let cats, _, _, _) = change { told.yield(cats.count) }
    }
    var next = calls.makeAsyncIterator()
    #expect(await next.next() == 0)
    try await Task.detached { try add(1, configuration) }.value
    #expect(await next.next() == 1)
    #expect(realm.objects(Cat.self).count == 1)
    token.invalidate()
  }

  @Test func onAThreadInsideItsRunLoop() async throws {
    let shelter = try Shelter()
    let configuration = shelter.configuration
    let (calls, told) = AsyncStream.makeStream(of: Int.self)
    Thread.detachNewThread {
      let loop = RunLoop.current
      let timer = Timer(fire: Date() + 600, interval: 600, repeats: true) { _ in }
      loop.add(timer, forMode: .default)
      // because: both stay on this thread.
      nonisolated(unsafe) var token: NotificationToken?
      nonisolated(unsafe) var isDone = false  // because: as above
      loop.perform {
        do {
          let realm = try Realm(configuration: configuration)
          token = realm.objects(Cat.self).observe { change in
            if case .initial(let cats) = change { told.yield(cats.count) }
            if case .update(let cats, _, _, _) = change {
              told.yield(cats.count)
              if cats.count == 2 {
                isDone = true
                stopRunLoop(currentRunLoop())
              }
            }
          }
        } catch {
          Issue.record(error)
          isDone = true
        }
      }
      while !isDone { _ = loop.run(mode: .default, before: .distantFuture) }
      token?.invalidate()
      timer.invalidate()
      told.finish()
    }
    var next = calls.makeAsyncIterator()
    #expect(await next.next() == 0)
    try add(1, configuration)
    #expect(await next.next() == 1)
    try add(2, configuration)
    #expect(await next.next() == 2)
    #expect(await next.next() == nil)
  }

  @Test func aPlainThreadAdvancesWhenItIsAsked() throws {
    let shelter = try Shelter()
    let realm = try Realm(configuration: shelter.configuration)
    #expect(realm.objects(Cat.self).count == 0)
    let other = try shelter.open(cats: 3)
    #expect(other.cats.count == 3)
    #expect(realm.objects(Cat.self).count == 0)
    #expect(realm.refresh())
    #expect(realm.objects(Cat.self).count == 3)
  }

  @Test func aManualSchedulerIsHandedToAnotherThread() async throws {
    let shelter = try Shelter()
    let a = try shelter.open(cats: 1)
    let recorder = CatRecorder(a.cats)
    // because: the scheduler is handed to that thread, and this one waits.
    nonisolated(unsafe) let (instance, seen) = (a, recorder)
    let counted = await withCheckedContinuation { continuation in
      Thread.detachNewThread {
        instance.scheduler.adopt()
        instance.pump()
        continuation.resume(returning: seen.calls.count)
      }
    }
    #expect(counted == 1)
    a.scheduler.adopt()
    #expect(a.cats.count == 1)
  }
}
