import CTarn
import Dispatch
import Foundation
import Observation
import Synchronization
import TarnStore
import TestSupport
import Testing

@testable import Tarn

/// Class names are unique in the file of a test, which holds no other class.
final class ActorPet: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var name: String
  @Persisted var toys: List<String>
  override class func shouldIncludeInDefaultSchema() -> Bool { false }

  static func configuration(_ url: URL) -> Realm.Configuration {
    Realm.Configuration(fileURL: url, objectTypes: [ActorPet.self], durability: .relaxed)
  }

  /// A commit of another instance, on a thread of its own.
  static func add(_ id: Int, _ name: String = "", to url: URL) throws {
    let realm = try Realm(configuration: configuration(url), queue: nil)
    try realm.write { realm.create(ActorPet.self, value: ["id": id, "name": name], update: .all) }
  }
}

/// What is to be seen of an actor with a Realm: code that is isolated to it needs no `await`.
actor PetActor {
  let url: URL
  private(set) var realm: Realm!
  private var kept: ActorPet?
  private var token: NotificationToken?

  init(_ url: URL) async throws {
    self.url = url
    realm = try await Realm(configuration: ActorPet.configuration(url), actor: self)
  }

  var count: Int { realm.objects(ActorPet.self).count }

  func add(_ id: Int, _ name: String = "") throws {
    try realm.write { kept = realm.create(ActorPet.self, value: ["id": id, "name": name]) }
  }

  /// The name of the object that was added last, before and after suspensions.
  func readAcross(_ suspensions: Int) async -> Bool {
    for _ in 0..<suspensions {
      let before = kept?.name
      await Task.yield()
      guard kept?.name == before else { return false }
    }
    return true
  }

  func renameAcrossASuspension(_ name: String) async throws {
    realm.beginWrite()
    kept?.name = name
    await Task.yield()
    kept?.name += "!"
    try realm.commitWrite()
  }

  var name: String? { kept?.name }
  func refresh() async -> Bool { await realm.asyncRefresh() }
  func follow(_ isOn: Bool) { realm.autorefresh = isOn }
  func leak() -> Realm { realm }

  func opensTheSame() async throws -> Bool {
    let again = try await Realm(configuration: ActorPet.configuration(url), actor: self)
    let here = try await Realm.open(configuration: ActorPet.configuration(url))
    return again == realm && here == realm
  }

  func letGo() {
    token = nil
    kept = nil
    realm = nil
  }

  /// A loop over changes, on the actor, until there are that many objects.
  func count(upTo most: Int) async throws -> [Int] {
    var counts: [Int] = []
    for await change in realm.objects(ActorPet.self).changes {
      preconditionIsolated()
      switch change {
      case .initial(let pets): counts.append(pets.count)
      case .update(let pets, _): counts.append(pets.count)
      case .error(let error): throw error
      }
      if counts.last == most { break }
    }
    return counts
  }

  func observe(_ told: @escaping @Sendable (Int) -> Void) {
    token = realm.objects(ActorPet.self).observe { [unowned self] change in
      self.preconditionIsolated()
      if case .initial(let pets) = change { told(pets.count) }
      if case .update(let pets, _, _, _) = change { told(pets.count) }
    }
  }
}

@globalActor actor PetStore { static let shared = PetStore() }

@PetStore private func countOnAGlobalActor(_ url: URL) async throws -> Int {
  let realm = try await Realm(
    configuration: ActorPet.configuration(url), actor: PetStore.shared)
  await Task.yield()
  try realm.write { realm.create(ActorPet.self, value: ["id": 77]) }
  return realm.objects(ActorPet.self).count
}

/// Swift's Observation on a global actor: counts until there are that many.
@PetStore private func countsOnAGlobalActor(_ url: URL, upTo most: Int) async throws -> [Int] {
  var configuration = ActorPet.configuration(url)
  configuration.tracksObservation = true
  let realm = try await Realm(configuration: configuration, actor: PetStore.shared)
  let pets = realm.objects(ActorPet.self)
  var counts: [Int] = []
  for await count in Observations({ pets.count }) {
    counts.append(count)
    if count == most { break }
    if count == 0 {
      try await Task.detached { try ActorPet.add(1, to: url) }.value
      try await Task.detached { try ActorPet.add(2, to: url) }.value
    }
  }
  return counts
}

/// A function of nobody that is lent an actor.
private func countIn(_ kennel: isolated PetActor) -> Int {
  kennel.realm.objects(ActorPet.self).count
}

@Suite struct ActorRealmTests: TrapSuite {
  private let folder = TemporaryFolder()
  private var url: URL { folder.url("pets.realm") }

