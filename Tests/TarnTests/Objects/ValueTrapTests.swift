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

  enum Mistake: String, CaseIterable, Codable {
    case manyValues, manyDynamicValues, oddValue, oddDynamicValue, badObjectId, endlessDate
    case writingPath, writingPathOfALink, writingPathOfAny, computedPath, computedOrder
    case narrowNumber, lostCase, lostValue, narrowElement, noDefault, observedAsAnother

    /// What the message says.
    var message: String {
      switch self {
      case .manyValues, .manyDynamicValues: "9 values for the 6 properties of 'Cat'."
      case .oddValue, .oddDynamicValue: "from a dictionary, an array or an object, not from a 'Int'"
      case .badObjectId: "not an ObjectId"
      case .endlessDate: "A Date must be finite and within 292 billion years to be stored: inf"
      case .writingPath, .writingPathOfALink, .writingPathOfAny:
        "A key path of Moment to a value of type Int is not stored but computed from 'visits'"
      case .computedPath:
        "A key path of Moment to a value of type Int is not stored, so it has no name in the file."
      case .computedOrder:
        "A key path of Moment to a value of type Int is not stored, so the store cannot sort by it."
      case .narrowNumber: "Reading.number holds 300, which does not fit Int8"
      case .lostCase: "Reading.level holds 7, which is no case of Level"
      case .lostValue: "Reading.even holds 3, of which no Even can be made"
      case .narrowElement: "300 in the list"
      case .noDefault: "Never has no value for 0: give its properties their own default."
      case .observedAsAnother: "The object is a Cat, not a Home."
      }
    }

    func make(_ path: String) throws {
      switch self {
      case .manyValues: _ = Cat(value: Array(repeating: 0, count: 9))
      case .oddValue: _ = Cat(value: 5)
      case .badObjectId: _ = ObjectId("0123")
      case .writingPath: _ = _name(for: \Moment.visited)
      case .writingPathOfALink: _ = _name(for: \Moment.freed)
      case .writingPathOfAny: _ = _name(for: \Moment.emptied)
      case .computedPath: _ = _name(for: \Moment.hashValue)
      case .computedOrder: _ = SortDescriptor(keyPath: \Moment.hashValue)
      case .noDefault: _ = Refusing().never
      case .narrowNumber, .lostCase, .lostValue, .narrowElement: try readAsAnother(path)
      default: try makeManaged(path)
      }
      exit(0)
    }

    private func makeManaged(_ path: String) throws {
      let scheduler = ManualScheduler()
      let realm = try Realm(
        configuration: Realm.Configuration(
          fileURL: URL(fileURLWithPath: path),
          objectTypes: [Cat.self, Home.self, Moment.self], durability: .relaxed),
        scheduler: scheduler)
      let cat = Cat(1)
      try realm.write { realm.add(cat) }
      let token = cat.observe { (_: ObjectChange<Home>) in }
      realm.beginWrite()
      switch self {
      case .manyDynamicValues: realm.dynamicCreate("Cat", value: Array(repeating: 0, count: 9))
      case .oddDynamicValue: realm.dynamicCreate("Cat", value: 5)
      case .endlessDate:
        let moment = Moment()
        moment.date = Date(timeIntervalSinceReferenceDate: .infinity)
        realm.add(moment)
      default:
        cat.age = 3
        try realm.commitWrite()
        while scheduler.pump() {}
      }
      withExtendedLifetime(token) {}
    }

    private func readAsAnother(_ path: String) throws {
      var configuration = Realm.Configuration(
        fileURL: URL(fileURLWithPath: path), objectTypes: [Wide.self], durability: .relaxed)
      let writer = try Realm(configuration: configuration, scheduler: ManualScheduler())
      let wide = Wide()
      wide.numbers.append(300)
      try writer.write { writer.add(wide) }
      configuration.objectTypes = [Narrow.self]
      let reader = try Realm(configuration: configuration, scheduler: ManualScheduler())
      let narrow = reader.objects(Narrow.self)[0]
      switch self {
      case .narrowNumber: print(narrow.number)
      case .lostCase: print(narrow.level)
      case .lostValue: print(narrow.even)
      default: print(narrow.numbers[0])
      }
    }
  }

  @Test(arguments: Mistake.allCases)
  func traps(mistake: Mistake) async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [path = folder.file("values.realm") as String, mistake = mistake as Mistake] in
      try mistake.make(path)
    }
    try expect(mistake.message, in: result)
  }
}
