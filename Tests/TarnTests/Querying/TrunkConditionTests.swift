import Foundation
import TestSupport
import Testing

@testable import Tarn

/// What texts and Swift say in the same way of elements at positions, of what may be missing, and
/// of how many elements meet a condition.
struct TrunkConditionTests {
  typealias View = ConditionView<Trunk>

  private static var all: [View] {
    positions + behindPositions + missing + stored + storedCollections + ranges + totals + numbers
      + subqueries + nested
  }

  @Test(arguments: Seeds.of(Array(1...6) as [UInt64]))
  func randomChanges(seed: UInt64) throws {
    let views = Self.all + [Self.rangeOfElements]
    try View.followChanges(of: views, by: TrunkOperations.self, seed: seed) {
      try $0.openTrunks()
    }
  }

  /// A condition that is printed and read again finds the same, and so do objects in no Realm.
  @Test(arguments: Seeds.of([31, 32] as [UInt64]))
  func printedAndUnmanaged(seed: UInt64) throws {
    let instance = try Shelter().openTrunks()
    var operations = TrunkOperations(numbers: SeededRandom(seed: seed))
    try instance.write { for _ in 0..<400 { operations.apply(to: instance) } }
    let shelf = List<Trunk>()
    shelf.append(objectsIn: instance.trunks.map { Trunk(value: $0) })
    for view in Self.all {
      view.expectPrinted(in: instance)
      view.expectFirst(in: shelf)
    }
    Self.rangeOfElements.expectFirst(in: shelf)
  }
}

// MARK: - The conditions

extension TrunkConditionTests {
  /// Elements at positions.
  private static var positions: [View] {
    [
      View("ints[0] == 3", { $0.ints[0] == 3 }, { $0.ints.first == 3 }),
      View("ints[1] != 2", { $0.ints[1] != 2 }, { $0.ints.at(1) != 2 }),
      View("2 > ints[1]", { 2 > $0.ints[1] }, { $0.ints.at(1).map { $0 < 2 } == true }),
      View("sizes[0] IN {1, 2}", { $0.sizes[0].in([1, 2]) }, { [1, 2].contains($0.sizes.at(0)) }),
      View(
        "tags[1] BEGINSWITH 'a'", { $0.tags[1].starts(with: "a") },
        { $0.tags.at(1)?.hasPrefix("a") == true }),
      View("anys[0] == 1", { $0.anys[0] == 1 }, { $0.anys.at(0)?.number == 1 }),
      View(
        "anys[0][1] == 1", { $0.anys[0][1] == 1 }, { $0.anys.at(0)?.element(1).number == 1 }),
      View("levels[0] == 5", { $0.levels[0] == .high }, { $0.levels.first == .high }),
      View(
        "oldLevels[0] > 1", { $0.oldLevels[0] > .low },
        { ($0.oldLevels.at(0) ?? nil) ?? .low > .low }),
      View("mother.ints[0] > 1", { $0.mother.ints[0] > 1 }, { ($0.mother?.ints.first ?? 0) > 1 }),
      View(
        "ANY kids.ints[0] == 1", { $0.kids.ints[0] == 1 },
        { $0.kids.contains { $0.ints.first == 1 } }),
    ]
  }

  /// What lies behind them, and behind a key.
  private static var behindPositions: [View] {
    [
      View("kids[0].limit > 1", { $0.kids[0].limit > 1 }, { ($0.kids.first?.limit ?? 0) > 1 }),
      View("labels[0].size == 1", { $0.labels[0].size == 1 }, { $0.labels.first?.size == 1 }),
      View(
        "kids[0].kids[1].limit >= 1", { $0.kids[0].kids[1].limit >= 1 },
        { ($0.kids.first?.kids.at(1)?.limit ?? 0) >= 1 }),
      View(
        "kids[0].kids.@count > 1", { $0.kids[0].kids.count > 1 },
        { ($0.kids.first?.kids.count ?? 0) > 1 }),
      View(
        "kids[0].kids.@count != 1", { $0.kids[0].kids.count != 1 },
        { $0.kids.first?.kids.count != 1 }),
      View(
        "lids['a'].kids.@count < 2", { $0.lids["a"].kids.count < 2 },
        { ($0.lids["a"] ?? nil).map { $0.kids.count < 2 } == true }),
      View(
        "lids['a'].ints.@max > 2", { $0.lids["a"].ints.max > 2 },
        { (($0.lids["a"] ?? nil)?.ints.max() ?? 0) > 2 }),
      View(
        "kids[0].kids.@sum.limit >= 2", { $0.kids[0].kids.limit.sum >= 2 },
        { ($0.kids.first?.kids.reduce(0) { $0 + $1.limit } ?? 0) >= 2 }),
      View(
        "ANY kids[0].kids.limit == 1", { $0.kids[0].kids.limit == 1 },
        { $0.kids.first?.kids.contains { $0.limit == 1 } == true }),
      View(
        "mother.kids[0].tags.@count IN {1, 2}", { $0.mother.kids[0].tags.count.in([1, 2]) },
        { [1, 2].contains($0.mother?.kids.first?.tags.count ?? 0) }),
    ]
  }

