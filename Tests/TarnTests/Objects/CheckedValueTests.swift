import Foundation
import TestSupport
import Testing

@testable import Tarn

private class CheckedLedger: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var number = 0
  @Persisted var date: Date?
  @Persisted var day: Day?
  @Persisted var next: CheckedLedger?
  @Persisted var list: List<CheckedLedger>
  @Persisted var dates: MutableSet<Date>
  @Persisted var numbers: Map<String, Int>
  @Persisted var leaf: Leaf?
  @Persisted var any: AnyRealmValue
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class Leaf: EmbeddedObject {
  @Persisted var number = 0
  @Persisted var ledger: CheckedLedger?
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class Stranger: Object {
  @Persisted var number = 0
  @Persisted var date: Date?
  @Persisted var any: AnyRealmValue
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private struct Day: CustomPersistable {
  let start: Date
  init(start: Date) { self.start = start }
  init(persistedValue: Date) { start = persistedValue }
  var persistableValue: Date { start }
}

/// Values that are never released.
private final class Kept {
  let values: [Any]
  init(_ values: [Any]) { self.values = values }
}

/// A value whose own description would end the program.
private struct Silent: CustomStringConvertible {
  var description: String { fatalError("A value describes itself.") }
}

/// Whatever is put into `create(_:checking:)`, the program goes on.
struct CheckedValueTests {
  private func withRealm(_ body: (Realm) throws -> Void) throws {
    let shelter = try Shelter()
    var configuration = shelter.configuration
    configuration.objectTypes = [CheckedLedger.self, Leaf.self]
    let realm = try Realm(configuration: configuration)
    try realm.write { try body(realm) }
  }

  /// Why the values are refused, with nothing written.
  private func refusal(_ realm: Realm, _ value: Any) -> Realm.InvalidValue? {
    let before = realm.objects(CheckedLedger.self).count
    defer { #expect(realm.objects(CheckedLedger.self).count == before) }
    do {
      try realm.create(CheckedLedger.self, checking: value, unknownKeys: .refused)
      return nil
    } catch {
      #expect("\(error)".utf8.count < 3_000)
      return error as? Realm.InvalidValue
    }
  }

  private static let unstorable = [
    Double.nan, .infinity, -.infinity, 1e300, -1e300, .greatestFiniteMagnitude,
    Double(Int64.max - 978_307_200),
  ].map { Date(timeIntervalSinceReferenceDate: $0) }

  @Test func datesThatCannotBeStored() throws {
    try withRealm { realm in
      for date in Self.unstorable {
        for (name, value) in [
          ("date", date), ("day", Day(start: date)), ("date", Day(start: date)), ("number", date),
          ("date", date as NSDate), ("any", AnyRealmValue.date(date)), ("dates", [date]),
          ("any", [[date]]), ("number", ["at": date]), ("number", [date]), ("next", date),
          ("leaf", Day(start: date)),
        ] as [(String, Any)] {
          let error = refusal(realm, ["id": 1, name: value])
          #expect(error?.reason == .wrongType, "\(name)")
          #expect(error?.propertyName == name, "\(name)")
        }
        #expect(refusal(realm, date)?.reason == .wrongType)
        let stranger = Stranger()
        stranger.date = date
        #expect(refusal(realm, stranger)?.reason == .wrongType)
        let other = Stranger()
        other.any = .date(date)
        #expect(refusal(realm, other)?.reason == .wrongType)
      }
    }
  }

  @Test func numbersOfEveryKind() throws {
    try withRealm { realm in
      let numbers: [Any] = [
        UInt64.max, Double.nan, Double.infinity, -Double.infinity, Float.nan, 1e300, Decimal.nan,
        NSDecimalNumber.notANumber, NSDecimalNumber.maximum, NSNumber(value: UInt64.max),
        NSNumber(value: Double.nan), Decimal128.max, Decimal128.min,
        CGFloat.infinity, Float.greatestFiniteMagnitude, Float16.nan,
      ]
      for number in numbers {
        #expect(refusal(realm, ["id": 1, "number": number])?.reason == .outOfRange, "\(number)")
        #expect(refusal(realm, ["id": number])?.reason == .outOfRange, "\(number)")
        #expect(refusal(realm, ["id": 1, "date": number])?.reason == .wrongType, "\(number)")
        #expect(refusal(realm, ["id": 1, "numbers": ["a": number]])?.reason == .outOfRange)
      }
      for number in [UInt128.max, Int128.min] as [Any] {
        #expect(refusal(realm, ["id": 1, "number": number]) != nil, "\(number)")
        #expect(refusal(realm, ["id": 1, "any": ["a": number]]) != nil, "\(number)")
      }
    }
  }

  @Test(arguments: ["number", "dates", "numbers", "next", "any", "date", "leaf", "list", "x"])
  func nestingOfAnyDepth(_ name: String) throws {
    try withRealm { realm in
      var (list, map): (Any, Any) = (1, 1)
      for _ in 0..<100_000 { (list, map) = ([list], ["m": map]) }
      // Swift lets go of them by recursion.
      keepForEver([list, map])
      for value in [list, map] {
        #expect(refusal(realm, ["id": 1, name: value])?.reason == .tooDeep)
        #expect(refusal(realm, ["id": 1, "list": [["id": 2, name: value]]])?.reason == .tooDeep)
      }
    }
  }

  @Test(arguments: [100, 400, 1_000, 100_000]) func aChainOfObjects(_ length: Int) throws {
    try withRealm { realm in
      var links: [String: Any] = ["id": "none"]
      for number in 0..<length { links = ["id": number, "next": links] }
      keepForEver([links])
      let error = refusal(realm, links)
      #expect(error?.reason == (length < 500 ? .wrongType : .tooDeep))
    }
  }

  private func keepForEver(_ values: [Any]) {
    _ = Unmanaged.passRetained(Kept(values))
  }

  @Test func collectionsThatContainThemselves() throws {
    try withRealm { realm in
      let map = NSMutableDictionary()
      map["id"] = 1
      map["next"] = map
      let list = NSMutableArray(object: 1)
      list.add(["a": list])
      let set = NSMutableSet(object: list)
      defer {
        map.removeAllObjects()
        list.removeAllObjects()
        set.removeAllObjects()
      }
      var deep: NSArray = [1]
      for _ in 0..<10_000 { deep = NSArray(object: deep) }
      for value in [map, list, set, deep] as [Any] {
        #expect(refusal(realm, value)?.reason == .tooDeep)
        for name in ["number", "date", "next", "list", "dates", "numbers", "leaf", "any", "x"] {
          let error = refusal(realm, ["id": 1, name: value])
          #expect(error?.reason == (name == "x" ? .unknownKey : .tooDeep), "\(name)")
        }
        #expect(refusal(realm, ["id": 1, "any": ["a": [value]]])?.reason == .tooDeep)
        #expect(refusal(realm, ["id": 1, "list": [["id": 2, "next": value]]])?.reason == .tooDeep)
      }
      // One that occurs twice does not contain itself.
      let pair: NSArray = [1, 2]
      try realm.create(
        CheckedLedger.self, checking: ["id": 5, "any": NSArray(array: [pair, pair])])
      #expect(realm.object(ofType: CheckedLedger.self, forPrimaryKey: 5)?.any.listValue?.count == 2)
    }
  }

  @Test func objectsAndCollectionsThatAreGone() throws {
    try withRealm { realm in
      let ledger = realm.create(CheckedLedger.self, value: ["id": 9, "leaf": [1]])
      let (list, leaf) = (ledger.list, ledger.leaf!)
      realm.delete(ledger)
      let holder = CheckedLedger()
      holder.next = ledger
      for (name, value) in [
        ("next", ledger), ("list", [ledger]), ("any", ledger), ("list", list), ("any", list),
        ("any", [["a": ledger]]), ("number", ledger), ("number", [list]), ("leaf", leaf),
        ("any", AnyRealmValue.object(ledger)),
      ] as [(String, Any)] {
        let error = refusal(realm, ["id": 1, name: value])
        #expect(error?.propertyName == name, "\(name)")
        #expect(error?.reason != .missing, "\(name)")
      }
      #expect(refusal(realm, ["id": 1, "next": ledger])?.reason == .unreadable)
      #expect(refusal(realm, ["id": 1, "next": holder])?.reason == .unreadable)
      #expect(refusal(realm, ledger)?.reason == .unreadable)
    }
  }

  @Test func objectsOfAnotherThread() throws {
    let other = try Shelter()
    var configuration = other.configuration
    configuration.objectTypes = [CheckedLedger.self, Leaf.self]
    let there = configuration
    // because: this thread reads them after the other one has signalled.
    nonisolated(unsafe) var values: [(String, Any)] = []
    let done = DispatchSemaphore(value: 0)
    let thread = Thread {
      defer { done.signal() }
      guard let realm = try? Realm(configuration: there) else { return }
      _ = try? realm.write { realm.create(CheckedLedger.self, value: ["id": 3]) }
      let ledger = realm.objects(CheckedLedger.self)[0]
      values = [
        ("next", ledger), ("any", ledger), ("list", ledger.list),
        ("list", realm.objects(CheckedLedger.self)),
        ("any", ledger.list), ("numbers", ledger.numbers), ("list", [ledger]),
      ]
    }
    thread.start()
    done.wait()
    #expect(values.count == 7)
    try withRealm { realm in
      for (name, value) in values {
        let error = refusal(realm, ["id": 1, name: value])
        #expect(error?.reason == .unreadable, "\(name)")
        #expect(error?.propertyName == name, "\(name)")
      }
    }
    values = []
  }

  @Test func objectsOfOtherClasses() throws {
    try withRealm { realm in
      for object in [Stranger(), DynamicObject()] as [Object] {
        for name in ["next", "any", "number", "date", "leaf"] {
          #expect(refusal(realm, ["id": 1, name: object])?.reason == .wrongType, "\(name)")
        }
        #expect(refusal(realm, ["id": 1, "list": [object]])?.reason == .wrongType)
      }
      #expect(refusal(realm, ["id": 1, "any": Leaf()])?.reason == .wrongType)
      for value in [Realm.self, Silent(), NSObject(), NSNull.self, { 1 } as () -> Int] as [Any] {
        for name in ["next", "any", "number", "date", "leaf", "list", "dates", "numbers"] {
          #expect(refusal(realm, ["id": 1, name: value])?.reason == .wrongType, "\(name)")
          #expect(refusal(realm, ["id": 1, name: [value]]) != nil, "\(name)")
        }
        #expect(refusal(realm, value)?.reason == .wrongType)
      }
      #expect(refusal(realm, NSNull())?.reason == .wrongType)
    }
  }

  @Test func sequencesWithoutEnd() throws {
    try withRealm { realm in
      for name in ["list", "dates", "any", "number", "next"] {
        #expect(refusal(realm, ["id": 1, name: 0...]) != nil, "\(name)")
        #expect(refusal(realm, ["id": 1, name: 0..<Int.max]) != nil, "\(name)")
        let endless = sequence(first: Date()) { $0 }
        #expect(refusal(realm, ["id": 1, name: endless]) != nil, "\(name)")
      }
    }
  }

  @Test func messagesOfBoundedLength() throws {
    try withRealm { realm in
      // Ten times as much with `TARN_SEEDS=all`.
      let size = Seeds.rounds(100_000, few: 10_000)
      let long = String(repeating: "long ", count: 2 * size)
      let accents = "e" + String(repeating: "\u{301}", count: size)
      let many = Array(repeating: 1, count: 10 * size)
      for value in [long, accents, many, [long: long], [[[[[many]]]]], Data(count: 9_000)]
        as [Any]
      {
        #expect(refusal(realm, ["id": 1, "number": value])?.value?.utf8.count ?? 999 < 500)
        #expect(refusal(realm, ["id": 1, "numbers": [long: value]]) != nil)
        #expect(refusal(realm, ["id": 1, long: value])?.reason == .unknownKey)
      }
    }
  }
}
