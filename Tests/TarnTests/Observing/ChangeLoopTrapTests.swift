import Dispatch
import Foundation
import Testing

@testable import Tarn

/// What a program is told before it stops whose loop over changes cannot be.
struct ChangeLoopTrapTests: TrapSuite {
  private let shelter = Result { try Shelter() }
  private var folder: String { get throws { try shelter.get().folder } }

  enum Mistake: String, CaseIterable, Codable {
    case unmanagedList, unmanagedObject, unmanagedValues, frozen, deleted, afterChanges
    case frozenRealm, elsewhere, realmElsewhere, twoTasks, invalidated

    var message: String {
      switch self {
      case .unmanagedList, .unmanagedValues:
        "Only collections which are managed by a Realm support change notifications"
      case .unmanagedObject: "Only objects which are managed by a Realm support change notif"
      case .frozen, .frozenRealm: "Cannot observe a frozen Realm"
      case .deleted: "Cannot observe a deleted or invalidated object."
      case .afterChanges: "after making changes in a write transaction"
      case .elsewhere, .realmElsewhere: "thread"
      case .twoTasks: "Two tasks use one iterator of changes at once."
      case .invalidated: "used after its object was deleted or its Realm invalidated"
      }
    }

    @MainActor func make(_ realm: Realm) async throws {
      let pack = realm.object(ofType: Pack.self, forPrimaryKey: 1)!
      switch self {
      case .unmanagedList: _ = List<Int>().changes
      case .unmanagedObject: _ = Cub(1).changes
      case .unmanagedValues: _ = List<Cub>().projectTo.name.changes
      case .frozen: await first(of: pack.numbers.freeze().changes)
      case .frozenRealm:
        var changes = realm.freeze().changes.makeAsyncIterator()
        _ = try await changes.next(isolation: #isolation)
      case .deleted:
        let changes = pack.changes
        try realm.write { realm.delete(pack) }
        await first(of: changes)
      case .afterChanges:
        realm.beginWrite()
        pack.numbers.append(1)
        await first(of: pack.numbers.changes)
      case .invalidated:
        let numbers = pack.numbers
        realm.invalidate()
        _ = numbers.changes
      default: try await makeOnTasks(realm, pack)
      }
    }

    @MainActor private func makeOnTasks(_ realm: Realm, _ pack: Pack) async throws {
      // because: what is wrong here is to take them elsewhere
      nonisolated(unsafe) let (changes, notifications) = (pack.numbers.changes, realm.changes)
      switch self {
      case .elsewhere:
        await Task.detached { for await _ in changes { break } }.value
      case .realmElsewhere:
        try await Task.detached { for try await _ in notifications { break } }.value
      default:
        var iterator = realm.changes.makeAsyncIterator()
        let other = iterator
        Task { @MainActor in
          var other = other
          _ = try await other.next(isolation: #isolation)
        }
        _ = try await iterator.next(isolation: #isolation)
      }
    }

    @MainActor private func first<Change>(of changes: ChangeSequence<Change>) async {
      var changes = changes.makeAsyncIterator()
      _ = await changes.next(isolation: #isolation)
    }
  }

  @Test(arguments: Mistake.allCases)
  func traps(mistake: Mistake) async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { @MainActor [folder = try folder as String, mistake = mistake as Mistake] in
      let shelter = try Shelter(within: folder)
      let realm = try Realm(configuration: PackInstance.configuration(shelter), queue: nil)
      try realm.write { realm.create(Pack.self, value: ["id": 1]) }
      try await mistake.make(realm)
    }
    try expect(mistake.message, in: result)
  }
}