  /// Values that may be missing although their type is not optional.
  private static var missing: [View] {
    [
      View("ints[0] == NULL", { $0.ints[0] == nil }, { $0.ints.isEmpty }),
      View("sizes[0] == NULL", { $0.sizes[0] == nil }, { ($0.sizes.at(0) ?? nil) == nil }),
      View("ints[1] != NULL", { nil != $0.ints[1] }, { $0.ints.count > 1 }),
      View("kids[1] == NULL", { $0.kids[1] == nil }, { $0.kids.count < 2 }),
      View("kids[0].limit == NULL", { $0.kids[0].limit == nil }, { $0.kids.isEmpty }),
      View("kids[0].limit != NULL", { $0.kids[0].limit != nil }, { !$0.kids.isEmpty }),
      View("kids[0].size == NULL", { $0.kids[0].size == nil }, { $0.kids.first?.size == nil }),
      View("kids[0].kids.@count == NULL", { $0.kids[0].kids.count == nil }, { $0.kids.isEmpty }),
      View(
        "lids['k'].limit == NULL", { $0.lids["k"].limit == nil }, { ($0.lids["k"] ?? nil) == nil }),
      View("marks['a'] == NULL", { $0.marks["a"] == nil }, { $0.marks["a"] == nil }),
      View("marks['a'] != NULL", { $0.marks["a"] != nil }, { $0.marks["a"] != nil }),
      View("ints.@max == NULL", { $0.ints.max == nil }, { $0.ints.isEmpty }),
      View("kids.@min.limit != NULL", { $0.kids.limit.min != nil }, { !$0.kids.isEmpty }),
      View("mother.limit == NULL", { nil == $0.mother.limit }, { $0.mother == nil }),
      View("mother.kids.@count == NULL", { $0.mother.kids.count == nil }, { $0.mother == nil }),
      View(
        "ANY kids.mother.limit == NULL", { $0.kids.mother.limit == nil },
        { $0.kids.contains { $0.mother == nil } }),
    ]
  }

  /// Collections of optional enums and custom types, and ranges.
  private static var stored: [View] {
    [
      View(
        "ANY oldLevels > 1", { $0.oldLevels.rawValue > 1 },
        { $0.oldLevels.contains { ($0?.rawValue ?? 0) > 1 } }),
      View(
        "ANY oldLevels == NULL", { $0.oldLevels.rawValue == nil }, { $0.oldLevels.contains(nil) }),
      View(
        "ANY moods BEGINSWITH 'c'", { $0.moods.rawValue.starts(with: "c") },
        { $0.moods.contains(.calm) }),
      View(
        "ANY codes >= 2", { $0.codes.persistableValue >= 2 },
        { $0.codes.contains { ($0?.number ?? 0) >= 2 } }),
      View(
        "ANY sizes BETWEEN {1, 2}", { $0.sizes.containsAny(in: 1...2) },
        { $0.sizes.contains { $0.map { (1...2).contains($0) } == true } }),
      View(
        "ANY marks BETWEEN {1, 2}", { $0.marks.containsAny(in: 1...2) },
        { $0.marks.values.contains { (1...2).contains($0) } }),
      View(
        "ANY spares BETWEEN {0, 1}", { $0.spares.containsAny(in: 0...1) },
        { $0.spares.values.contains { $0.map { (0...1).contains($0) } == true } }),
    ]
  }

