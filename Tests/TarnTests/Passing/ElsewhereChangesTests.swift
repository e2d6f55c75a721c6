import Dispatch
import Foundation
import TestSupport
import Testing

@testable import Tarn

final class FarPet: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var name: String
  @Persisted var friend: FarPet?
  @Persisted var byName: Map<String, FarPet?>
  @Persisted var friends: List<FarPet>
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// Keeps a copy of what it observes, and is told of where it observes.
private actor Follower {
  private var copy: [FarPet] = []
  private var names: [String] = []
  private let told: AsyncStream<String>.Continuation

  init(_ told: AsyncStream<String>.Continuation) { self.told = told }

  func hear(_ text: String) { told.yield(text) }

  private var realm: Realm?

  /// Opens a Realm here whose turns leave nearly all to a worker.
  func open(_ configuration: Realm.Configuration, willWork: @escaping @Sendable () -> Void)
    async throws
  {
    let opened = try await Realm(configuration: configuration, actor: self)
    opened.core.advancer.workLimits.rows = 5
    opened.core.advancer.workLimits.willWork = willWork
    realm = opened
  }

  func close() { realm = nil }

  /// Says what the copy has, or what is wrong with it.
  func follow(_ change: ObservedChange<Results<FarPet>, CollectionDelta<FarPet>>) {
    change.apply(to: &copy)
    switch change {
    case .initial(let pets): told.yield(pets.count == copy.count ? text : "wrong: \(text)")
    case .update(let pets, _): told.yield(Array(pets) == copy ? text : "wrong: \(text)")
    case .error(let error): told.yield("wrong: \(error)")
    }
  }

  func follow(_ change: ObservedChange<ProjectedCollection<String>, CollectionDelta<String>>) {
    change.apply(to: &names)
    told.yield("names \(names)")
  }

  private var text: String { copy.map { "\($0.id) \($0.name)" }.joined(separator: ", ") }
}

/// Deltas, depths and key paths of those who observe where another actor or queue is the observer.
@MainActor @Suite struct ElsewhereChangesTests: TrapSuite {
  private let folder = TemporaryFolder()
  private let heard: AsyncStream<String>
  private let told: AsyncStream<String>.Continuation

  init() { (heard, told) = AsyncStream.makeStream(of: String.self) }

  private var configuration: Realm.Configuration {
    Realm.Configuration(
      fileURL: folder.url("pets.realm"), objectTypes: [FarPet.self], durability: .relaxed)
  }

  private func open() async throws -> Realm { try await Realm(configuration: configuration) }

  private func change(_ realm: Realm, _ random: inout SeededRandom) throws {
    try realm.write {
      for _ in 0...random.below(3) {
        let id = random.below(12)
        let pet = realm.object(ofType: FarPet.self, forPrimaryKey: id)
        if let pet, random.chance(30) {
          realm.delete(pet)
        } else {
          let value: [String: Any] = ["id": id, "name": "n\(random.below(9))"]
          realm.create(FarPet.self, value: value, update: .modified)
        }
      }
    }
  }

  private func text(_ pets: Results<FarPet>) -> String {
    pets.map { "\($0.id) \($0.name)" }.joined(separator: ", ")
  }

  @Test(arguments: [1, 2, 3, 4] as [UInt64])
  func aCopyOnAnActorFollows(_ seed: UInt64) async throws {
    let realm = try await open()
    var random = SeededRandom(seed: seed)
    let pets = realm.objects(FarPet.self).sorted(byKeyPath: "name")
    let follower = Follower(told)
    let token = await pets.observeChanges(on: follower) { follower, change in
      follower.follow(change)
    }
    var next = heard.makeAsyncIterator()
    #expect(await next.next() == "")
    for step in 0..<20 {
      for _ in 0...random.below(2) { try change(realm, &random) }
      // Commits may be told in one call or in several: the last has this one.
      let last = "z\(step)"
      try realm.write {
        realm.create(FarPet.self, value: ["id": 100, "name": last], update: .modified)
      }
      while let said = await next.next() {
        #expect(!said.hasPrefix("wrong"))
        guard said.hasSuffix(last) else { continue }
        #expect(said == text(pets))
        break
      }
    }
    token.invalidate()
  }

  @Test func aCopyOnAQueueFollows() async throws {
    let realm = try await open()
    var random = SeededRandom(seed: 5)
    let pets = realm.objects(FarPet.self).sorted(byKeyPath: "name")
    let queue = DispatchQueue(label: "pets")
    nonisolated(unsafe) var copy: [FarPet] = []  // because: it is the queue's
    let token = pets.observeChanges(on: queue) { [told] change in
      unsafe change.apply(to: &copy)
      told.yield(unsafe copy.map { "\($0.id) \($0.name)" }.joined(separator: ", "))
    }
    var next = heard.makeAsyncIterator()
    for step in 0..<20 {
      try change(realm, &random)
      let last = "z\(step)"
      try realm.write {
        realm.create(FarPet.self, value: ["id": 100, "name": last], update: .modified)
      }
      while let said = await next.next(), !said.hasSuffix(last) {}
    }
    #expect(queue.sync { unsafe copy.map(\.id) } == pets.map(\.id))
    token.invalidate()
    queue.sync { unsafe copy = [] }
  }

