import Foundation
import TestSupport
import Testing

@testable import Tarn

private class RangeShelf: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var numbers: List<Double?>
  @Persisted var days: MutableSet<Date>
  @Persisted var words: Map<String, String?>
  @Persisted var names: List<String>
  @Persisted var codes: MutableSet<UUID>
  @Persisted var prices: List<Decimal128>
  @Persisted var shelves: List<RangeShelf>
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// `contains` with a range: all elements are in it. `containsAny(in:)`: some element is.
struct RangeConditionTests {
  private func open() throws -> Instance {
    let shelter = try Shelter()
    var configuration = shelter.configuration
    configuration.objectTypes = [RangeShelf.self]
    return try Instance(configuration, shelter)
  }

  /// One shelf for each list of elements, which have its position as their id.
  private func ids<V>(
    _ elements: [[V]], _ put: (RangeShelf, [V]) -> Void,
    _ condition: (Query<RangeShelf>) -> Query<Bool>
  ) throws -> [Int] {
    let instance = try open()
    try instance.write {
      for (id, values) in elements.enumerated() {
        put(instance.realm.create(RangeShelf.self, value: ["id": id]), values)
      }
    }
    let found = Array(instance.realm.objects(RangeShelf.self).where(condition).map(\.id))
    let unmanaged = List<RangeShelf>()
    for shelf in instance.realm.objects(RangeShelf.self) {
      unmanaged.append(RangeShelf(value: shelf))
    }
    let first = unmanaged.index(matching: condition)
    #expect(first == found.first)
    return found
  }

  private static let numbers: [[Double?]] = [
    [], [nil], [.nan], [1], [1, 3], [1, 3, nil], [.nan, 2], [0.9, 2], [2, 3.1], [2, 3, 3.1, nil],
  ]

  private func ids(_ condition: (Query<RangeShelf>) -> Query<Bool>) throws -> [Int] {
    try ids(Self.numbers, { $0.numbers.append(objectsIn: $1) }, condition)
  }

  @Test func `of a list of numbers all are in the range, without nil and NaN, and there is one`()
    throws
  {
    #expect(try ids { $0.numbers.contains(1...3) } == [3, 4, 5, 6])
    #expect(try ids { $0.numbers.contains(1..<3) } == [3, 6])
    #expect(try ids { !$0.numbers.contains(1...3) } == [0, 1, 2, 7, 8, 9])
  }

  @Test func `of a list of numbers some is in the range`() throws {
    #expect(try ids { $0.numbers.containsAny(in: 1...3) } == [3, 4, 5, 6, 7, 8, 9])
    #expect(try ids { $0.numbers.containsAny(in: 3..<4) } == [4, 5, 8, 9])
  }

  @Test func `the text that the peer makes of it finds the same`() throws {
    let instance = try open()
    try instance.write {
      for (id, values) in Self.numbers.enumerated() {
        instance.realm.create(RangeShelf.self, value: ["id": id, "numbers": values])
      }
    }
    let all = instance.realm.objects(RangeShelf.self)
    for (text, condition) in [
      ("numbers.@min >= 1.0 AND numbers.@max <= 3.0", { $0.numbers.contains(1...3) }),
      ("numbers.@min >= 1.0 AND numbers.@max < 3.0", { $0.numbers.contains(1..<3) }),
    ] as [(String, (Query<RangeShelf>) -> Query<Bool>)] {
      #expect(all.filter(text).map(\.id) == all.where(condition).map(\.id))
      #expect("\(condition(.root).predicate)" == "(\(text))")
    }
  }

  @Test func `sets of dates and ids, lists of decimals`() throws {
    let (early, late) = (Date(timeIntervalSince1970: 0), Date(timeIntervalSince1970: 9))
    let dates = [[], [early], [early, late]]
    let inDays: (RangeShelf, [Date]) -> Void = { $0.days.insert(objectsIn: $1) }
    #expect(try ids(dates, inDays) { $0.days.contains(early..<late) } == [1])
    #expect(try ids(dates, inDays) { $0.days.contains(early...late) } == [1, 2])
    #expect(try ids(dates, inDays) { $0.days.containsAny(in: early..<late) } == [1, 2])

    let codes = (0...2).map { UUID(uuidString: "00000000-0000-0000-0000-00000000000\($0)")! }
    let inCodes: (RangeShelf, [UUID]) -> Void = { $0.codes.insert(objectsIn: $1) }
    let sets = [[codes[0]], [codes[0], codes[2]], []]
    #expect(try ids(sets, inCodes) { $0.codes.contains(codes[0]...codes[1]) } == [0])
    #expect(try ids(sets, inCodes) { $0.codes.containsAny(in: codes[0]...codes[1]) } == [0, 1])

    let prices: [[Decimal128]] = [["0.1"], ["0.1", "0.3"]]
    let inPrices: (RangeShelf, [Decimal128]) -> Void = { $0.prices.append(objectsIn: $1) }
    #expect(try ids(prices, inPrices) { $0.prices.contains(0.1..<0.3) } == [0])
    #expect(try ids(prices, inPrices) { $0.prices.contains(0.1...0.3) } == [0, 1])
  }

  @Test func `lists and maps of text, in which nil does not take part`() throws {
    let names = [[], ["a"], ["a", "c"], ["b", "zz"]]
    let inNames: (RangeShelf, [String]) -> Void = { $0.names.append(objectsIn: $1) }
    #expect(try ids(names, inNames) { $0.names.contains("a"..."c") } == [1, 2])
    #expect(try ids(names, inNames) { $0.names.contains("a"..<"c") } == [1])
    #expect(try ids(names, inNames) { $0.names.containsAny(in: "b"..."c") } == [2, 3])

    let words = [[], [nil], ["b", nil], ["b", "d"]]
    let inWords: (RangeShelf, [String?]) -> Void = { shelf, values in
      for (key, value) in values.enumerated() { shelf.words["\(key)"] = value }
    }
    #expect(try ids(words, inWords) { $0.words.contains("a"..."c") } == [2])
    #expect(try ids(words, inWords) { $0.words.containsAny(in: "a"..."c") } == [2, 3])
  }

  @Test func `of some element's collection`() throws {
    let instance = try open()
    try instance.write {
      let low = instance.realm.create(RangeShelf.self, value: [1, [1.0]])
      let mixed = instance.realm.create(RangeShelf.self, value: [2, [1.0, 9.0]])
      instance.realm.create(RangeShelf.self, value: ["id": 10, "shelves": [low, mixed]])
      instance.realm.create(RangeShelf.self, value: ["id": 11, "shelves": [mixed]])
      instance.realm.create(RangeShelf.self, value: ["id": 12])
    }
    let all = instance.realm.objects(RangeShelf.self)
    #expect(all.where { $0.shelves.numbers.contains(0...5) }.map(\.id) == [10])
    #expect(all.where { $0.shelves.numbers.containsAny(in: 0...5) }.map(\.id) == [10, 11])
    #expect(all.where { $0.shelves[0].numbers.contains(0...5) }.map(\.id) == [10])
    #expect(all.where { $0.shelves.numbers.contains(0...9).count == 2 }.map(\.id) == [10])
  }
}
