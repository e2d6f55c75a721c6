import Dispatch
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Tarn

/// An actor that only observes.
private actor Watcher {
  private var heard: [String] = []
  private let told: AsyncStream<String>.Continuation

  init(_ told: AsyncStream<String>.Continuation) { self.told = told }

  func hear(_ text: String) {
    heard.append(text)
    told.yield(text)
  }

  /// As the seed page's: a Realm of its own, in one go.
  func delete(_ id: Int, _ url: URL) throws {
    let realm = try Realm(configuration: ActorPet.configuration(url))
    try realm.write {
      if let pet = realm.object(ofType: ActorPet.self, forPrimaryKey: id) { realm.delete(pet) }
    }
  }

  func openHere(_ url: URL) async throws -> Bool {
    let realm = try await Realm(configuration: ActorPet.configuration(url), actor: self)
    kept = realm
    realm.autorefresh = false
    return realm.isEmpty
  }
  private var kept: Realm?
}

/// What a change of a collection says, in short.
private func text<C: Collection>(_ change: RealmCollectionChange<C>) -> String {
  switch change {
  case .initial(let all): "initial \(all.count)"
  case .update(let all, let deletions, let insertions, let modifications):
    "\(all.count): -\(deletions) +\(insertions) ~\(modifications)"
  case .error(let error): "error \(error)"
  }
}

private func text<T>(_ change: ObjectChange<T>) -> String {
  switch change {
  case .change(_, let properties):
    properties.map { "\($0.name): \($0.oldValue ?? "nil") -> \($0.newValue ?? "nil")" }.joined()
  case .deleted: "deleted"
  case .error(let error): "error \(error)"
  }
}

@MainActor @Suite struct ElsewhereTests {
  private let folder = TemporaryFolder()
  private let heard: AsyncStream<String>
  private let told: AsyncStream<String>.Continuation

  init() { (heard, told) = AsyncStream.makeStream(of: String.self) }

  private var url: URL { folder.url("pets.realm") }

  private func open() async throws -> Realm {
    try await Realm(configuration: ActorPet.configuration(url))
  }

  @Test func aCollectionIsObservedOnAnActor() async throws {
    let realm = try await open()
    try realm.write { realm.create(ActorPet.self, value: ["id": 1, "name": "Rex"]) }
    let watcher = Watcher(told)
    let pets = realm.objects(ActorPet.self).sorted(byKeyPath: "id")
    let token = await pets.observe(on: watcher) { watcher, change in
      watcher.hear(text(change))
    }
    var next = heard.makeAsyncIterator()
    #expect(await next.next() == "initial 1")
    try realm.write { realm.create(ActorPet.self, value: ["id": 2]) }
    #expect(await next.next() == "2: -[] +[1] ~[]")
    try await watcher.delete(1, url)
    #expect(await next.next() == "1: -[0] +[] ~[]")
    #expect(token.invalidate())
    #expect(!token.invalidate())
  }

  /// In force when it returns, with old values.
  @Test func anObjectIsObservedOnAnActor() async throws {
    let realm = try await open()
    let pet = try realm.write {
      realm.create(ActorPet.self, value: ["id": 1, "name": "Rex"])
    }
    let watcher = Watcher(told)
    let token = await pet.observe(on: watcher) { watcher, change in watcher.hear(text(change)) }
    let named = await pet.observe(keyPaths: [\ActorPet.toys], on: watcher) { watcher, change in
      watcher.hear("toys")
    }
    var next = heard.makeAsyncIterator()
    try realm.write { pet.name = "Fido" }
    #expect(await next.next() == "name: Rex -> Fido")
    try realm.write { pet.toys.append("ball") }
    #expect(Set([await next.next(), await next.next()]) == ["toys", "toys: nil -> nil"])
    token.invalidate()
    named.invalidate()
  }