  @Test func mapsAndProjectedListsFollow() async throws {
    let realm = try await open()
    let pet = try realm.write {
      let pet = realm.create(FarPet.self, value: ["id": 1, "name": "Rex"])
      pet.friends.append(pet)
      return pet
    }
    let follower = Follower(told)
    let tokens = [
      await pet.byName.observeChanges(keyPaths: [\FarPet.name], on: follower) { follower, change in
        if case .update(_, let delta) = change {
          follower.hear("map +\(delta.insertions) ~\(delta.modifications)")
        }
      },
      await pet.friends.projectTo.name.observeChanges(on: follower) { follower, change in
        follower.follow(change)
      },
    ]
    var next = heard.makeAsyncIterator()
    #expect(await next.next() == "names [\"Rex\"]")
    try realm.write { pet.byName["me"] = pet }
    #expect(await next.next() == "map +[\"me\"] ~[]")
    try realm.write { pet.name = "Fido" }
    let both = Set([await next.next(), await next.next()])
    #expect(both == ["map +[] ~[\"me\"]", "names [\"Fido\"]"])
    for token in tokens { token.invalidate() }
  }

  /// With 0 links only what is set in the pet itself counts.
  @Test(arguments: [true, false]) func aDepthCounts(onAnActor: Bool) async throws {
    let realm = try await open()
    let (pet, friend) = try realm.write {
      let friend = realm.create(FarPet.self, value: ["id": 99, "name": "Zoe"])
      let pet = realm.create(FarPet.self, value: ["id": 1, "name": "Rex", "friend": friend])
      return (pet, friend)
    }
    let pets = realm.objects(FarPet.self).where { $0.id < 10 }
    let (follower, queue) = (Follower(told), DispatchQueue(label: "pets"))
    var tokens: [NotificationToken] = []
    for depth in 0...1 {
      let told = told
      let tell: @Sendable (RealmCollectionChange<Results<FarPet>>) -> Void = { change in
        guard case .update(_, _, _, let modifications) = change else { return }
        told.yield("\(depth): \(modifications)")
      }
      let token =
        onAnActor
        ? await pets.observe(depth: depth, on: follower) { _, change in tell(change) }
        : pets.observe(depth: depth, on: queue, tell)
      tokens.append(token)
    }
    queue.sync {}
    var next = heard.makeAsyncIterator()
    try realm.write { friend.name = "Mia" }
    #expect(await next.next() == "1: [0]")
    try realm.write { pet.name = "Fido" }
    #expect(Set([await next.next(), await next.next()]) == ["0: [0]", "1: [0]"])
    for token in tokens { token.invalidate() }
  }

  @Test("a task cancelled while it starts to observe observes nothing")
  func aTaskThatIsCancelledMeanwhileObservesNothing() async throws {
    let realm = try await open()
    try realm.write { for id in 0..<40 { realm.create(FarPet.self, value: ["id": id]) } }
    let pets = realm.objects(FarPet.self).where { $0.id < 30 }.sorted(byKeyPath: "name")
    let follower = Follower(told)
    let (began, isThere) = (AsyncStream.makeStream(of: Void.self), DispatchSemaphore(value: 0))
    try await follower.open(configuration) {
      began.continuation.yield()
      isThere.wait()
    }
    let registering = Task { @MainActor in
      await pets.observe(on: follower) { follower, change in
        if case .update = change { follower.hear("called") }
      }
    }
    for await _ in began.stream { break }
    registering.cancel()
    for _ in 0..<100 { isThere.signal() }
    #expect(await registering.value.invalidate() == false)
    // Called behind it, if it were called.
    let other = await pets.observe(on: follower) { follower, change in
      if case .update = change { follower.hear("other") }
    }
    try realm.write { realm.create(FarPet.self, value: ["id": -1, "name": "z"]) }
    var next = heard.makeAsyncIterator()
    #expect(await next.next() == "other")
    other.invalidate()
  }

  /// The actor does not work it out itself, and is free meanwhile.
  @Test func aLargeFirstCallIsPreparedByAWorker() async throws {
    let realm = try await open()
    try realm.write { for id in 0..<40 { realm.create(FarPet.self, value: ["id": id]) } }
    let pets = realm.objects(FarPet.self).where { $0.id < 30 }.sorted(byKeyPath: "name")
    let follower = Follower(told)
    let (began, isThere) = (AsyncStream.makeStream(of: Void.self), DispatchSemaphore(value: 0))
    try await follower.open(configuration) {
      began.continuation.yield()
      isThere.wait()
    }
    let visit = Task.detached {
      for await _ in began.stream { break }
      await follower.hear("visited")
      // Later work is not held up.
      for _ in 0..<100 { isThere.signal() }
    }
    let token = await pets.observe(on: follower) { follower, change in
      switch change {
      case .initial(let pets): follower.hear("initial \(pets.count)")
      case .update(_, _, let insertions, _): follower.hear("+\(insertions)")
      case .error(let error): follower.hear("\(error)")
      }
    }
    told.yield("returned")
    var next = heard.makeAsyncIterator()
    #expect(await next.next() == "visited")
    #expect(await next.next() == "initial 30")
    #expect(await next.next() == "returned")
    try realm.write { realm.create(FarPet.self, value: ["id": -1, "name": "z"]) }
    #expect(await next.next() == "+[30]")
    await visit.value
    token.invalidate()
    await follower.close()
  }

