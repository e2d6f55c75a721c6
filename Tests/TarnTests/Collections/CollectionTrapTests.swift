import Foundation
import Testing

@testable import Tarn

/// What a program that misuses a collection is told before it stops.
struct CollectionTrapTests: TrapSuite {
  private let shelter = Result { try Shelter() }
  private var folder: String { get throws { try shelter.get().folder } }

  @Test func changingOutsideOfAWrite() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [folder = try folder as String] in
      try Shelter(within: folder).openWithChest().numbers.append(1)
    }
    try expect("Cannot modify managed collections outside of a write transaction", in: result)
  }

  @Test func anotherThread() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [folder = try folder as String] in
      let chest = try Shelter(within: folder).openWithChest()
      nonisolated(unsafe) let list = chest.numbers  // because: this breaks the rule on purpose
      let done = DispatchSemaphore(value: 0)
      Thread.detachNewThread {
        print(list.count)
        done.signal()
      }
      done.wait()
    }
    try expect("Realm accessed from incorrect thread", in: result)
  }

  @Test func afterTheObjectWasDeleted() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [folder = try folder as String] in
      let chest = try Shelter(within: folder).openWithChest()
      let tags = chest.tags
      let realm = chest.realm!
      try realm.write { realm.delete(chest) }
      precondition(tags.isInvalidated)
      print(tags.count)
    }
    try expect("The collection 'Chest.tags' is used after its object was deleted", in: result)
  }

  @Test func anObjectOfAnotherRealm() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [folder = try folder as String] in
      let other = try Shelter(within: folder).openWithChest()
      let chest = try Shelter(within: folder).openWithChest()
      try chest.realm!.write { chest.inner.append(other) }
    }
    try expect("Cannot put an object of another Realm into a collection", in: result)
  }

  @Test func aPositionThatIsNotThere() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [folder = try folder as String] in
      let list = try Shelter(within: folder).openWithChest().numbers
      print(list[3])
    }
    try expect("Index 3 is out of bounds (must be less than 3)", in: result)
  }

  @Test func anUnmanagedPositionThatIsNotThere() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      List<Int>().insert(1, at: 1)
    }
    try expect("Index 1 is out of bounds (must be 0 or less)", in: result)
  }

  @Test func observingAnUnmanagedCollection() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = List<Int>().observe { _ in }
    }
    try expect("Only collections which are managed by a Realm support change", in: result)
  }

  @Test func aValueOfAWrongType() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [folder = try folder as String] in
      let realm = try Shelter(within: folder).openChests().realm
      try realm.write { realm.create(Chest.self, value: ["id": 3, "numbers": [1, "two"]]) }
    }
    try expect("for property 'Chest.numbers'", in: result)
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
