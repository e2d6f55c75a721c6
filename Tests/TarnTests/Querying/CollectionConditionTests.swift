import Foundation
import TestSupport
import Testing

@testable import Tarn

/// Conditions on what is in collections, written twice, and as a closure over objects.
struct CollectionConditionTests {
  private typealias View = ConditionView<Hopper>

  private static var values: [View] {
    [
      View(
        "numbers.@count > 2", { $0.numbers.count > 2 },
        { $0.numbers.count > 2 }),
      View(
        "0 == sizes.@count OR tags.@count != 1",
        { $0.sizes.count == 0 || $0.tags.count != 1 },
        { $0.sizes.count == 0 || $0.tags.count != 1 }),
      View(
        "3 IN numbers", { $0.numbers.contains(3) },
        { $0.numbers.contains(3) }),
      View(
        "ANY numbers IN {1, 4}", { $0.numbers.containsAny(in: [1, 4]) },
        { $0.numbers.contains { $0 == 1 || $0 == 4 } }),
      View(
        "NONE numbers == 0", { !$0.numbers.contains(0) },
        { !$0.numbers.contains(0) }),
      View(
        "NULL IN sizes", { $0.sizes.contains(nil) },
        { $0.sizes.contains(nil) }),
      View(
        "SOME tags BEGINSWITH[c] 'IT' || \"b\" IN tags",
        { $0.tags.containsAny(in: ["it's", "b"]) },
        { $0.tags.contains("it's") || $0.tags.contains("b") }),
      View(
        "ANY scores > 2 AND scores.@count >= 1",
        { $0.scores.values > 2 && $0.scores.count >= 1 },
        { $0.scores.values.contains { $0 > 2 } }),
      View(
        "inner.numbers.@count >= 1 AND NOT 2 IN inner.numbers",
        { $0.inner.numbers.count >= 1 && !$0.inner.numbers.contains(2) },
        { $0.inner.map { !$0.numbers.isEmpty && !$0.numbers.contains(2) } == true }),
    ]
  }

  /// What the elements come to.
  private static var totals: [View] {
    [
      View(
        "numbers.@max > 3", { $0.numbers.max > 3 },
        { $0.numbers.max().map { $0 > 3 } == true }),
      View(
        "numbers.@min == NULL", { $0.numbers.count == 0 },
        { $0.numbers.isEmpty }),
      View(
        "numbers.@sum BETWEEN {2, 6}", { $0.numbers.sum.contains(2...6) },
        { (2...6).contains($0.numbers.reduce(0, +)) }),
      View(
        "sizes.@avg >= 1.5", { $0.sizes.avg >= 1.5 },
        {
          let sizes = $0.sizes.compactMap(\.self)
          return !sizes.isEmpty && sizes.reduce(0, +) / Double(sizes.count) >= 1.5
        }),
      View(
        "sizes.@sum == 0", { $0.sizes.sum == 0 },
        { $0.sizes.compactMap(\.self).reduce(0, +) == 0 }),
      View(
        "scores.@sum != 3", { $0.scores.sum != 3 },
        { $0.scores.values.reduce(0, +) != 3 }),
      View(
        "parts.@sum.weight > 3", { $0.parts.weight.sum > 3 },
        { $0.parts.reduce(0) { $0 + $1.weight } > 3 }),
      View(
        "1 >= kinds.@avg.weight", { $0.kinds.weight.avg <= 1 },
        {
          !$0.kinds.isEmpty
            && Double($0.kinds.reduce(0) { $0 + $1.weight }) / Double($0.kinds.count) <= 1
        }),
      View(
        "parts.@max.next.weight == 2", { $0.parts.next.weight.max == 2 },
        { $0.parts.compactMap { $0.next?.weight }.max() == 2 }),
      View(
        "inner.numbers.@sum >= 0", { $0.inner.numbers.sum >= 0 },
        { $0.inner.map { $0.numbers.reduce(0, +) >= 0 } == true }),
    ]
  }

  /// How many elements meet a condition.
  private static var subqueries: [View] {
    [
      View(
        "SUBQUERY(parts, $x, $x.weight > 0 AND $x.isNew == YES).@count > 0",
        { ($0.parts.weight > 0 && $0.parts.isNew).count > 0 },
        { $0.parts.contains { $0.weight > 0 && $0.isNew } }),
      View(
        "SUBQUERY(parts, $p, $p.weight IN {1, 3} OR $p.label ==[c] 'b').@count == 2",
        {
          ($0.parts.weight.in([1, 3]) || $0.parts.label.equals("b", options: .caseInsensitive))
            .count == 2
        },
        {
          $0.parts.filter { [1, 3].contains($0.weight) || $0.label?.lowercased() == "b" }.count == 2
        }),
      View(
        "SUBQUERY(inner.kinds, $x, $x.next.weight BETWEEN {1, 2}).@count < 1",
        { $0.inner.kinds.next.weight.contains(1...2).count < 1 },
        {
          $0.inner.map { !$0.kinds.contains { (1...2).contains($0.next?.weight ?? 0) } } == true
        }),
      View(
        "0 != SUBQUERY(named, $x, NOT $x.weight == 0).@count",
        { (!($0.named.values.weight == 0)).count != 0 },
        { $0.named.values.contains { $0.map { $0.weight != 0 } == true } }),
    ]
  }

