import Foundation
import Testing

@testable import Tarn

/// What a program that misuses a collection is told before it stops.
struct CollectionTrapTests: TrapSuite {
  private let shelter = Result { try Shelter() }
  private var folder: String { get throws { try shelter.get().folder } }

  static let traps: [TrapCase] = [
    TrapCase(
      "changing outside of a write",
      "Cannot modify managed collections outside of a write transaction"
    ) { shelter in
      try shelter.openWithChest().numbers.append(1)
    },
    TrapCase("reading on another thread", "Realm accessed from incorrect thread") { shelter in
      let chest = try shelter.openWithChest()
      nonisolated(unsafe) let list = chest.numbers  // because: this breaks the rule on purpose
      let done = DispatchSemaphore(value: 0)
      Thread.detachNewThread {
        print(list.count)
        done.signal()
      }
      done.wait()
    },
    TrapCase(
      "reading after the object was deleted",
      "The collection 'Chest.tags' was used after its object was deleted"
    ) { shelter in
      let chest = try shelter.openWithChest()
      let tags = chest.tags
      let realm = chest.realm!
      try realm.write { realm.delete(chest) }
      precondition(tags.isInvalidated)
      print(tags.count)
    },
    TrapCase(
      "appending an object of another Realm",
      "Cannot put an object of another Realm into a collection"
    ) { shelter in
      let other = try Shelter(within: shelter.folder).openWithChest()
      let chest = try shelter.openWithChest()
      try chest.realm!.write { chest.inner.append(other) }
    },
    TrapCase("an index out of bounds", "Index 3 is out of bounds (must be less than 3)") {
      shelter in
      let list = try shelter.openWithChest().numbers
      print(list[3])
    },
    TrapCase(
      "an index out of bounds of an unmanaged list", "Index 1 is out of bounds (must be 0 or less)"
    ) { _ in
      List<Int>().insert(1, at: 1)
    },
    TrapCase(
      "observing an unmanaged collection",
      "Only collections which are managed by a Realm support change"
    ) { _ in
      _ = List<Int>().observe { _ in }
    },
    TrapCase("creating an object with an element of another type", "for property 'Chest.numbers'") {
      shelter in
      let realm = try shelter.openChests().realm
      try realm.write { realm.create(Chest.self, value: ["id": 3, "numbers": [1, "two"]]) }
    },
  ]

  @Test(arguments: traps.map(\.name))
  func stops(_ name: String) async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [folder = try folder as String, name] in
      try await CollectionTrapTests.traps.named(name).run(Shelter(within: folder))
    }
    try expect(Self.traps.named(name).message, in: result)
  }
}

extension Shelter {
  /// A chest with three numbers. The files stay as long as the process, which is about to stop, and
  /// go with the folder around them.
  func openWithChest(returnsObjects: Bool = false) throws -> Chest {
    _ = Unmanaged.passRetained(self)
    let instance = try openChests(returnsObjects: returnsObjects)
    let chest = Chest(1)
    chest.numbers.append(objectsIn: [1, 2, 3])
    try instance.write { instance.realm.add(chest) }
    return chest
  }
}
