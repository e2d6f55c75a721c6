import Dispatch
import Foundation
import TarnStore
import TestSupport
import Testing

@testable import Tarn

/// Rules of opening for actors, refreshing there, and observing elsewhere that are seldom met.
@Suite struct ActorRuleTests: TrapSuite {
  private let folder = TemporaryFolder()
  private var url: URL { folder.url("pets.realm") }

  private static let behaviors: [Realm.OpenBehavior] = [.never, .once, .always]

  @Test("opening downloads nothing, whatever the open behavior", arguments: behaviors) @MainActor
  func nothingIsDownloaded(_ behavior: Realm.OpenBehavior) async throws {
    let configuration = ActorPet.configuration(url)
    let realm = try await Realm(configuration: configuration, downloadBeforeOpen: behavior)
    #expect(realm.isEmpty)
    let again = try await Realm(
      configuration: configuration, actor: MainActor.shared, downloadBeforeOpen: behavior)
    let here = try await Realm.open(configuration: configuration, downloadBeforeOpen: behavior)
    #expect(again == realm)
    #expect(here == realm)
  }

  @Test("asyncRefresh moves a read-only Realm to the newest version, not a frozen one")
  @MainActor func aReadOnlyRealmMovesToTheNewestAndAFrozenOneDoesNot() async throws {
    try ActorPet.add(1, to: url)
    var configuration = ActorPet.configuration(url)
    configuration.readOnly = true
    let realm = try await Realm(configuration: configuration)
    realm.autorefresh = false
    let pets = realm.objects(ActorPet.self)
    #expect(pets.count == 1)
    let frozen = realm.freeze()
    try await Task.detached { [url] in try ActorPet.add(2, to: url) }.value
    #expect(await frozen.asyncRefresh() == false)
    #expect(await realm.asyncRefresh())
    #expect(pets.count == 2)
    #expect(frozen.objects(ActorPet.self).count == 1)
  }

  @Test("many tasks may wait for a refresh, which moves the Realm once")
  func manyMayWaitForARefresh() async throws {
    let kennel = try await PetActor(url)
    await kennel.follow(false)
    #expect(await kennel.count == 0)
    try await Task.detached { [url] in try ActorPet.add(1, to: url) }.value
    let moved = await withTaskGroup(of: Bool.self) { group in
      for _ in 0..<50 { group.addTask { await kennel.refresh() } }
      return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
    #expect(moved == 1)
    #expect(await kennel.count == 1)
  }

  @Test("a Realm that belongs to no actor cannot be refreshed on one")
  func whatBelongsToNoActorIsNotRefreshedThere() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { @MainActor [path = folder.path as String] in
      let place = try Shelter(within: path).open()
      await place.realm.asyncRefresh()
    }
    try expect(
      "asyncRefresh() is for Realms of actors: this one belongs to the thread that owns a",
      in: result)
  }

  @Test("a token of another actor cannot be excluded from a write here")
  func aTokenOfAnotherActorCannotBeLeftOutHere() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { @MainActor [path = folder.file("pets.realm") as String] in
      let url = URL(fileURLWithPath: path)
      let realm = try await Realm(configuration: ActorPet.configuration(url))
      let kennel = try await PetActor(url)
      let token = await realm.objects(ActorPet.self).observe(on: kennel) { _, _ in }
      try realm.write(withoutNotifying: [token]) {}
    }
    try expect("must be active and belong to this Realm instance", in: result)
  }
}