  /// Texts are looked up where the observer is.
  @Test func aKeyPathOfNothingIsRefusedOnTheQueue() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { @MainActor [path = folder.file("pets.realm") as String] in
      let realm = try await Realm(
        configuration: Realm.Configuration(
          fileURL: URL(fileURLWithPath: path), objectTypes: [FarPet.self]))
      let queue = DispatchQueue(label: "pets")
      queue.suspend()
      let token = realm.objects(FarPet.self).observe(keyPaths: ["nam"], on: queue) { _ in }
      FileHandle.standardError.write(Data("registered\n".utf8))
      queue.resume()
      queue.sync {}
      withExtendedLifetime(token) {}
    }
    try expect("registered", in: result)
    try expect("'nam'", in: result)
  }

  /// And here they are looked up at once.
  @Test func withoutAQueueAKeyPathOfNothingIsRefusedAtOnce() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { @MainActor [path = folder.file("pets.realm") as String] in
      let realm = try await Realm(
        configuration: Realm.Configuration(
          fileURL: URL(fileURLWithPath: path), objectTypes: [FarPet.self]))
      let token = realm.objects(FarPet.self).observe(keyPaths: ["nam"], on: nil) { _ in }
      FileHandle.standardError.write(Data("registered\n".utf8))
      withExtendedLifetime(token) {}
    }
    try expect("'nam'", in: result)
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(!text.contains("registered"))
  }

  /// What no Realm has cannot be observed there either.
  @Test(arguments: Unmanaged.allCases) func whatIsUnmanagedIsRefused(_ kind: Unmanaged) async throws
  {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [kind] in
      let (_, told) = AsyncStream.makeStream(of: String.self)
      let (pet, follower) = (FarPet(), Follower(told))
      let token =
        switch kind {
        case .object: await pet.observe(on: follower) { _, _ in }
        case .list: await pet.friends.observe(on: follower) { _, _ in }
        case .map: await pet.byName.observeChanges(on: follower) { _, _ in }
        case .queue: pet.friends.observe(on: DispatchQueue(label: "pets")) { _ in }
        }
      withExtendedLifetime(token) {}
    }
    try expect("Only managed objects and collections can be observed", in: result)
  }

  enum Unmanaged: CaseIterable, Codable { case object, list, map, queue }

  /// A token of no observation.
  @Test func aTokenMadeByHandIsOfNothing() { #expect(!NotificationToken().invalidate()) }

  /// The very object here, and one of the actor's own there.
  @Test func theObjectIsTheObserversOwn() async throws {
    let realm = try await open()
    let pet = try realm.write { realm.create(FarPet.self, value: ["id": 1]) }
    let follower = Follower(told)
    let home = ObjectIdentifier(realm.core)
    let mine = pet.observe { [told] change in
      if case .change(let changed, _) = change { told.yield("same \(changed === pet)") }
    }
    let there = await pet.observe(on: follower) { follower, change in
      guard case .change(let changed, _) = change else { return }
      follower.preconditionIsolated()
      let own = changed.realm.map { ObjectIdentifier($0.core) != home } ?? false
      follower.hear("own \(own) \(changed.name)")
    }
    var next = heard.makeAsyncIterator()
    try realm.write { pet.name = "Rex" }
    #expect(Set([await next.next(), await next.next()]) == ["same true", "own true Rex"])
    mine.invalidate()
    there.invalidate()
  }

  /// A write queued in a callback on an actor runs there, later and on its own.
  @Test func aWriteIsQueuedInACallbackOnAnActor() async throws {
    let realm = try await open()
    let pets = realm.objects(FarPet.self).sorted(byKeyPath: "id")
    let follower = Follower(told)
    let token = await pets.observe(on: follower) { follower, change in
      guard case .update(let pets, _, let insertions, _) = change else { return }
      follower.hear("\(pets.count) +\(insertions)")
      guard pets.count < 3, let realm = pets.realm else { return }
      let count = pets.count
      realm.writeAsync {
        follower.preconditionIsolated()
        realm.create(FarPet.self, value: ["id": 10 * count])
      }
    }
    var next = heard.makeAsyncIterator()
    try realm.write { realm.create(FarPet.self, value: ["id": 1]) }
    #expect(await next.next() == "1 +[0]")
    #expect(await next.next() == "2 +[1]")
    #expect(await next.next() == "3 +[2]")
    token.invalidate()
  }
}
