import Foundation
import Testing

@testable import Tarn

/// What is said of a text that is no condition, or none that fits the class and the arguments.
struct FilterErrorTests {
  private let archive: Archive

  init() throws { archive = try Archive(Shelter(), seed: 1, count: 4) }

  private func check(_ text: String, _ arguments: [Any?], _ position: Int, _ message: String) {
    let base = archive.records._derivation
    do throws(Realm.Error) {
      _ = try base.filtered(FilterText(text, arguments))
      Issue.record("no error for \(text)")
    } catch {
      #expect(error.code == .invalidInput)
      let whole = "Invalid filter \"\(text)\" on 'Record' at character \(position): \(message)."
      #expect(error.message == whole)
    }
  }

  @Test func aDateThatNoRealmCanStoreIsNoArgument() {
    let date = Date(timeIntervalSince1970: 1e300)
    let arguments: [Any] = [
      date, AnyRealmValue.date(date), NSDate(timeIntervalSince1970: .infinity),
    ]
    for argument in arguments {
      check("day == %@", [argument], 8, "argument 1 is a date that a Realm cannot store")
    }
  }

  @Test(arguments: [
    ("", 1, "expected a property or a value, found the end"),
    ("number", 7, "expected a comparison operator, found the end"),
    ("number == 1 AND", 16, "expected a property or a value, found the end"),
    ("(number == 1", 13, "expected AND, OR or ')', found the end"),
    ("number == 'a", 11, "the string that starts here has no closing quote"),
    ("next. == 1", 7, "expected a property after '.', found '=='"),
    ("text == 'é' AND legs == 4", 17, "class 'Record' has no property 'legs'"),
    ("next.legs == 4", 1, "class 'Record' has no property 'legs'"),
    (
      "number.legs == 4", 1,
      "property 'number' of class 'Record' is not a link: 'number.legs' cannot continue there"
    ),
    (
      "friends.number == 4", 1,
      "property 'friends' of class 'Record' is a collection: conditions on it need ANY, NONE or "
        + "@count"
    ),
    (
      "ALL friends.number == 4", 1,
      "ALL is not supported: write NONE and the opposite, or compare @min or @max"
    ),
    (
      "friends.@max.text > 4", 1,
      "@max needs numbers or dates: 'friends.text' is of type string"
    ),
    (
      "number == 'a'", 1,
      "property 'number' of class 'Record' is of type int, which cannot be compared with \"a\""
    ),
    ("text == number", 1, "cannot compare 'text' (string) with 'number' (int)"),
    ("1 == 1", 1, "a comparison needs a property on one side: 1 == 1"),
    (
      "flag > NO", 1,
      "> needs values that have an order: property 'flag' of class 'Record' is of type bool"
    ),
    ("number IN 3", 11, "expected '{' and a list of values, found 3"),
    ("number BETWEEN {1, 2, 3}", 16, "expected two values after BETWEEN, found 3"),
    (
      "text LIKE[cd] 'a'", 1,
      "LIKE does not support [d]: property 'text' of class 'Record' is of type string"
    ),
    ("text MATCHES 'a'", 6, "MATCHES is not supported: use LIKE with * and ?"),
  ])
  func texts(_ text: String, _ position: Int, _ message: String) {
    check(text, [], position, message)
  }

  @Test func arguments() throws {
    let (loose, other) = (Record(), try Archive(Shelter(), seed: 2, count: 1))
    let deleted = archive.record(3)
    try archive.instance.write { archive.instance.realm.delete(deleted) }
    let table: [(String, [Any?], Int, String)] = [
      ("number == %@", [], 11, "there is no argument 1 for %@"),
      ("number == 1", [1], 12, "1 arguments were given, but the filter has 0 placeholders"),
      ("number == %d", ["1"], 11, "argument 1 is \"1\", but %d needs a whole number"),
      ("number == %@", [[1]], 11, "argument 1 is a list, allowed only after IN and BETWEEN"),
      ("number IN %@", [1], 11, "argument 1 is 1, but IN needs a list of values"),
      ("number IN %@", [[[1]]], 11, "argument 1 is a list with a list of lists"),
      ("number == %@", [UInt64.max], 11, "argument 1 is \(UInt64.max), which no property can hold"),
      ("number == %@", [["a": 1]], 11, "argument 1 is a dictionary"),
      (
        "number == %@", [Realm.Error.fail], 11,
        "argument 1 is a 'Error', which no property can be compared with"
      ),
      ("%K == 1", [1], 1, "argument 1 is not a string, but %K needs the path of a property"),
      ("%K == 1", ["next.legs"], 1, "class 'Record' has no property 'legs'"),
      (
        "number == %@", [loose], 1,
        "property 'number' of class 'Record' is of type int, which cannot be compared with an "
          + "unmanaged object"
      ),
      ("next == %@", [deleted], 9, "argument 1 is a deleted object"),
      ("next == %@", [other.record(0)], 9, "argument 1 is an object of another Realm"),
      (
        "next == %@", [archive.folder(1)], 1,
        "property 'next' of class 'Record' is of type link to 'Record', which cannot be "
          + "compared with an object of class 'Folder'"
      ),
      (
        "number == %@", [archive.record(1)], 1,
        "property 'number' of class 'Record' is of type int, which cannot be compared with an "
          + "object of class 'Record'"
      ),
      (
        "text == %@", [Data([1])], 1,
        "property 'text' of class 'Record' is of type string, which cannot be compared with X'01'"
      ),
    ]
    for (text, arguments, instance, message) in table { check(text, arguments, instance, message) }
  }
}

/// What a program is told before it stops that gives a wrong text where it may not.
struct FilterTrapTests: TrapSuite {
  private let shelter = Result { try Shelter() }
  private var folder: String { get throws { try shelter.get().folder } }

  /// A use of an archive with one record.
  private static func row(
    _ name: String, _ message: String, _ use: @escaping @Sendable (Archive) throws -> Void
  ) -> TrapCase {
    TrapCase(name, message) { shelter in try use(Archive(shelter, seed: 1, count: 1)) }
  }

  static let traps: [TrapCase] = [
    row("text", "Invalid filter \"legs == 4\" on 'Record' at character 1: class 'Record' has no") {
      _ = $0.records.filter("legs == 4")
    },
    row("position", "Invalid filter \"id ==\" on 'Record' at character 6: expected a property") {
      _ = $0.records.index(matching: "id ==")
    },
    row("unmanaged", "Only collections which are managed by a Realm can be queried") { _ in
      _ = Record().friends.filter("id == 1")
    },
    row("foreign", "an object of another Realm") { archive in
      let other = try Archive(Shelter(), seed: 2, count: 1)
      _ = archive.records.where { $0.next == other.record(0) }
    },
    row("foreign in value", "an object of another Realm") { archive in
      let other = try Archive(Shelter(), seed: 2, count: 1)
      _ = archive.records.where { $0.anything.in([.int(1), .object(other.record(0))]) }
    },
    row("deleted", "a deleted object") { archive in
      let record = archive.record(0)
      try archive.instance.write { archive.instance.realm.delete(record) }
      _ = archive.records.where { $0.friends.contains(record) }
    },
  ]

  @Test(arguments: traps.map(\.name))
  func stops(_ name: String) async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      [folder = try folder as String, name] in
      try await FilterTrapTests.traps.named(name).run(Shelter(within: folder))
    }
    try expect(Self.traps.named(name).message, in: result)
  }
}
