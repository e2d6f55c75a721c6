import Foundation
import TestSupport
import Testing

@testable import Tarn

/// Reading it has side effects.
private class Moment: Object {
  @Persisted var date = Date(timeIntervalSinceReferenceDate: 0)
  @Persisted var visits = 0
  @Persisted var cat: Cat?
  @Persisted var extra: AnyRealmValue
  @Persisted var level: Level?
  var visited: Int {
    visits += 1
    return visits
  }
  var freed: Int {
    cat = nil
    return visits
  }
  var emptied: Int {
    extra = .none
    return visits
  }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private enum Level: Int, PersistableEnum { case low, high }

/// Even numbers only.
private struct Even: FailableCustomPersistable {
  var number: Int
  init?(persistedValue: Int) {
    guard persistedValue % 2 == 0 else { return nil }
    number = persistedValue
  }
  var persistableValue: Int { number }
}

/// No number has this one.
private struct Never: FailableCustomPersistable {
  init?(persistedValue: Int) { nil }
  var persistableValue: Int { 0 }
}

private class Refusing: Object {
  @Persisted var never: Never
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// The classes of two programs that do not agree.
private class Wide: Object {
  @Persisted var number = 300
  @Persisted var level = 7
  @Persisted var even = 3
  @Persisted var numbers: List<Int>
  override class func className() -> String { "Reading" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class Narrow: Object {
  @Persisted var number: Int8
  @Persisted var level: Level
  @Persisted var even: Even
  @Persisted var numbers: List<Int8>
  override class func className() -> String { "Reading" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// What a program is told about values that a property cannot have, and about key paths that are
/// none.
struct ValueTrapTests: TrapSuite {
  private let folder = TemporaryFolder()

  /// What needs no file.
  private static func row(
    _ name: String, _ message: String, _ use: @escaping @Sendable () -> Void
  ) -> TrapCase {
    TrapCase(name, message) { _ in use() }
  }

  /// A value put into a managed object, in a write.
  private static func putting(
    _ name: String, _ message: String, _ use: @escaping @Sendable (Realm) -> Void
  ) -> TrapCase {
    TrapCase(name, message) { shelter in
      shelter.moreTypes = [Moment.self]
      let instance = try shelter.open()
      try instance.write { use(instance.realm) }
    }
  }

  /// What one program wrote, read by another one that does not agree.
  private static func reading(
    _ name: String, _ message: String, _ use: @escaping @Sendable (Narrow) -> Void
  ) -> TrapCase {
    TrapCase(name, message) { shelter in
      var configuration = shelter.configuration
      configuration.objectTypes = [Wide.self]
      let writer = try Realm(configuration: configuration, scheduler: ManualScheduler())
      let wide = Wide()
      wide.numbers.append(300)
      try writer.write { writer.add(wide) }
      configuration.objectTypes = [Narrow.self]
      let reader = try Realm(configuration: configuration, scheduler: ManualScheduler())
      use(reader.objects(Narrow.self)[0])
    }
  }

  private static let computed =
    "A key path of Moment to a value of type Int is not stored but computed from 'visits'"
  private static let notStored = "A key path of Moment to a value of type Int is not stored, so "

  static let traps: [TrapCase] = [
    row("many values", "9 values for the 6 properties of 'Cat'.") {
      _ = Cat(value: Array(repeating: 0, count: 9))
    },
    row("an odd value", "from a dictionary, an array or an object, not from a 'Int'") {
      _ = Cat(value: 5)
    },
    row("a bad ObjectId", "not an ObjectId") { _ = ObjectId("0123") },
    row("a path that writes", computed) { _ = _name(for: \Moment.visited) },
    row("a path that writes a link", computed) { _ = _name(for: \Moment.freed) },
    row("a path that writes a mixed value", computed) { _ = _name(for: \Moment.emptied) },
    row("a computed path", notStored + "it has no name in the file.") {
      _ = _name(for: \Moment.hashValue)
    },
    row("a computed order", notStored + "the store cannot sort by it.") {
      _ = SortDescriptor(keyPath: \Moment.hashValue)
    },
    row("no default", "Never has no value for 0: give its properties their own default.") {
      _ = Refusing().never
    },
    putting("many dynamic values", "9 values for the 6 properties of 'Cat'.") {
      $0.dynamicCreate("Cat", value: Array(repeating: 0, count: 9))
    },
    putting("an odd dynamic value", "from a dictionary, an array or an object, not from a 'Int'") {
      $0.dynamicCreate("Cat", value: 5)
    },
    putting(
      "an endless date", "A Date must be finite and within 292 billion years to be stored: inf"
    ) {
      let moment = Moment()
      moment.date = Date(timeIntervalSinceReferenceDate: .infinity)
      $0.add(moment)
    },
    TrapCase("observed as another class", "The object is a Cat, not a Home.") { shelter in
      let instance = try shelter.open(cats: 1)
      let cat = instance.cat(0)!
      let token = cat.observe { (_: ObjectChange<Home>) in }
      try instance.write { cat.age = 3 }
      instance.pump()
      withExtendedLifetime(token) {}
    },
    reading("a narrow number", "Reading.number holds 300, which does not fit Int8") {
      print($0.number)
    },
    reading("a lost case", "Reading.level holds 7, which is no case of Level") { print($0.level) },
    reading("a lost value", "Reading.even holds 3, of which no Even can be made") {
      print($0.even)
    },
    reading("a narrow element", "300 in the list") { print($0.numbers[0]) },
  ]

  @Test(arguments: traps.map(\.name))
  func stops(_ name: String) async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      [folder = folder.path as String, name] in
      try await ValueTrapTests.traps.named(name).run(Shelter(within: folder))
    }
    try expect(Self.traps.named(name).message, in: result)
  }
}
