import Foundation
import Testing

@testable import Tarn

/// What a program is told before it stops that passes what cannot be passed.
struct ReferenceTrapTests: TrapSuite {
  private let shelter = Result { try Shelter() }

  /// Something that is not allowed, with glaciers of the ids 1 and 2 there.
  private static func misuse(
    _ name: String, _ message: String, _ body: @escaping @Sendable (Instance) throws -> Void
  ) -> TrapCase {
    TrapCase(name, message) { try body($0.openIce(glaciers: 2)) }
  }

  private static let unmanaged =
    "only managed objects and collections can be passed on. Add the object first."

  static let traps: [TrapCase] = [
    misuse("an unmanaged object", "'Glacier': " + unmanaged) { _ in
      _ = ThreadSafeReference(to: Glacier(1))
    },
    misuse("an unmanaged list", "'List<Int>': " + unmanaged) { _ in
      _ = ThreadSafeReference(to: Glacier(1).depths)
    },
    misuse("unmanaged backlinks", "'LinkingObjects<Glacier>': " + unmanaged) { _ in
      _ = ThreadSafeReference(to: Stone(1).glaciers)
    },
    misuse("a projection of an unmanaged object", "'GlacierCard': " + unmanaged) { _ in
      _ = ThreadSafeReference(to: GlacierCard(projecting: Glacier(1)))
    },
    misuse("a deleted object", "'Glacier' has been deleted or invalidated and cannot be passed on")
    { instance in
      let glacier = instance.glacier(1)!
      try instance.write { instance.realm.delete(glacier) }
      _ = ThreadSafeReference(to: glacier)
    },
    misuse(
      "invalidated results",
      "'Results<Glacier>' has been deleted or invalidated and cannot be passed on"
    ) {
      instance in
      let glaciers = instance.glaciers
      instance.realm.invalidate()
      _ = ThreadSafeReference(to: glaciers)
    },
    misuse("an object on another thread", "Realm accessed from incorrect thread") { instance in
      nonisolated(unsafe) let glacier = instance.glacier(1)!  // because: this breaks the rule
      onAThread { _ = ThreadSafeReference(to: glacier) }
    },
    misuse("a reference of another file", "Resolve it in a Realm of its own file.") { instance in
      let other = try Realm(
        configuration: Realm.Configuration(
          inMemoryIdentifier: "other \(UUID())",
          objectTypes: [Glacier.self, Stone.self, Drill.self]))
      _ = other.resolve(ThreadSafeReference(to: instance.glacier(1)!))
    },
    misuse(
      "a class that the Realm does not have", "Object type 'Glacier' is not managed by the Realm"
    ) { instance in
      var configuration = instance.realm.configuration
      configuration.objectTypes = [Drill.self]
      let other = try Instance(configuration)
      _ = other.realm.resolve(ThreadSafeReference(to: instance.glacier(1)!))
    },
    misuse("resolving on another thread", "Realm accessed from incorrect thread") { instance in
      nonisolated(unsafe) let realm = instance.realm  // because: this breaks the rule
      let reference = ThreadSafeReference(to: instance.glacier(1)!)
      onAThread { _ = realm.resolve(reference) }
    },
    misuse(
      "a result of a new list", "is derived from a collection that was created in the open write"
    ) { instance in
      try instance.write {
        let glacier = Glacier(7)
        instance.realm.add(glacier)
        _ = ThreadSafeReference(to: glacier.depths.sorted())
      }
    },
    misuse(
      "a result of a new list in a value",
      "is derived from a collection that was created in the open write"
    ) { instance in
      try instance.write {
        instance.glacier(1)!.anything = [2, 1]
        _ = ThreadSafeReference(to: instance.glacier(1)!.anything.listValue!.distinct())
      }
    },
    misuse("sections", "Pass the results and make the sections at the destination") { instance in
      let sections = instance.glaciers.sectioned(by: { $0.age % 2 }, sortDescriptors: ["age"])
      _ = ThreadSafeReference(to: sections)
    },
    misuse("an object of a migration", "Objects of a migration cannot be passed on") { instance in
      var configuration = instance.realm.configuration
      configuration.schemaVersion = 3
      configuration.migrationBlock = { migration, _ in
        migration.enumerateObjects(ofType: "Glacier") { _, new in
          _ = ThreadSafeReference(to: new!)
        }
      }
      try Realm.performMigration(for: configuration, dryRun: true)
    },
    misuse("a wrapped unmanaged object", "'Glacier': " + unmanaged) { _ in
      @ThreadSafe var glacier = Glacier(1)
      print(glacier?.age ?? 0)
    },
    misuse("a variable set to an unmanaged object", "'Glacier': " + unmanaged) { instance in
      @ThreadSafe var glacier = instance.glacier(1)
      glacier = Glacier(1)
      print(glacier?.age ?? 0)
    },
  ]

  @Test(arguments: traps.map(\.name))
  func stops(_ name: String) async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [folder = try shelter.get().folder as String, name] in
      try await ReferenceTrapTests.traps.named(name).run(Shelter(within: folder))
    }
    try expect(Self.traps.named(name).message, in: result)
  }
}
