import Foundation
import TestSupport
import Testing

@testable import Tarn

/// Conditions on values of any type and on what maps have under a key, as text, in Swift, and as a
/// closure over objects.
struct ValueStepTests {
  typealias View = ConditionView<Tote>

  /// Values of any type.
  private static var values: [View] {
    [
      View("data == 2", { $0.data == 2 }, { $0.data.number == 2 }),
      View("data != 2", { $0.data != 2 }, { $0.data.number != 2 }),
      View("data > 1", { $0.data > 1 }, { $0.data.number.map { $0 > 1 } == true }),
      View(
        "data BETWEEN {0.5, 1.5}", { $0.data >= 0.5 && $0.data <= 1.5 },
        { $0.data.number.map { (0.5...1.5).contains($0) } == true }),
      View("data == 'a'", { $0.data == "a" }, { $0.data.stringValue == "a" }),
      View(
        "data CONTAINS[c] 'b'", { $0.data.contains("b", options: .caseInsensitive) },
        { $0.data.stringValue?.lowercased().contains("b") == true }),
      View("data == YES", { $0.data == true }, { $0.data.boolValue == true }),
      View("data == NULL", { $0.data == .none }, { $0.data.isNone }),
      View(
        "data IN {1, 'B', TRUE, FALSE, NULL}", { $0.data.in([1, "B", true, false, nil]) },
        {
          $0.data.number == 1 || $0.data.stringValue == "B" || $0.data.boolValue != nil
            || $0.data.isNone
        }),
      View(
        "ANY mixed > 1", { $0.mixed > 1 },
        { $0.mixed.contains { $0.number.map { $0 > 1 } == true } }),
      View(
        "'a' IN mixed", { $0.mixed.contains("a") },
        { $0.mixed.contains { $0.stringValue == "a" } }),
      View(
        "inner.data == 1 OR inner.data == NULL", { $0.inner.data == 1 || $0.inner.data == .none },
        { ($0.inner?.data ?? .none).number == 1 || ($0.inner?.data ?? .none).isNone }),
    ]
  }

  /// What lies within them.
  private static var within: [View] {
    [
      View("data[0] == 1", { $0.data[0] == 1 }, { $0.data.element(0).number == 1 }),
      View("data[1] == NULL", { $0.data[1] == .none }, { $0.data.element(1).isNone }),
      View("data['k'] > 1", { $0.data["k"] > 1 }, { ($0.data.element("k").number ?? 0) > 1 }),
      View(
        "data['it\\'s \"n\"'][0] != 2", { $0.data["it's \"n\""][0] != 2 },
        { $0.data.element("it's \"n\"").element(0).number != 2 }),
      View(
        "data[#any] == 2", { $0.data.any == 2 }, { $0.data.elements.contains { $0.number == 2 } }),
      View(
        "ANY data[#any][#any] > 1", { $0.data.any.any > 1 },
        { $0.data.elements.contains { $0.elements.contains { ($0.number ?? 0) > 1 } } }),
      View(
        "data[#any]['k'] == NULL", { $0.data.any["k"] == .none },
        { $0.data.elements.contains { $0.element("k").isNone } }),
      View("data[LAST] == 1", nil, { $0.data.listValue?.last?.number == 1 }),
      View("data[FIRST] == 1", nil, { $0.data.element(0).number == 1 }),
      View("data.@count > 1", { $0.data.count > 1 }, { $0.data.elements.count > 1 }),
      View(
        "data[#any].@count == 2", { $0.data.any.count == 2 },
        { $0.data.elements.contains { $0.elements.count == 2 } }),
      View(
        "mixed[1] == 2", { $0.mixed[1] == 2 }, { $0.mixed.count > 1 && $0.mixed[1].number == 2 }),
      View(
        "mixed[0][0] >= 1", { $0.mixed[0][0] >= 1 },
        { ($0.mixed.first.flatMap { $0.element(0).number } ?? 0) >= 1 }),
      View(
        "notes['n'] == 1", { $0.notes["n"] == 1 }, { ($0.notes["n"] ?? .none).number == 1 }),
      View(
        "notes['n'][1] == NULL", { $0.notes["n"][1] == .none },
        { ($0.notes["n"] ?? .none).element(1).isNone }),
      View(
        "ANY notes.@allValues['k'] == 1", { $0.notes.values["k"] == 1 },
        { $0.notes.values.contains { $0.element("k").number == 1 } }),
      View(
        "ANY notes.@allValues[1] > 0", { $0.notes.values[1] > 0 },
        { $0.notes.values.contains { ($0.element(1).number ?? 0) > 0 } }),
      View(
        "ANY notes.@allValues[#any] == 2", { $0.notes.values.any == 2 },
        { $0.notes.values.contains { $0.elements.contains { $0.number == 2 } } }),
      View(
        "ANY notes.@allValues > 1", { $0.notes.values > 1 },
        { $0.notes.values.contains { ($0.number ?? 0) > 1 } }),
      View(
        "SUBQUERY(others, $x, $x.data > 0 AND $x.marks['a'] > 0).@count > 0",
        { ($0.others.data > 0 && $0.others.marks["a"] > 0).count > 0 },
        { $0.others.contains { ($0.data.number ?? 0) > 0 && ($0.marks["a"] ?? 0) > 0 } }),
    ]
  }

