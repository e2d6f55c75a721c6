import Dispatch
import Foundation
import TarnStore
import TestSupport
import Testing

@testable import Tarn

/// What is passed on arrives wherever code has a Realm of its own: in actors, and in callbacks.
struct PassingHomeTests {
  private let shelter: Shelter
  private let a: Instance

  init() throws {
    shelter = try Shelter()
    a = try shelter.openIce(glaciers: 2)
  }

  /// A Realm that is named takes what is frozen, in an actor as well.
  @Test func anActorTakesWhatIsPassedToIt() async throws {
    let glacier = ThreadSafeReference(to: a.glacier(1)!)
    nonisolated(unsafe) let frozen = a.glacier(2)!.stones.freeze()  // because: it is frozen
    @ThreadSafe var wrapped = a.glacier(2)
    let actor = try await Surveyor(shelter.iceConfiguration)
    #expect(await actor.name(of: glacier) == "glacier 1")
    #expect(await actor.weights(of: frozen) == [20, 21, 22, 20])
    #expect(await actor.name(in: $wrapped) == "glacier 2")
    let stone = try #require(await actor.stone(of: glacier))
    a.scheduler.adopt()
    #expect(a.realm.resolve(stone)?.weight == 10)
    try await actor.rename(glacier, "after an await")
    a.scheduler.adopt()
    a.realm.refresh()
    #expect(a.glacier(1)?.name == "after an await")
  }

  /// The whole way, with a variable, to an actor that has a Realm of its own.
  @MainActor @Test func anActorDeletesWhatAVariableHolds() async throws {
    let folder = TemporaryFolder()
    let url = folder.url("pets.realm")
    let realm = try await Realm(configuration: ActorPet.configuration(url))
    let pet = try await realm.asyncWrite {
      realm.create(ActorPet.self, value: ["id": 1, "name": "Rex"])
    }
    let keeper = try await PetActor(url)
    let (heard, told) = AsyncStream.makeStream(of: String.self)
    let pets = realm.objects(ActorPet.self)
    let token = await pets.observe(on: keeper) { keeper, change in
      guard case .update(let pets, let deletions, _, _) = change else { return }
      told.yield("\(pets.realm == keeper.realm) \(pets.count) \(deletions)")
    }
    @ThreadSafe var wrapped = pet
    #expect(try await keeper.delete($wrapped) == "Rex")
    var next = heard.makeAsyncIterator()
    #expect(await next.next() == "true 0 [0]")
    #expect(try await keeper.delete($wrapped) == nil)
    #expect(token.invalidate())
    await realm.asyncRefresh()
    #expect(pet.isInvalidated)
    #expect(wrapped == nil)
  }

  /// There is no refresh in a callback: what it shows is what its observer is told of.
  @Test func aCallbackResolvesAtItsVersion() throws {
    let b = try shelter.openIce()
    let later = Lock<ThreadSafeReference<Glacier>?>(nil)
    var seen: [String] = []
    let token = b.glaciers.observe { [a] _ in
      try? a.write {
        a.glacier(1)!.age += 100
        a.realm.create(Glacier.self, value: ["id": 50 + seen.count])
      }
      later.withLock { $0 = ThreadSafeReference(to: a.glaciers.last!) }
      let old = b.realm.resolve(ThreadSafeReference(to: a.glacier(1)!))
      let new = later.withLock { $0 }.flatMap { b.realm.resolve($0) }
      if seen.count < 2 { seen.append("\(old?.age ?? 0) \(new?.id ?? 0)") }
    }
    b.scheduler.pump()
    token.invalidate()
    #expect(seen == ["1 0"])
    #expect(later.withLock { $0 }.flatMap { b.realm.resolve($0) }?.id == 50)
    #expect(b.glacier(1)?.age == 101)
  }

  /// What was frozen comes back to life where the variable is read.
  @Test func aVariableTakesWhatIsFrozen() throws {
    @ThreadSafe var glacier = a.glacier(1)?.freeze()
    try a.write { a.glacier(1)!.age = 30 }
    #expect(glacier?.age == 30)
    #expect(glacier?.realm == a.realm)
  }
}

extension PetActor {
  /// Deletes what the variable holds, in the actor's own Realm; its name, nil if it is gone.
  fileprivate func delete(_ variable: ThreadSafe<ActorPet>) async throws -> String? {
    guard let pet = variable.wrappedValue, pet.realm == realm else { return nil }
    let name = pet.name
    await Task.yield()
    try await realm.asyncWrite { realm.delete(pet) }
    return name
  }
}

/// An actor that runs on a queue, and has a Realm there.
private actor Surveyor {
  private final class Executor: SerialExecutor {
    let queue = DispatchQueue(label: "surveyor")

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
  }

  private let executor = Executor()
  private var realm: Realm?

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  init(_ configuration: Realm.Configuration) async throws {
    try open(configuration)
  }

  private func open(_ configuration: Realm.Configuration) throws {
    realm = try Realm(configuration: configuration, queue: executor.queue)
  }

  func name(of reference: ThreadSafeReference<Glacier>) -> String? {
    realm?.resolve(reference)?.name
  }

  func name(in glacier: ThreadSafe<Glacier>) -> String? {
    guard let glacier = glacier.wrappedValue, glacier.realm == realm else { return nil }
    return glacier.name
  }

  func weights(of stones: List<Stone>) -> [Int] { realm?.thaw(stones)?.map(\.weight) ?? [] }

  func stone(of reference: ThreadSafeReference<Glacier>) -> ThreadSafeReference<Stone>? {
    realm?.resolve(reference)?.stones.first.map { ThreadSafeReference(to: $0) }
  }

  func rename(_ reference: ThreadSafeReference<Glacier>, _ name: String) async throws {
    guard let glacier = realm?.resolve(reference) else { return }
    await Task.yield()
    try realm?.write { glacier.name = name }
  }
}