  /// What the elements come to against a property of the object, or of one that it links to.
  private static var columns: [View] {
    [
      View(
        "numbers.@count == id", { $0.numbers.count == $0.id },
        { $0.numbers.count == $0.id }),
      View(
        "id < parts.@sum.weight", { $0.id < $0.parts.weight.sum },
        { $0.id < $0.parts.reduce(0) { $0 + $1.weight } }),
      View(
        "numbers.@max >= id", { $0.numbers.max >= $0.id },
        { ($0.numbers.max() ?? -1) >= $0.id }),
      View(
        "scores.@min != inner.id", { $0.scores.min != $0.inner.id },
        { $0.scores.values.min() != $0.inner?.id }),
      View(
        "inner.kinds.@count == id", { $0.id == $0.inner.kinds.count },
        { $0.inner?.kinds.count == $0.id }),
      View(
        "inner.parts.@max.weight <= inner.id",
        { $0.inner.id >= $0.inner.parts.weight.max },
        {
          // Two nils are at most each other.
          guard let inner = $0.inner else { return true }
          return inner.parts.map(\.weight).max().map { $0 <= inner.id } == true
        }),
    ]
  }

  private static var objects: [View] {
    [
      View(
        "ANY parts.weight > 2", { $0.parts.weight > 2 },
        { $0.parts.contains { $0.weight > 2 } }),
      View(
        "NONE parts.weight == 0 AND parts.@count != 0",
        { !($0.parts.weight == 0) && $0.parts.count != 0 },
        { !$0.parts.isEmpty && !$0.parts.contains { $0.weight == 0 } }),
      View(
        "ANY kinds.label ==[c] 'b'",
        { $0.kinds.label.equals("b", options: .caseInsensitive) },
        { $0.kinds.contains { $0.label == "B" } }),
      View(
        "ANY parts.label == nil", { $0.parts.label == nil },
        { $0.parts.contains { $0.label == nil } }),
      View(
        "ANY kinds.isNew == YES", { $0.kinds.isNew },
        { $0.kinds.contains(where: \.isNew) }),
      View(
        "ANY parts.next.weight IN {1, 2}", { $0.parts.next.weight.in([1, 2]) },
        { $0.parts.contains { $0.next.map { [1, 2].contains($0.weight) } == true } }),
      View(
        "ANY named.weight < 2", { $0.named.values.weight < 2 },
        { $0.named.values.contains { $0.map { $0.weight < 2 } == true } }),
      View(
        "ANY inner.parts.weight == 1", { $0.inner.parts.weight == 1 },
        { $0.inner.map { $0.parts.contains { $0.weight == 1 } } == true }),
      View(
        "inner.inner.id >= 3", { $0.inner.inner.id >= 3 },
        { $0.inner?.inner.map { $0.id >= 3 } == true }),
    ]
  }

  private static var all: [View] { values + objects + totals + columns + subqueries }

  @Test(arguments: Seeds.of(Array(1...6) as [UInt64]))
  func randomChanges(seed: UInt64) throws {
    try View.followChanges(of: Self.all, by: HopperOperations.self, seed: seed) {
      try $0.openHoppers()
    }
  }

  /// A condition that is printed and read again finds the same.
  @Test(arguments: Seeds.of([31, 32] as [UInt64]))
  func printedConditions(seed: UInt64) throws {
    let instance = try Shelter().openHoppers()
    var operations = HopperOperations(numbers: SeededRandom(seed: seed))
    try instance.write { for _ in 0..<150 { operations.apply(to: instance) } }
    for view in Self.all { view.expectPrinted(in: instance) }
  }

  @Test func objectsInCollections() throws {
    let instance = try Shelter().openHoppers()
    try instance.write {
      for id in 0..<3 {
        let part = instance.realm.create(HopperPart.self, value: ["id": id])
        let hopper = instance.realm.create(Hopper.self, value: ["id": id])
        hopper.parts.append(part)
        hopper.named["x"] = part
      }
      instance.hopper(2)!.parts.append(instance.part(0)!)
    }
    let (first, second) = (instance.part(0)!, instance.part(1)!)
    #expect(instance.hoppers.where { $0.parts.contains(first) }.map(\.id) == [0, 2])
    #expect(instance.hoppers.where { $0.parts.containsAny(in: [second]) }.map(\.id) == [1])
    #expect(instance.hoppers.where { $0.named.contains(second) }.map(\.id) == [1])
    #expect(instance.hoppers.filter("%@ IN parts", first).map(\.id) == [0, 2])
    #expect(instance.hoppers.filter("ANY parts == %@", second).map(\.id) == [1])
    #expect(instance.hoppers.filter("NONE parts IN %@", [first, second]).map(\.id) == [])
    #expect(instance.hoppers.filter("%@ IN %K", first, "parts").count == 2)
  }