  @Test func anActorUsesItsRealmOnWhateverThreadItRuns() async throws {
    let kennel = try await PetActor(url)
    try await kennel.add(1, "Rex")
    let others = (0..<4).map { _ in
      Task.detached { for _ in 0..<2000 { await Task.yield() } }
    }
    #expect(await kennel.readAcross(2000))
    try await kennel.renameAcrossASuspension("Fido")
    for other in others { await other.value }
    #expect(await kennel.name == "Fido!")
    #expect(await countIn(kennel) == 1)
    #expect(await kennel.count == 1)
  }

  @Test func aGlobalActorHasARealm() async throws {
    #expect(try await countOnAGlobalActor(url) == 1)
  }

  @Test func observationsFollowOnAGlobalActor() async throws {
    let counts = try await countsOnAGlobalActor(url, upTo: 2)
    #expect(counts.first == 0)
    #expect(counts.last == 2)
  }

  /// The main actor's is that of the main thread and queue.
  @MainActor @Test func theMainActorHasTheMainRealm() async throws {
    let configuration = ActorPet.configuration(url)
    let realm = try await Realm(configuration: configuration)
    #expect(try await Realm(configuration: configuration, actor: MainActor.shared) == realm)
    #expect(try await Realm.open(configuration: configuration) == realm)
    #expect(try Realm(configuration: configuration, queue: .main) == realm)
  }

  @Test func openingAgainOnAnActorGivesTheSame() async throws {
    let kennel = try await PetActor(url)
    #expect(try await kennel.opensTheSame())
    let other = try await PetActor(url)
    let (one, two) = (await kennel.identity, await other.identity)
    #expect(one != two)
  }

  /// Who opens asynchronously sees what was committed before.
  @MainActor @Test func anInstanceThatIsOpenedAgainIsNew() async throws {
    let configuration = ActorPet.configuration(url)
    let realm = try await Realm(configuration: configuration)
    realm.autorefresh = false
    #expect(realm.objects(ActorPet.self).isEmpty)
    try await Task.detached { [url] in try ActorPet.add(5, to: url) }.value
    #expect(realm.objects(ActorPet.self).isEmpty)
    _ = try await Realm(configuration: configuration)
    #expect(realm.object(ofType: ActorPet.self, forPrimaryKey: 5) != nil)
  }

  @Test func aCancelledTaskOpensNothing() async throws {
    let task = Task { [url] in
      withUnsafeCurrentTask { $0?.cancel() }
      _ = try await PetActor(url)
    }
    await #expect(throws: CancellationError.self) { try await task.value }
  }

  @Test func whatCannotBeOpenedThrows() async throws {
    try Data("no store".utf8).write(to: url)
    await #expect(throws: Realm.Error.invalidDatabase) { _ = try await PetActor(url) }
  }

  /// The actor lets go of its Realm, and the Realm does not keep the actor.
  @Test func anActorAndItsRealmGo() async throws {
    var kennel: PetActor? = try await PetActor(url)
    weak let gone = kennel
    let core = await kennel!.weakCore
    await kennel!.observe { _ in }
    await kennel!.letGo()
    #expect(core.value == nil)
    kennel = try await PetActor(url)
    weak let second = kennel
    await kennel!.observe { _ in }
    kennel = nil
    try await eventually { gone == nil && second == nil }
  }

  /// It follows other instances' commits.
  @Test func observersAreCalledOnTheActor() async throws {
    let kennel = try await PetActor(url)
    let (counts, told) = AsyncStream.makeStream(of: Int.self)
    await kennel.observe { told.yield($0) }
    var seen = counts.makeAsyncIterator()
    #expect(await seen.next() == 0)
    for number in 1...20 {
      if number.isMultiple(of: 2) {
        try await kennel.add(number)
      } else {
        try await Task.detached { [url] in try ActorPet.add(number, to: url) }.value
      }
      #expect(await seen.next() == number)
    }
  }

  @Test func aLoopOverChangesRunsOnTheActor() async throws {
    let kennel = try await PetActor(url)
    async let counts = kennel.count(upTo: 3)
    for id in 1...3 { try await Task.detached { [url] in try ActorPet.add(id, to: url) }.value }
    let seen = try await counts
    #expect(seen.last == 3)
    #expect(seen == seen.sorted())
    #expect(Set(seen).count == seen.count)
  }

