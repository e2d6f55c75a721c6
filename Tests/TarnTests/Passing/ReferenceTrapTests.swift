import Foundation
import Testing

@testable import Tarn

/// What a program is told before it stops that passes what cannot be passed.
struct ReferenceTrapTests: TrapSuite {
  private let shelter = Result { try Shelter() }

  struct Misuse: Sendable {
    let message: String
    let body: @Sendable (Instance) throws -> Void

    init(_ message: String, _ body: @escaping @Sendable (Instance) throws -> Void) {
      self.message = message
      self.body = body
    }
  }

  private static let unmanaged =
    "only what is managed by a Realm can be passed on. Add the object first."

  static let misuses = [
    Misuse("'Glacier': " + unmanaged) { _ in _ = ThreadSafeReference(to: Glacier(1)) },
    Misuse("'List<Int>': " + unmanaged) { _ in _ = ThreadSafeReference(to: Glacier(1).depths) },
    Misuse("'LinkingObjects<Glacier>': " + unmanaged) { _ in
      _ = ThreadSafeReference(to: Stone(1).glaciers)
    },
    Misuse("'GlacierCard': " + unmanaged) { _ in
      _ = ThreadSafeReference(to: GlacierCard(projecting: Glacier(1)))
    },
    Misuse("'Glacier' has been deleted or invalidated and cannot be passed on") { instance in
      let glacier = instance.glacier(1)!
      try instance.write { instance.realm.delete(glacier) }
      _ = ThreadSafeReference(to: glacier)
    },
    Misuse("'Results<Glacier>' has been deleted or invalidated and cannot be passed on") {
      instance in
      let glaciers = instance.glaciers
      instance.realm.invalidate()
      _ = ThreadSafeReference(to: glaciers)
    },
    Misuse("Realm accessed from incorrect thread") { instance in
      nonisolated(unsafe) let glacier = instance.glacier(1)!  // because: this breaks the rule
      onAThread { _ = ThreadSafeReference(to: glacier) }
    },
    Misuse("Resolve it in a Realm of its own file.") { instance in
      let other = try Realm(
        configuration: Realm.Configuration(
          inMemoryIdentifier: "other \(UUID())",
          objectTypes: [Glacier.self, Stone.self, Drill.self]))
      _ = other.resolve(ThreadSafeReference(to: instance.glacier(1)!))
    },
    Misuse("Object type 'Glacier' is not managed by the Realm") { instance in
      var configuration = instance.realm.configuration
      configuration.objectTypes = [Drill.self]
      let other = try Instance(configuration)
      _ = other.realm.resolve(ThreadSafeReference(to: instance.glacier(1)!))
    },
    Misuse("Realm accessed from incorrect thread") { instance in
      nonisolated(unsafe) let realm = instance.realm  // because: this breaks the rule
      let reference = ThreadSafeReference(to: instance.glacier(1)!)
      onAThread { _ = realm.resolve(reference) }
    },
    Misuse("is derived from a collection that was created in the open write") { instance in
      try instance.write {
        let glacier = Glacier(7)
        instance.realm.add(glacier)
        _ = ThreadSafeReference(to: glacier.depths.sorted())
      }
    },
    Misuse("is derived from a collection that was created in the open write") { instance in
      try instance.write {
        instance.glacier(1)!.anything = [2, 1]
        _ = ThreadSafeReference(to: instance.glacier(1)!.anything.listValue!.distinct())
      }
    },
    Misuse("Pass the results and make the sections where they arrive") { instance in
      let sections = instance.glaciers.sectioned(by: { $0.age % 2 }, sortDescriptors: ["age"])
      _ = ThreadSafeReference(to: sections)
    },
    Misuse("Nothing of a migration can be passed on") { instance in
      var configuration = instance.realm.configuration
      configuration.schemaVersion = 3
      configuration.migrationBlock = { migration, _ in
        migration.enumerateObjects(ofType: "Glacier") { _, new in
          _ = ThreadSafeReference(to: new!)
        }
      }
      try Realm.performMigration(for: configuration, dryRun: true)
    },
    Misuse("'Glacier': " + unmanaged) { _ in
      @ThreadSafe var glacier = Glacier(1)
      print(glacier?.age ?? 0)
    },
    Misuse("'Glacier': " + unmanaged) { instance in
      @ThreadSafe var glacier = instance.glacier(1)
      glacier = Glacier(1)
      print(glacier?.age ?? 0)
    },
  ]

  @Test(arguments: misuses.indices)
  func misuse(_ number: Int) async throws {
    let folder = try shelter.get().folder
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [folder = folder as String, number = number as Int] in
      let instance = try Shelter(within: folder).openIce(glaciers: 2)
      try ReferenceTrapTests.misuses[number].body(instance)
    }
    try expect(Self.misuses[number].message, in: result)
  }
}
