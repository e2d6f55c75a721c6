import Foundation
import Testing

@testable import Tarn

/// What generic code sees of a property.
private func observeAnything<T: ObjectObservable, Value>(
  _ object: T, _ keyPath: KeyPath<T, Value>
) {
  object.observe(keyPath) { _, _ in }.invalidate()
}

/// What a program that observes properties is told before it stops.
struct PropertyTrapTests: TrapSuite {
  private let shelter = Result { try Shelter() }
  private var folder: String { get throws { try shelter.get().folder } }

  /// An object with observers cannot be added.
  @Test func addingAnObservedObject() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [folder = try folder as String] in
      let a = try Shelter(within: folder).open()
      let cat = Cat(1)
      let token = cat.observe(\.age) { _, _ in }
      try a.write { a.realm.add(cat) }
      token.invalidate()
    }
    try expect("with observed properties cannot be added", in: result)
  }

  /// Nor by a link.
  @Test func addingAnObservedObjectByALink() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [folder = try folder as String] in
      let a = try Shelter(within: folder).open(cats: 1)
      let home = Home("High Street")
      let token = home.observe(\.street) { _, _ in }
      try a.write { a.cat(0)!.home = home }
      token.invalidate()
    }
    try expect("with observed properties cannot be added", in: result)
  }

  /// LinkingObjects, where the compiler cannot see it.
  @Test func observingLinkingObjects() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      observeAnything(Home("High Street"), \.cats)
    }
    try expect("LinkingObjects property, which cannot be observed", in: result)
  }

  @Test func observingAComputedProperty() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      Cat(1).observe(\.description) { _, _ in }.invalidate()
    }
    try expect("so nothing tells when it changes", in: result)
  }

  @Test func observingAFrozenObject() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [folder = try folder as String] in
      let a = try Shelter(within: folder).open(cats: 1)
      a.cat(0)!.freeze().observe(\.age) { _, _ in }.invalidate()
    }
    try expect("no property can be observed of, a frozen Realm", in: result)
  }

  @Test func observingADeletedObject() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [folder = try folder as String] in
      let a = try Shelter(within: folder).open(cats: 1)
      let cat = a.cat(0)!
      try a.write { a.realm.delete(cat) }
      cat.observe(\.age) { _, _ in }.invalidate()
    }
    try expect("Cannot observe a deleted or invalidated object", in: result)
  }

  @Test func observingTheCountOfAList() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      List<Bool>().observe(\.isEmpty) { _, _ in }.invalidate()
    }
    try expect("Of a collection only \\.isInvalidated", in: result)
  }

  /// While observers are told of a move, no write begins, before it or after it.
  @Test(arguments: [true, false])
  func beginningAWriteDuringAMove(isPrior: Bool) async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [folder = try folder as String, isPrior = isPrior as Bool] in
      let shelter = try Shelter(within: folder)
      let (a, b) = (try shelter.open(cats: 1), try shelter.open())
      let token = b.cat(0)!.observe(\.age, options: .prior) { _, change in
        if change.isPrior == isPrior { b.realm.beginWrite() }
      }
      try a.write { a.cat(0)!.age = 1 }
      b.pump()
      token.invalidate()
    }
    try expect("Cannot begin a write transaction in the observer of a property", in: result)
  }

  @Test func cancellingAWriteBeforeAnAssignment() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [folder = try folder as String] in
      let a = try Shelter(within: folder).open(cats: 1)
      let cat = a.cat(0)!
      let token = cat.observe(\.age, options: .prior) { _, _ in a.realm.cancelWrite() }
      try a.write { cat.age = 1 }
      token.invalidate()
    }
    try expect("Cannot cancel the write transaction in the observer of a property", in: result)
  }

  /// A write that is only beginning is not open yet.
  @Test func changingAnObjectInTheBeginOfAWrite() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [folder = try folder as String] in
      let shelter = try Shelter(within: folder)
      let (a, b) = (try shelter.open(cats: 1), try shelter.open())
      let cat = b.cat(0)!
      let token = cat.observe(\.age) { _, _ in cat.age = 5 }
      try a.write { a.cat(0)!.age = 1 }
      b.realm.beginWrite()
      token.invalidate()
    }
    try expect("outside of a write transaction", in: result)
  }

  /// They are told at the assignment, and cannot be left out of a commit.
  @Test func leavingAPropertyObserverOut() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [folder = try folder as String] in
      let a = try Shelter(within: folder).open(cats: 1)
      let token = a.cat(0)!.observe(\.age) { _, _ in }
      try a.realm.write(withoutNotifying: [token]) { a.cat(0)!.age = 1 }
    }
    try expect("An observer of a property is called at the assignment", in: result)
  }
}