  @Test func asyncRefreshShowsTheNewest() async throws {
    let kennel = try await PetActor(url)
    #expect(await kennel.refresh() == false)
    await kennel.follow(false)
    #expect(await kennel.count == 0)
    #expect(await kennel.refresh() == false)
    try await Task.detached { [url] in try ActorPet.add(1, to: url) }.value
    #expect(await kennel.count == 0)
    let cancelled = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return await kennel.refresh()
    }
    #expect(await cancelled.value == false)
    #expect(await kennel.refresh())
    #expect(await kennel.count == 1)
  }

  /// An open write goes with the Realm: no actor ends it any more, and others wait for it.
  @Test func aWriteThatAnActorLeavesIsCancelled() async throws {
    var kennel: PetActor? = try await PetActor(url)
    try await kennel!.add(1, "Rex")
    await kennel!.beginWrite()
    await kennel!.letGo()
    kennel = nil
    try await Task.detached { [url] in try ActorPet.add(2, to: url) }.value
    let after = try await PetActor(url)
    #expect(await after.count == 2)
  }

  @Test func aThousandActorsFollow() async throws {
    let calls = Lock(0)
    let (done, told) = AsyncStream.makeStream(of: Void.self)
    var kennels: [PetActor] = []
    for _ in 0..<1000 { kennels.append(try await PetActor(url)) }
    for kennel in kennels {
      await kennel.observe { count in
        guard count == 3 else { return }
        let called = calls.withLock { calls in
          calls += 1
          return calls
        }
        if called == 1000 { told.yield() }
      }
    }
    for id in 1...3 { try await Task.detached { [url] in try ActorPet.add(id, to: url) }.value }
    var end = done.makeAsyncIterator()
    await end.next()
    #expect(calls.withLock { $0 } == 1000)
    // And everything goes while turns are on their way.
    var cores: [WeakBox] = []
    for kennel in kennels { cores.append(await kennel.weakCore) }
    try await Task.detached { [url] in try ActorPet.add(4, to: url) }.value
    kennels = []
    try await eventually { [cores] in cores.allSatisfy { $0.value == nil } }
  }

  // MARK: - Misuse

  @Test func anotherActorsCodeIsStopped() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { @MainActor [path = folder.file("pets.realm") as String] in
      let leak = try await Leak(path)
      print(leak.realm.objects(ActorPet.self).count)
    }
    try expect("belongs to the actor 'PetActor'; this code runs on the main thread", in: result)
  }

  /// The same on the very thread where the actor ran last: an opening, a query, a write and an
  /// observation look at the actor and not at the thread.
  @Test(arguments: Misuse.allCases) func evenOnTheSameThread(_ misuse: Misuse) async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [path = folder.file("pets.realm") as String, misuse] in
      let leak = try await Leak(path)
      try misuse.run(leak)
    }
    try expect(
      "belongs to the actor 'PetActor'; this code runs on a task without an actor", in: result)
  }
}

extension PetActor {
  var weakCore: WeakBox { WeakBox(realm.core) }
  var identity: ObjectIdentifier { ObjectIdentifier(realm.core) }
  func beginWrite() { realm.beginWrite() }
  func hand(_ take: @Sendable (Realm) -> Void) { take(realm) }
  func handPet(_ take: @Sendable (ActorPet) -> Void) { if let kept { take(kept) } }
}

/// What an actor must not give away, claimed for the running thread.
struct Leak: @unchecked Sendable {
  // because: this breaks the rule on purpose.
  let realm: Realm
  let pet: ActorPet

  init(_ path: String) async throws {
    let kennel = try await PetActor(URL(fileURLWithPath: path))
    try await kennel.add(1, "Rex")
    nonisolated(unsafe) var (realm, pet): (Realm?, ActorPet?)  // because: on purpose
    await kennel.hand { unsafe realm = $0 }
    await kennel.handPet { unsafe pet = $0 }
    (self.realm, self.pet) = unsafe (realm!, pet!)
  }
}

enum Misuse: CaseIterable, Codable {
  case query, write, observe, observeAnObject, refresh, firstTouchAfterAnAdvance

  func run(_ leak: Leak) throws {
    // As if the actor had run here last.
    unsafe leak.realm.core.context.pointee.thread = tarn_thread_id()
    switch self {
    case .query: print(leak.realm.objects(ActorPet.self).count)
    case .write: try leak.realm.write {}
    case .observe: print(leak.realm.objects(ActorPet.self).observe { _ in }.invalidate())
    // Without `on:`, from outside.
    case .observeAnObject:
      print(leak.pet.observe { (_: ObjectChange<ActorPet>) in }.invalidate())
    case .refresh: leak.realm.refresh()
    case .firstTouchAfterAnAdvance:
      leak.realm.core.rowsMoved()
      print(leak.pet.name)
    }
  }
}

/// Holds what may be gone, of an actor's.
struct WeakBox: @unchecked Sendable {
  // because: it is only asked whether it is there.
  private final class Box {
    weak var value: RealmCore?
    init(_ value: RealmCore) { self.value = value }
  }
  private let box: Box
  init(_ core: RealmCore) { box = Box(core) }
  var value: RealmCore? { box.value }
}

/// Waits for what other tasks bring about; the test's own limit of time ends it.
func eventually(_ condition: @Sendable () -> Bool) async throws {
  while !condition() {
    try Task.checkCancellation()
    await Task.yield()
  }
}