  /// What was committed between the version shown at the call and that of the observing instance.
  @Test func whatLiesBetweenIsTold() async throws {
    let realm = try await open()
    let pet = try realm.write {
      realm.create(ActorPet.self, value: ["id": 1, "name": "Rex"])
    }
    realm.autorefresh = false
    try await Task.detached { [url] in try ActorPet.add(1, "Fido", to: url) }.value
    let watcher = Watcher(told)
    #expect(try await watcher.openHere(url) == false)
    #expect(pet.name == "Rex")
    let token = await pet.observe(on: watcher) { watcher, change in watcher.hear(text(change)) }
    var next = heard.makeAsyncIterator()
    #expect(await next.next() == "name: Rex -> Fido")
    token.invalidate()
  }

  @Test func whatIsGoneGivesATokenOfNothing() async throws {
    let realm = try await open()
    let pet = try realm.write { realm.create(ActorPet.self, value: ["id": 1]) }
    realm.autorefresh = false
    let watcher = Watcher(told)
    try await watcher.delete(1, url)
    _ = try await watcher.openHere(url)
    let token = await pet.observe(on: watcher) { watcher, change in watcher.hear(text(change)) }
    #expect(!token.invalidate())
    let cancelled = Task { @MainActor in
      withUnsafeCurrentTask { $0?.cancel() }
      let pets = realm.objects(ActorPet.self)
      return await pets.observe(on: watcher) { watcher, change in watcher.hear(text(change)) }
    }
    #expect(await cancelled.value.invalidate() == false)
  }

  /// With every change after the version shown at the call.
  @Test func aCollectionIsObservedOnAQueue() async throws {
    let realm = try await open()
    let pets = realm.objects(ActorPet.self).sorted(byKeyPath: "id")
    #expect(pets.isEmpty)
    let queue = DispatchQueue(label: "pets")
    queue.suspend()
    let token = pets.observe(on: queue) { [told] change in
      dispatchPrecondition(condition: .onQueue(queue))
      told.yield(text(change))
    }
    try realm.write { realm.create(ActorPet.self, value: ["id": 1]) }
    queue.resume()
    var next = heard.makeAsyncIterator()
    #expect(await next.next() == "initial 0")
    #expect(await next.next() == "1: -[] +[0] ~[]")
    #expect(token.invalidate())
  }

  @Test func aTokenThatEndsFirstBeginsNothing() async throws {
    let realm = try await open()
    let queue = DispatchQueue(label: "pets")
    queue.suspend()
    let token = realm.objects(ActorPet.self).observe(on: queue) { [told] in told.yield(text($0)) }
    #expect(token.invalidate())
    queue.resume()
    queue.sync {}
    try realm.write { realm.create(ActorPet.self, value: ["id": 1]) }
    queue.sync {}
    told.finish()
    var next = heard.makeAsyncIterator()
    #expect(await next.next() == nil)
  }

  /// Every kind of source, in one walk.
  @Test func everyKindIsObservedOnAnActor() async throws {
    let realm = try await open()
    let pet = try realm.write { realm.create(ActorPet.self, value: ["id": 1, "name": "Rex"]) }
    let watcher = Watcher(told)
    let sections = realm.objects(ActorPet.self).sectioned(by: \.name)
    let tokens = [
      await pet.toys.observe(on: watcher) { watcher, change in
        watcher.hear("list \(text(change))")
      },
      await sections.observe(on: watcher) { watcher, change in
        if case .update(_, _, _, _, let inserted, _) = change {
          watcher.hear("sections +\(Array(inserted))")
        }
      },
      await AnyRealmCollection(realm.objects(ActorPet.self)).observe(on: watcher) {
        watcher, change in watcher.hear("any \(text(change))")
      },
    ]
    var next = heard.makeAsyncIterator()
    #expect(Set([await next.next(), await next.next()]) == ["list initial 0", "any initial 1"])
    try realm.write {
      pet.toys.append("ball")
      realm.create(ActorPet.self, value: ["id": 2, "name": "Zoe"])
    }
    let heard = Set([await next.next(), await next.next(), await next.next()])
    #expect(heard == ["list 1: -[] +[0] ~[]", "any 2: -[] +[1] ~[0]", "sections +[1]"])
    for token in tokens { token.invalidate() }
  }
}