  /// What maps have under a key.
  private static var maps: [View] {
    [
      View("marks['a'] > 1", { $0.marks["a"] > 1 }, { ($0.marks["a"] ?? 0) > 1 }),
      View("marks['a'] != 1", { $0.marks["a"] != 1 }, { $0.marks["a"] != 1 }),
      View("marks['a'] == NULL", { $0.marks["a"] == nil }, { $0.marks["a"] == nil }),
      View(
        "2 <= marks[\"it's \\\"n\\\"\"]", { 2 <= $0.marks["it's \"n\""] },
        { ($0.marks["it's \"n\""] ?? 0) >= 2 }),
      View("marks[#any] == 3", nil, { $0.marks.values.contains(3) }),
      View(
        "names['a'] BEGINSWITH 'x'", { $0.names["a"].starts(with: "x") },
        { ($0.names["a"] ?? nil)?.hasPrefix("x") == true }),
      View("names['a'] == NULL", { $0.names["a"] == nil }, { ($0.names["a"] ?? nil) == nil }),
      View(
        "parts['left'].weight > 1", { $0.parts["left"].weight > 1 },
        { (($0.parts["left"] ?? nil)?.weight ?? 0) > 1 }),
      View(
        "parts['left'] == NULL", { $0.parts["left"] == nil }, { ($0.parts["left"] ?? nil) == nil }),
      View(
        "parts['left'].weight != 1", { $0.parts["left"].weight != 1 },
        { ($0.parts["left"] ?? nil)?.weight != 1 }),
      View(
        "inner.marks['k'] >= 0", { $0.inner.marks["k"] >= 0 }, { $0.inner?.marks["k"] != nil }),
    ]
  }

  private static var all: [View] { values + within + maps }

  @Test(arguments: Seeds.of(Array(1...6) as [UInt64]))
  func randomChanges(seed: UInt64) throws {
    try View.followChanges(of: Self.all, by: ToteOperations.self, seed: seed) { try $0.openTotes() }
  }

  /// A condition that is printed and read again finds the same, and so do objects in no Realm.
  @Test(arguments: Seeds.of([31, 32] as [UInt64]))
  func printedAndUnmanaged(seed: UInt64) throws {
    let instance = try Shelter().openTotes()
    var operations = ToteOperations(numbers: SeededRandom(seed: seed))
    try instance.write { for _ in 0..<200 { operations.apply(to: instance) } }
    let shelf = List<Tote>()
    shelf.append(objectsIn: instance.totes.map { Tote(value: $0) })
    for view in Self.all {
      view.expectPrinted(in: instance)
      view.expectFirst(in: shelf)
    }
  }

  @Test func elementsOfValueLists() throws {
    let instance = try Shelter().openTotes()
    let tote = Tote()
    tote.mixed.append(objectsIn: [.none, ["a"], 2, "b"])
    #expect(tote.mixed.index(matching: { $0 == 2 }) == 2)
    #expect(tote.mixed.index(matching: "SELF != NULL") == 1)
    try instance.write { instance.realm.add(tote) }
    #expect(tote.mixed.index(matching: { $0 == "b" }) == 3)
    #expect(tote.mixed.index(matching: "SELF != NULL") == 1)
  }

  @Test func objectsInValues() throws {
    let instance = try Shelter().openTotes()
    try instance.write {
      let parts = (0..<2).map { instance.realm.create(TotePart.self, value: ["id": $0]) }
      instance.realm.create(Tote.self, value: ["id": 0]).data = .object(parts[0])
      instance.realm.create(Tote.self, value: ["id": 1]).data = [.object(parts[1]), "x"]
    }
    let (first, second) = (instance.totePart(0)!, instance.totePart(1)!)
    #expect(instance.totes.where { $0.data == .object(first) }.map(\.id) == [0])
    #expect(instance.totes.where { $0.data.any == .object(second) }.map(\.id) == [1])
    #expect(instance.totes.filter("data == %@", first).map(\.id) == [0])
    #expect(instance.totes.filter("data IN %@", [first, second]).map(\.id) == [0])
    #expect(instance.totes.filter("data[0] == %@", second).map(\.id) == [1])
  }

  @Test(arguments: [
    ("marks[0] > 1", 1, "the values of a map have keys, not positions: property 'marks'"),
    ("mixed['a'] > 1", 1, "the elements of a list have positions, not keys: property 'mixed'"),
    ("marks['a']['b'] > 1", 1, "have no elements of their own: marks[\"a\"][\"b\"]"),
    ("marks['a'] == 'x'", 1, "is of type int, which cannot be compared with \"x\""),
    ("data CONTAINS 3", 1, "CONTAINS needs a string or data, not 3"),
    ("data < TRUE", 1, "< needs values that have an order, not TRUE"),
    ("marks['a'].@count > 1", 1, "only collections have a @count"),
    ("marks[-1] > 1", 7, "expected a key in quotes, a position from 0, or #any"),
    ("marks[x] > 1", 7, "expected a key in quotes, a position from 0, or #any"),
    ("marks['a' > 1", 11, "expected ']', found '>'"),
    ("id['a'] == 1", 1, "'id' is not a list, map or AnyRealmValue"),
  ])
  func whatDoesNotFit(_ text: String, _ position: Int, _ message: String) throws {
    let totes = try Shelter().openTotes().totes
    let error = #expect(throws: Realm.Error.self) { _ = try totes.filtered(text) }
    let said = error?.message ?? ""
    #expect(error?.code == .invalidInput, "\(said)")
    #expect(said.contains(message), "\(said)")
    #expect(said.contains("at character \(position): "), "\(said)")
  }
}
