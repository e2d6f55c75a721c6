import CTarn
import Foundation
import TarnStore
import TestSupport
import Testing

@testable import Tarn

// Passes of a run loop do not end with a block that it ran, and Foundation has no way to end one.
@_silgen_name("CFRunLoopGetCurrent") private func currentRunLoop() -> UnsafeMutableRawPointer
@_silgen_name("CFRunLoopStop") private func stopRunLoop(_ loop: UnsafeMutableRawPointer)

/// What instances leave behind whose thread or actor is gone, whatever still refers to them.
@Suite(.timeLimit(.minutes(30))) struct EndedThreadTests {
  /// What others have of an instance.
  private struct Rest: Sendable {
    var core: WeakBox?
    var thread: UInt = 0
    var tokens: [NotificationToken] = []
  }

  private let folder = TemporaryFolder()
  private var url: URL { folder.url("pets.realm") }

  /// Runs `body` in the run loop of a new thread, and then what it has asked for in that loop so
  /// often; then the thread ends.
  private func inARunLoop(
    passes: Int = 0, _ body: @escaping @Sendable (Realm, inout Rest) throws -> Void
  ) throws -> Rest {
    let configuration = ActorPet.configuration(url)
    let rest = Lock(Rest())
    let ended = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      let loop = RunLoop.current
      let timer = Timer(fire: Date() + 600, interval: 600, repeats: true) { _ in }
      loop.add(timer, forMode: .default)
      @Sendable func stop(after passes: Int) {
        if passes == 0 { return stopRunLoop(currentRunLoop()) }
        // Wakes the loop, which sleeps after what it had to do.
        RunLoopThread.current?.perform { stop(after: passes - 1) }
      }
      loop.perform {
        do {
          let realm = try Realm(configuration: configuration)
          var left = Rest(core: WeakBox(realm.core), thread: tarn_thread_id())
          try body(realm, &left)
          rest.withLock { [left] in $0 = left }
        } catch {
          Issue.record(error)
        }
        stop(after: passes)
      }
      _ = loop.run(mode: .default, before: .distantFuture)
      timer.invalidate()
      ended.signal()
    }
    ended.wait()
    return rest.withLock { $0 }
  }

  @Test func aThreadThatEndsLetsGoOfWhatItObserved() async throws {
    for passes in 0...3 {
      let rest = try inARunLoop(passes: passes) { realm, rest in
        let pets = realm.objects(ActorPet.self)
        let pet = try realm.write { realm.create(ActorPet.self, value: ["id": passes]) }
        rest.tokens = [
          pets.observe { _ in _ = realm.isEmpty },
          pet.observe { (_: ObjectChange<ActorPet>) in _ = realm.isEmpty },
          realm.observe { _, _ in _ = realm.isEmpty },
        ]
        realm.writeAsync { realm.deleteAll() }
        realm.writeAsync { realm.deleteAll() }
      }
      try await eventually { rest.core?.value == nil }
      // They have ended, that of the Realm too, which belongs to the thread.
      for token in rest.tokens { #expect(!token.invalidate()) }
    }
  }

  /// A token that ends elsewhere is taken out in a turn, and none comes.
  @Test func aTokenThatEndsWithTheThreadKeepsNothing() async throws {
    let rest = try inARunLoop { realm, rest in
      let token = realm.objects(ActorPet.self).observe { _ in _ = realm.isEmpty }
      let ended = DispatchSemaphore(value: 0)
      Thread.detachNewThread {
        token.invalidate()
        ended.signal()
      }
      ended.wait()
    }
    try await eventually { rest.core?.value == nil }
  }

  @Test func aThreadThatEndsLeavesNoWriteAndNoBlock() async throws {
    for passes in 0...3 {
      let rest = try inARunLoop(passes: passes) { realm, rest in
        rest.tokens = [realm.objects(ActorPet.self).observe { _ in _ = realm.isEmpty }]
        realm.beginWrite()
        realm.create(ActorPet.self, value: ["id": 100])
        realm.writeAsync { realm.create(ActorPet.self, value: ["id": 101]) }
      }
      try expectFreeGate(passes, of: [passes])
      try await eventually { rest.core?.value == nil }
    }
  }

  /// The system gives the number of a thread that has ended to another one.
  @Test func aThreadWithTheNumberOfAnotherHasInstancesOfItsOwn() throws {
    var before: [UInt: Rest] = [:]
    var again = 0
    while again < 3 {
      try Task.checkCancellation()
      let calls = Lock(0)
      let rest = try inARunLoop(passes: 3) { realm, rest in
        rest.tokens = [
          realm.objects(ActorPet.self).observe { _ in calls.withLock { $0 += 1 } }
        ]
      }
      #expect(calls.withLock { $0 } == 1)
      if before.updateValue(rest, forKey: rest.thread) != nil { again += 1 }
    }
  }

  @Test(arguments: [true, false])
  func anActorThatGoesLeavesNoWriteAndNoBlock(_ isInItsQueue: Bool) async throws {
    for round in 0..<3 {
      var kennel: PetActor? = try await PetActor(url)
      let core = await kennel!.weakCore
      if isInItsQueue {
        await kennel!.queueInAnOpenWrite()
        // The turn of the block, which cannot begin.
        for _ in 0..<100 * round { await Task.yield() }
      } else {
        await kennel!.beginWrite()
      }
      let token = isInItsQueue ? nil : await kennel!.tokenForOthers()
      kennel = nil
      try expectFreeGate(round, of: [round])
      token?.invalidate()
      try await eventually { core.value == nil }
    }
  }

  /// Others write, and nothing of what was left is there.
  private func expectFreeGate(_ id: Int, of ids: Set<Int>) throws {
    let realm = try Realm(configuration: ActorPet.configuration(url), queue: nil)
    try realm.write(timeout: .seconds(300)) { realm.create(ActorPet.self, value: ["id": id]) }
    #expect(Set(realm.objects(ActorPet.self).map(\.id)).isSuperset(of: ids))
    #expect(realm.objects(ActorPet.self).where { $0.id >= 100 }.isEmpty)
  }
}

extension PetActor {
  fileprivate func queueInAnOpenWrite() {
    realm.beginWrite()
    realm.create(ActorPet.self, value: ["id": 100])
    realm.writeAsync { [realm = realm!] in realm.create(ActorPet.self, value: ["id": 101]) }
  }

  fileprivate func tokenForOthers() -> NotificationToken {
    realm.cancelWrite()
    let token = realm.objects(ActorPet.self).observe { _ in }
    realm.beginWrite()
    realm.create(ActorPet.self, value: ["id": 100])
    return token
  }
}
