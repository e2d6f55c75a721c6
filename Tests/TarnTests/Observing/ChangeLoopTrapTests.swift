import Dispatch
import Foundation
import Testing

@testable import Tarn

/// What a program is told before it stops whose loop over changes cannot be.
struct ChangeLoopTrapTests: TrapSuite {
  private let shelter = Result { try Shelter() }
  private var folder: String { get throws { try shelter.get().folder } }

  /// A mistake on the main thread, with a pack there.
  private static func row(
    _ name: String, _ message: String,
    _ mistake: @escaping @MainActor @Sendable (Realm, Pack) async throws -> Void
  ) -> TrapCase {
    TrapCase(name, message) { shelter in
      let configuration = PackInstance.configuration(shelter)
      try await run(configuration, mistake)
    }
  }

  @MainActor private static func run(
    _ configuration: Realm.Configuration,
    _ mistake: @MainActor @Sendable (Realm, Pack) async throws -> Void
  ) async throws {
    let realm = try Realm(configuration: configuration, queue: nil)
    let pack = try realm.write { realm.create(Pack.self, value: ["id": 1]) }
    try await mistake(realm, pack)
  }

  private static let unmanaged =
    "Only collections which are managed by a Realm support change notifications"

  static let traps: [TrapCase] = [
    row("an unmanaged list", unmanaged) { _, _ in _ = List<Int>().changes },
    row("an unmanaged object", "Only objects which are managed by a Realm support change notif") {
      _, _ in _ = Cub(1).changes
    },
    row("values of an unmanaged list", unmanaged) { _, _ in
      _ = List<Cub>().projectTo.name.changes
    },
    row("a frozen list", "Cannot observe a frozen Realm") { _, pack in
      await first(of: pack.numbers.freeze().changes)
    },
    row("a frozen Realm", "Cannot observe a frozen Realm") { realm, _ in
      var changes = realm.freeze().changes.makeAsyncIterator()
      _ = try await changes.next(isolation: #isolation)
    },
    row("a deleted object", "Cannot observe a deleted or invalidated object.") { realm, pack in
      let changes = pack.changes
      try realm.write { realm.delete(pack) }
      await first(of: changes)
    },
    row("after changes in a write", "after making changes in a write transaction") {
      realm, pack in
      realm.beginWrite()
      pack.numbers.append(1)
      await first(of: pack.numbers.changes)
    },
    row("an invalidated list", "used after its object was deleted or its Realm invalidated") {
      realm, pack in
      let numbers = pack.numbers
      realm.invalidate()
      _ = numbers.changes
    },
    row("a list elsewhere", "thread") { _, pack in
      // because: what is wrong here is to take them elsewhere
      nonisolated(unsafe) let changes = pack.numbers.changes
      await Task.detached { for await _ in changes { break } }.value
    },
    row("a Realm elsewhere", "thread") { realm, _ in
      // because: what is wrong here is to take them elsewhere
      nonisolated(unsafe) let changes = realm.changes
      try await Task.detached { for try await _ in changes { break } }.value
    },
    row("two tasks", "Two tasks use one iterator of changes at once.") { realm, _ in
      var iterator = realm.changes.makeAsyncIterator()
      let other = iterator
      Task { @MainActor in
        var other = other
        _ = try await other.next(isolation: #isolation)
      }
      _ = try await iterator.next(isolation: #isolation)
    },
  ]

  @MainActor private static func first<Change>(of changes: ChangeSequence<Change>) async {
    var changes = changes.makeAsyncIterator()
    _ = await changes.next(isolation: #isolation)
  }

  @Test(arguments: traps.map(\.name))
  func stops(_ name: String) async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      [folder = try folder as String, name] in
      try await ChangeLoopTrapTests.traps.named(name).run(Shelter(within: folder))
    }
    try expect(Self.traps.named(name).message, in: result)
  }
}