  /// Collections of enums and custom types as collections of the stored values.
  private static var storedCollections: [View] {
    func isFilled(_ values: some Sequence<Int?>, _ range: ClosedRange<Int>) -> Bool {
      let present = values.compactMap(\.self)
      return !present.isEmpty && present.allSatisfy(range.contains)
    }
    return [
      View(
        "levels.@min >= 1 AND levels.@max <= 2", { $0.levels.rawValue.contains(1...2) },
        { isFilled($0.levels.map(\.rawValue), 1...2) }),
      View(
        "oldLevels.@min >= 1 AND oldLevels.@max <= 2", { $0.oldLevels.rawValue.contains(1...2) },
        { isFilled($0.oldLevels.map { $0?.rawValue }, 1...2) }),
      View(
        "codes.@min >= 2 AND codes.@max <= 3", { $0.codes.persistableValue.contains(2...3) },
        { isFilled($0.codes.map { $0?.number }, 2...3) }),
      View(
        "ranks.@min >= 1 AND ranks.@max <= 2", { $0.ranks.rawValue.contains(1...2) },
        { isFilled($0.ranks.values.map(\.rawValue), 1...2) }),
      View(
        "ANY levels BETWEEN {1, 2}", { $0.levels.rawValue.containsAny(in: 1...2) },
        { $0.levels.contains { (1...2).contains($0.rawValue) } }),
      View(
        "ANY moods == 'calm'", { $0.moods.rawValue.contains("calm") },
        { $0.moods.contains(.calm) }),
      View("ANY moods == 'c'", { $0.moods.rawValue.contains("c") }, { _ in false }),
      View(
        "ANY moods CONTAINS 'l'", { $0.moods.rawValue.contains("l", options: []) },
        { $0.moods.contains { $0?.rawValue.contains("l") == true } }),
      View("levels.@count > 1", { $0.levels.rawValue.count > 1 }, { $0.levels.count > 1 }),
      View("ranks['a'] == 1", { $0.ranks.rawValue["a"] == 1 }, { $0.ranks["a"] == .low }),
      View(
        "ANY ranks > 1", { $0.ranks.rawValue.values > 1 },
        { $0.ranks.values.contains { $0.rawValue > 1 } }),
      View(
        "ranks.@max == 5", { $0.ranks.rawValue.max == 5 }, { $0.ranks.values.contains(.high) }),
      View(
        "ANY kids.levels == 5", { $0.kids.levels.rawValue.contains(5) },
        { $0.kids.contains { $0.levels.contains(.high) } }),
    ]
  }

  /// Ranges that all elements are in, of which there is one at least. Nil does not take part.
  private static var ranges: [View] {
    func isFilled<S: Sequence<Int?>>(_ values: S, _ range: Range<Int>) -> Bool {
      let there = values.compactMap(\.self)
      return !there.isEmpty && there.allSatisfy(range.contains)
    }
    return [
      View(
        "ints.@min >= 1 AND ints.@max <= 2", { $0.ints.contains(1...2) },
        { isFilled($0.ints.map { $0 }, 1..<3) }),
      View(
        "sizes.@min >= 0 AND sizes.@max < 2", { $0.sizes.contains(0..<2) },
        { isFilled($0.sizes, 0..<2) }),
      View(
        "marks.@min >= 1 AND marks.@max < 3", { $0.marks.contains(1..<3) },
        { isFilled($0.marks.values.map { $0 }, 1..<3) }),
      View(
        "NOT (spares.@min >= 0 AND spares.@max <= 1)", { !$0.spares.contains(0...1) },
        { !isFilled($0.spares.values, 0..<2) }),
      View(
        "mother.sizes.@min >= 1 AND mother.sizes.@max <= 3", { $0.mother.sizes.contains(1...3) },
        { $0.mother.map { isFilled($0.sizes, 1..<4) } == true }),
      View(
        "SUBQUERY(kids, $x, $x.ints.@min >= 1 AND $x.ints.@max <= 2 AND $x.limit > 0).@count > 0",
        { ($0.kids.ints.contains(1...2) && $0.kids.limit > 0).count > 0 },
        { $0.kids.contains { isFilled($0.ints.map { $0 }, 1..<3) && $0.limit > 0 } }),
    ]
  }

  /// Of an element's collection, for which texts have a longer form only.
  private static var rangeOfElements: View {
    View(
      "SUBQUERY(kids, $x, $x.ints.@min >= 1 AND $x.ints.@max <= 2).@count > 0",
      { $0.kids.ints.contains(1...2) },
      { $0.kids.contains { !$0.ints.isEmpty && $0.ints.allSatisfy((1...2).contains) } })
  }