  @Test(arguments: [
    ("parts.weight == 1", 1, "is a collection: conditions on it need ANY, NONE or @count"),
    ("ANY inner.id == 1", 5, "'inner.id' does not lead to a collection"),
    (
      "ANY inner.id.x == 1", 5, "property 'id' of class 'Hopper' is neither a link nor a collection"
    ),
    ("ANY inner == nil", 5, "'inner' does not lead to a collection"),
    ("ANY parts.legs == 1", 5, "class 'HopperPart' has no property 'legs'"),
    (
      "ANY numbers.legs == 1", 5,
      "the elements of property 'numbers' of class 'Hopper' are not objects"
    ),
    ("ANY tags > 1", 5, "is of type string, which cannot be compared with 1"),
    ("parts.@count == 'a'", 1, "which cannot be compared with \"a\""),
    (
      "parts.weight.@count == 1", 1,
      "'parts.weight' continues past a collection: write ANY before it"
    ),
    ("ANY parts.weight.@count == 1", 5, "@count must follow a collection"),
    ("ANY parts.@count == 1", 5, "'parts.@count' is one number: omit ANY"),
    ("ANY scores.@allKeys == 1", 5, "is of type string, which cannot be compared with 1"),
    ("ANY @links.Hopper.legs == nil", 5, "class 'Hopper' has no property 'legs'"),
    ("@links.HopperPart.next.@count > 1", 1, "does not link to objects of class 'Hopper'"),
    ("@links.Nobody.next.@count > 1", 1, "there is no class 'Nobody' that could link here"),
    ("@links.Hopper.inner == nil", 1, "through 'Hopper.inner' are a collection: conditions on"),
    ("SELF == nil", 1, "SELF is an object here: compare a property of it"),
    ("tags.@max > 1", 1, "@max needs numbers or dates: 'tags' is of type string"),
    ("parts.@sum > 1", 1, "@sum needs numbers: 'parts' is of type link"),
    ("numbers.@sum == 'a'", 1, "which cannot be compared with \"a\""),
    (
      "numbers.@sum == inner.inner", 1,
      "cannot compare the aggregate 'numbers' (int) with 'inner.inner' (link to 'Hopper')"
    ),
    ("parts.@count == parts", 1, "is a collection: conditions on it need ANY, NONE or @count"),
    (
      "SUBQUERY(parts, $x, $x.weight == 1).@count == id", 1,
      "compare the @count of a SUBQUERY with a number"
    ),
    ("inner.@sum.id == 1", 1, "'inner.id' does not lead to a collection"),
    (
      "SUBQUERY(numbers, $x, $x.id == 1).@count > 0", 1,
      "values have no properties and can be compared only with constants: id == 1"
    ),
    ("SUBQUERY(inner, $x, $x.id == 1).@count > 0", 1, "'inner' does not lead to a collection"),
    ("SUBQUERY(tags, $x, $x > 3).@count > 0", 1, "of type string, which cannot be compared with 3"),
    ("SUBQUERY(parts, $x, $x == 3).@count > 0", 21, "SELF is an object here"),
    ("SUBQUERY($x, $x, $x == 3).@count > 0", 10, "$x is allowed only inside a SUBQUERY"),
    ("SUBQUERY(numbers, $x, $y == 3).@count > 0", 23, "inside SUBQUERY every path starts with $x"),
    (
      "SUBQUERY(named['a'], $x, $x.id == 1).@count > 0", 1,
      "SUBQUERY needs a collection, and 'named[\"a\"]' is not one"
    ),
    ("parts.@count IN {1, 'a'}", 1, "which cannot be compared with \"a\""),
    ("parts.@count IN 1", 17, "expected '{' and a list of values"),
    (
      "named['a'].next.@count == 1", 1, "'next' does not lead to a collection"
    ),
    (
      "named['a'].@count == id", 1, "only collections have a @count"
    ),
    (
      "SUBQUERY(parts, $x, $x.legs == 1).@count > 0", 21,
      "class 'HopperPart' has no property 'legs'"
    ),
    (
      "id > 1 AND SUBQUERY(parts, $x, $x.weight > 1 AND $x.wieght < 3).@count > 0", 50,
      "class 'HopperPart' has no property 'wieght': the nearest name is 'weight'"
    ),
    ("id['a'] == 1", 1, "'id' is not a list, map or AnyRealmValue, so [\"a\"] cannot follow it"),
    ("id == 1 AND 3 IN tags", 13, "is of type string, which cannot be compared with 3"),
  ])
  func whatDoesNotFit(_ text: String, _ instance: Int, _ message: String) throws {
    let hoppers = try Shelter().openHoppers().hoppers
    let error = #expect(throws: Realm.Error.self) { _ = try hoppers.filtered(text) }
    let said = error?.message ?? ""
    #expect(error?.code == .invalidInput, "\(said)")
    #expect(said.contains(message), "\(said)")
    #expect(said.contains("at character \(instance): "), "\(said)")
  }
}
