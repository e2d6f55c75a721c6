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

  static let traps: [TrapCase] = [
    TrapCase("adding an observed object", "with observed properties cannot be added") { shelter in
      let a = try shelter.open()
      let cat = Cat(1)
      let token = cat.observe(\.age) { _, _ in }
      try a.write { a.realm.add(cat) }
      token.invalidate()
    },
    TrapCase("adding an observed object by a link", "with observed properties cannot be added") {
      shelter in
      let a = try shelter.open(cats: 1)
      let home = Home("High Street")
      let token = home.observe(\.street) { _, _ in }
      try a.write { a.cat(0)!.home = home }
      token.invalidate()
    },
    // LinkingObjects, where the compiler cannot see it.
    TrapCase("observing LinkingObjects", "LinkingObjects property, which cannot be observed") { _ in
      observeAnything(Home("High Street"), \.cats)
    },
    TrapCase("observing a computed property", "so its changes are not reported") { _ in
      Cat(1).observe(\.description) { _, _ in }.invalidate()
    },
    TrapCase("observing a frozen object", "Cannot observe a property of a frozen Realm") {
      shelter in
      let a = try shelter.open(cats: 1)
      a.cat(0)!.freeze().observe(\.age) { _, _ in }.invalidate()
    },
    TrapCase("observing a deleted object", "Cannot observe a deleted or invalidated object") {
      shelter in
      let a = try shelter.open(cats: 1)
      let cat = a.cat(0)!
      try a.write { a.realm.delete(cat) }
      cat.observe(\.age) { _, _ in }.invalidate()
    },
    TrapCase("observing the count of a list", "The only property of a collection that") { _ in
      List<Bool>().observe(\.isEmpty) { _, _ in }.invalidate()
    },
    // While observers are told of a move, no write begins, before it or after it.
    TrapCase(
      "beginning a write before a move",
      "Cannot begin a write transaction in the observer of a property"
    ) { shelter in try beginWrite(isPrior: true, shelter) },
    // While observers are told of a move, no write begins, before it or after it.
    TrapCase(
      "beginning a write after a move",
      "Cannot begin a write transaction in the observer of a property"
    ) { shelter in try beginWrite(isPrior: false, shelter) },
    TrapCase(
      "cancelling a write before an assignment",
      "Cannot cancel the write transaction in the observer of a property"
    ) { shelter in
      let a = try shelter.open(cats: 1)
      let cat = a.cat(0)!
      let token = cat.observe(\.age, options: .prior) { _, _ in a.realm.cancelWrite() }
      try a.write { cat.age = 1 }
      token.invalidate()
    },
    // A write that is only beginning is not open yet.
    TrapCase("changing an object in the begin of a write", "outside of a write transaction") {
      shelter in
      let (a, b) = (try shelter.open(cats: 1), try shelter.open())
      let cat = b.cat(0)!
      let token = cat.observe(\.age) { _, _ in cat.age = 5 }
      try a.write { a.cat(0)!.age = 1 }
      b.realm.beginWrite()
      token.invalidate()
    },
    // They are told at the assignment, and cannot be left out of a commit.
    TrapCase(
      "excluding a property observer from a write",
      "An observer of a property is called at the assignment"
    ) { shelter in
      let a = try shelter.open(cats: 1)
      let token = a.cat(0)!.observe(\.age) { _, _ in }
      try a.realm.write(withoutNotifying: [token]) { a.cat(0)!.age = 1 }
    },
  ]

  /// Begins a write in an observer that is called before or after a move.
  private static func beginWrite(isPrior: Bool, _ shelter: Shelter) throws {
    let (a, b) = (try shelter.open(cats: 1), try shelter.open())
    let token = b.cat(0)!.observe(\.age, options: .prior) { _, change in
      if change.isPrior == isPrior { b.realm.beginWrite() }
    }
    try a.write { a.cat(0)!.age = 1 }
    b.pump()
    token.invalidate()
  }

  @Test(arguments: traps.map(\.name))
  func stops(_ name: String) async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [folder = try folder as String, name] in
      try await PropertyTrapTests.traps.named(name).run(Shelter(within: folder))
    }
    try expect(Self.traps.named(name).message, in: result)
  }
}