  private static var totals: [View] {
    [
      View(
        "spares.@max > 2", { $0.spares.max > 2 },
        { ($0.spares.values.compactMap(\.self).max() ?? 0) > 2 }),
      View(
        "spares.@sum == 0", { $0.spares.sum == 0 },
        { $0.spares.values.compactMap(\.self).reduce(0, +) == 0 }),
      View(
        "costs.@avg >= 1.5", { $0.costs.avg >= Decimal128("1.5") },
        { average($0.costs.values).map { $0 >= 1.5 } == true }),
      View(
        "prices.@min == 1", { $0.prices.min == 1 },
        { $0.prices.compactMap(\.self).min() == 1 }),
      View(
        "prices.@avg < price", { $0.prices.avg < $0.price },
        { trunk in average(trunk.prices).map { $0 < Double(trunk.price.description)! } == true }),
      View("levels.@max == 5", { $0.levels.max == .high }, { $0.levels.contains(.high) }),
      View(
        "oldLevels.@sum > 5", { $0.oldLevels.sum > 5 },
        { $0.oldLevels.reduce(0) { $0 + ($1?.rawValue ?? 0) } > 5 }),
      View(
        "ranks.@min == 1", { $0.ranks.min == .low }, { $0.ranks.values.contains(.low) }),
      View(
        "codes.@max > 2", { $0.codes.persistableValue.max > 2 },
        { $0.codes.contains { ($0?.number ?? 0) > 2 } }),
      View(
        "kids.@max.level < 5", { $0.kids.level.max < .high },
        { !$0.kids.isEmpty && !$0.kids.contains { $0.level == .high } }),
      View(
        "ints.@max IN {1, 3}", { $0.ints.max.in([1, 3]) }, { [1, 3].contains($0.ints.max() ?? 0) }),
      View(
        "kids.@count IN {1, 3}", { $0.kids.count.in([1, 3]) }, { [1, 3].contains($0.kids.count) }),
      View(
        "ANY kids.kids.@count IN {1, 2}", { $0.kids.kids.count.in([1, 2]) },
        { $0.kids.contains { [1, 2].contains($0.kids.count) } }),
    ]
  }

  private static func average(_ values: some Sequence<Decimal128?>) -> Double? {
    let numbers = values.compactMap { $0.flatMap { Double($0.description) } }
    return numbers.isEmpty ? nil : numbers.reduce(0, +) / Double(numbers.count)
  }

  /// Numbers of two types.
  private static var numbers: [View] {
    [
      View("limit == ratio", { $0.limit == $0.ratio }, { Double($0.limit) == $0.ratio }),
      View("limit > single", { $0.limit > $0.single }, { Float($0.limit) > $0.single }),
      View("small <= limit", { $0.small <= $0.limit }, { Int($0.small) <= $0.limit }),
      View("size != ratio", { $0.size != $0.ratio }, { $0.size.map(Double.init) != $0.ratio }),
      View("ratio < size", { $0.ratio < $0.size }, { $0.ratio < Double($0.size ?? -1) }),
      View(
        "price >= ratio", { $0.price >= $0.ratio }, { Double($0.price.description)! >= $0.ratio }),
      View(
        "kids.@sum.limit > ratio", { $0.kids.limit.sum > $0.ratio },
        { Double($0.kids.reduce(0) { $0 + $1.limit }) > $0.ratio }),
      View(
        "mother.limit == single", { $0.mother.limit == $0.single },
        { $0.mother.map { Float($0.limit) } == $0.single }),
    ]
  }

  /// How many values meet a condition.
  private static var subqueries: [View] {
    [
      View(
        "SUBQUERY(ints, $x, $x > 1).@count > 1", { ($0.ints > 1).count > 1 },
        { $0.ints.filter { $0 > 1 }.count > 1 }),
      View(
        "SUBQUERY(tags, $x, $x BEGINSWITH 'a' OR $x == 'b').@count == 2",
        { ($0.tags.starts(with: "a") || $0.tags == "b").count == 2 },
        { $0.tags.filter { $0.hasPrefix("a") || $0 == "b" }.count == 2 }),
      View(
        "SUBQUERY(marks, $v, NOT $v IN {1, 2}).@count IN {1, 2}",
        { query in (!query.marks.values.in([1, 2])).count.in([1, 2]) },
        { (1...2).contains($0.marks.values.filter { ![1, 2].contains($0) }.count) }),
      View(
        "SUBQUERY(marks.@allKeys, $x, $x != 'a').@count > 0", { ($0.marks.keys != "a").count > 0 },
        { $0.marks.keys.contains { $0 != "a" } }),
      View(
        "SUBQUERY(sizes, $x, $x == NULL || $x BETWEEN {2, 3}).@count > 1",
        { ($0.sizes.contains(nil) || $0.sizes.containsAny(in: 2...3)).count > 1 },
        { $0.sizes.filter { $0 == nil || $0! >= 2 }.count > 1 }),
      View(
        "1 == SUBQUERY(anys, $x, $x > 0).@count", { ($0.anys > 0).count == 1 },
        { $0.anys.filter { ($0.number ?? 0) > 0 }.count == 1 }),
      View(
        "SUBQUERY(data, $x, $x >= 0).@count > 1", { ($0.data.any >= 0).count > 1 },
        { $0.data.elements.filter { $0.number != nil }.count > 1 }),
      View(
        "SUBQUERY(data['k'], $x, NOT $x == 1 AND $x != NULL).@count != 0",
        { (!($0.data["k"].any == 1) && $0.data["k"].any != .none).count != 0 },
        {
          guard isCollection($0.data.element("k")) else { return true }
          return $0.data.element("k").elements.contains { $0.number != 1 && !$0.isNone }
        }),
      View(
        "SUBQUERY(mother.ints, $x, $x == 1).@count < 1", { ($0.mother.ints == 1).count < 1 },
        { $0.mother.map { !$0.ints.contains(1) } == true }),
    ]
  }

  private static func isCollection(_ value: AnyRealmValue) -> Bool {
    value.listValue != nil || value.dictionaryValue != nil
  }

  /// How many objects have collections that meet one.
  private static var nested: [View] {
    [
      View(
        "SUBQUERY(kids, $x, ANY $x.kids.limit > 1).@count > 1",
        { ($0.kids.kids.limit > 1).count > 1 },
        { $0.kids.filter { $0.kids.contains { $0.limit > 1 } }.count > 1 }),
      View(
        "SUBQUERY(kids, $x, ANY $x.ints == 1 AND $x.limit > 0).@count > 0",
        { ($0.kids.ints == 1 && $0.kids.limit > 0).count > 0 },
        { $0.kids.contains { $0.ints.contains(1) && $0.limit > 0 } }),
      View(
        "SUBQUERY(kids, $x, $x.kids.@count > 1 AND ANY $x.kids.limit == 0).@count > 0",
        { ($0.kids.kids.count > 1 && $0.kids.kids.limit == 0).count > 0 },
        { $0.kids.contains { $0.kids.count > 1 && $0.kids.contains { $0.limit == 0 } } }),
      View(
        "SUBQUERY(kids, $x, ANY $x.kids.kids.@count == 1).@count > 0",
        { ($0.kids.kids.kids.count == 1).count > 0 },
        { $0.kids.contains { $0.kids.contains { $0.kids.count == 1 } } }),
      View(
        "SUBQUERY(kids, $x, ANY $x.kids.ints BETWEEN {1, 2}).@count == 1",
        { $0.kids.kids.ints.containsAny(in: 1...2).count == 1 },
        {
          $0.kids.filter { $0.kids.contains { $0.ints.contains { (1...2).contains($0) } } }.count
            == 1
        }
      ),
      View(
        "SUBQUERY(kids[0].kids, $x, $x.limit > 0).@count > 0",
        { ($0.kids[0].kids.limit > 0).count > 0 },
        { $0.kids.first?.kids.contains { $0.limit > 0 } == true }),
      View(
        "SUBQUERY(lids['a'].ints, $x, $x > 0).@count == NULL",
        { ($0.lids["a"].ints > 0).count == nil }, { ($0.lids["a"] ?? nil) == nil }),
      View(
        "SUBQUERY(kids, $x, $x.ints[0] == 1 AND $x.mother.limit == NULL).@count > 0",
        { ($0.kids.ints[0] == 1 && $0.kids.mother.limit == nil).count > 0 },
        { $0.kids.contains { $0.ints.first == 1 && $0.mother == nil } }),
    ]
  }
}
