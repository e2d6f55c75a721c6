import Foundation
import TestSupport
import Testing

@testable import Tarn

private class Till: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var whole: Int?
  @Persisted var double: Double?
  @Persisted var decimal: Decimal128?
  @Persisted var any: AnyRealmValue
  @Persisted var wholes: List<Int>
  @Persisted var doubles: List<Double>
  @Persisted var decimals: List<Decimal128>
  @Persisted var anys: List<AnyRealmValue>
  @Persisted var tills: List<Till>
  @Persisted var named: Map<String, Till?>
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// Every way to a sum, an average, a minimum or a maximum has the same answer, digit by digit,
/// whatever the order of the objects.
struct HardSumTests {
  /// What each way says, as text.
  private struct Answer: Equatable, CustomStringConvertible {
    var sum = ""
    var average = ""
    var min = ""
    var max = ""

    init(_ sum: Any, _ average: Any?, _ min: Any?, _ max: Any?) {
      self.sum = "\(sum)"
      self.average = average.map { "\($0)" } ?? "nil"
      self.min = min.map { "\($0)" } ?? "nil"
      self.max = max.map { "\($0)" } ?? "nil"
    }

    var description: String { "\(sum) \(average) \(min)…\(max)" }
  }

  private let instance: Instance
  private var realm: Realm { instance.realm }

  init() throws {
    let shelter = try Shelter()
    var configuration = shelter.configuration
    configuration.objectTypes = [Till.self]
    instance = try Instance(configuration, shelter)
  }

  /// Puts the values into objects, which the object -1 has in a list and a map, and into lists.
  private func fill<T>(
    _ values: [T], _ property: ReferenceWritableKeyPath<Till, T?>,
    _ list: KeyPath<Till, List<T>>
  ) throws where T: RealmCollectionValue {
    try instance.write {
      realm.deleteAll()
      let owner = realm.create(Till.self, value: ["id": -1])
      for (id, value) in values.enumerated() {
        let till = realm.create(Till.self, value: ["id": id])
        till[keyPath: property] = value
        owner[keyPath: list].append(value)
        owner.tills.append(till)
        owner.named["\(id)"] = till
      }
    }
  }

  private var owner: Till { realm.object(ofType: Till.self, forPrimaryKey: -1)! }

  // MARK: - Decimals

  private func decimalAnswers() throws -> [String: Answer] {
    let (tills, owner) = (realm.objects(Till.self), owner)
    let byID = tills.sorted(by: \.id, ascending: false)
    let erased = AnyRealmCollection(byID)
    let list = AnyRealmCollection(owner.tills)
    let unmanaged = List<Decimal128>()
    unmanaged.append(objectsIn: owner.decimals)
    let live = tills.aggregate(
      .sum(of: \.decimal), .average(of: \.decimal), .min(of: \.decimal), .max(of: \.decimal)
    ).value
    let groups = owner.tills.grouped(
      by: \.whole, .sum(of: \.decimal), .average(of: \.decimal), .min(of: \.decimal),
      .max(of: \.decimal))
    let grouped = groups.first?.values ?? (0, nil, nil, nil)
    return [
      "results": Answer(
        tills.sum(of: \.decimal), tills.average(of: \.decimal) as Decimal128?,
        tills.min(of: \.decimal), tills.max(of: \.decimal)),
      "sorted": Answer(
        byID.sum(of: \.decimal), byID.average(of: \.decimal) as Decimal128?,
        byID.min(of: \.decimal), byID.max(of: \.decimal)),
      "erased": Answer(
        erased.sum(of: \.decimal), erased.average(of: \.decimal) as Decimal128?,
        erased.min(of: \.decimal), erased.max(of: \.decimal)),
      "list": Answer(
        owner.tills.sum(of: \.decimal), owner.tills.average(of: \.decimal) as Decimal128?,
        owner.tills.min(of: \.decimal), owner.tills.max(of: \.decimal)),
      "erased list": Answer(
        list.sum(of: \.decimal), list.average(of: \.decimal) as Decimal128?,
        list.min(of: \.decimal), list.max(of: \.decimal)),
      "map": Answer(
        owner.named.sum(of: \.decimal), owner.named.average(ofProperty: "decimal") as Decimal128?,
        owner.named.min(of: \.decimal), owner.named.max(of: \.decimal)),
      "elements": Answer(
        owner.decimals.sum(), owner.decimals.average() as Decimal128?, owner.decimals.min(),
        owner.decimals.max()),
      "unmanaged": Answer(
        unmanaged.sum(), unmanaged.average() as Decimal128?, unmanaged.min(), unmanaged.max()),
      "aggregate": Answer(live.0, live.1, live.2, live.3),
      "groups": Answer(grouped.0, grouped.1, grouped.2, grouped.3),
      "operators": Answer(
        owner.tills.value(forKeyPath: "@sum.decimal") ?? 0,
        owner.tills.value(forKeyPath: "@avg.decimal"),
        owner.tills.value(forKeyPath: "@min.decimal"),
        owner.tills.value(forKeyPath: "@max.decimal")),
    ]
  }

  private static let decimals: [(values: [Decimal128], answer: Answer)] = [
    ([], Answer("0", nil, nil, nil)),
    (["0.00"], Answer("0.00", "0.00", "0.00", "0.00")),
    (["1.10", "1.1", "-0", "0"], Answer("2.20", "0.55", "-0", "1.1")),
    (
      ["0.1", "1000000000000000000000000000000005", "9E+33"],
      Answer(
        "1.000000000000000000000000000000001E+34", "3333333333333333333333333333333335",
        "0.1", "9E+33")
    ),
    (
      ["1E+33", "0.5", "0.5"],
      Answer(
        "1000000000000000000000000000000001", "333333333333333333333333333333333.7", "0.5",
        "1E+33")
    ),
    (
      ["1.10", "NaN", "0.00", "2.5E+33", "-2.5E+33", "0.005"],
      Answer("1.105", "0.221", "-2.5E+33", "2.5E+33")
    ),
    (["Infinity", "1"], Answer("Infinity", "Infinity", "1", "Infinity")),
    (["Infinity", "-Infinity"], Answer("NaN", "NaN", "-Infinity", "Infinity")),
  ]

  @Test(arguments: decimals.indices)
  func `decimals add up the same everywhere`(_ number: Int) throws {
    let (values, answer) = Self.decimals[number]
    // Of 720 orders of six these are enough here: the engine is tested with all.
    for (index, order) in values.orders.enumerated() where index % 31 == 0 || values.count < 5 {
      try fill(order, \.decimal, \.decimals)
      for (way, said) in try decimalAnswers() {
        if values.isEmpty, way == "groups" || way == "operators" { continue }
        #expect(said == answer, "\(way), \(order)")
      }
      let tills = realm.objects(Till.self)
      for (path, rest) in [("decimals", ""), ("tills", ".decimal"), ("named", ".decimal")] {
        for (aggregate, text) in [
          ("@sum", answer.sum), ("@avg", answer.average), ("@min", answer.min),
          ("@max", answer.max),
        ] where text != "nil" && text != "NaN" {
          let condition = "\(path).\(aggregate)\(rest) == %@ AND id == -1"
          let value = try Decimal128(string: text)
          #expect(tills.filter(condition, value).count == 1, "\(condition) \(text) \(order)")
        }
      }
    }
  }

  @Test func `the form of an aggregate follows what is left`() throws {
    try fill(["1.1", "2.0"], \.decimal, \.decimals)
    let tills = realm.objects(Till.self)
    let live = tills.aggregate(.sum(of: \.decimal), .min(of: \.decimal), .max(of: \.decimal))
    let token = live.observe { _ in }
    defer { token.invalidate() }
    while instance.scheduler.pump() {}
    for values in [("1.10", "2.0"), ("1.10", "1.1"), ("1.100", "1.1"), ("1.1", "-0"), ("0", "-0")]
      as [(Decimal128, Decimal128)]
    {
      try instance.write {
        (owner.tills[0].decimal, owner.tills[1].decimal) = (values.0, values.1)
      }
      while instance.scheduler.pump() {}
      let (sum, least, greatest) = live.value
      #expect("\(sum)" == "\(tills.sum(of: \.decimal))", "\(values)")
      #expect(least.map { "\($0)" } == tills.min(of: \.decimal).map { "\($0)" }, "\(values)")
      #expect(greatest.map { "\($0)" } == tills.max(of: \.decimal).map { "\($0)" }, "\(values)")
    }
  }

  // MARK: - Doubles and integers

  @Test(
    arguments: [
      ([0.1, 1e16, -1e16], 0.1), ([1.7e308, 1.7e308], 1.7e308), ([1.7e308, 1.7e308, -1.7e308], 0),
      ([-0.0, 0], 0), ([.nan, 2], 2), ([.infinity, 1], .infinity), ([0.1, 0.2, 0.3], 0.2),
    ] as [([Double], Double)])
  func `doubles add up the same everywhere`(_ values: [Double], _ average: Double) throws {
    for order in values.orders {
      try fill(order, \.double, \.doubles)
      let (tills, owner) = (realm.objects(Till.self), owner)
      let erased = AnyRealmCollection(tills)
      let live = tills.aggregate(
        .sum(of: \.double), .average(of: \.double), .min(of: \.double), .max(of: \.double)
      ).value
      let answers = [
        Answer(live.0, live.1, live.2, live.3),
        Answer(
          tills.sum(of: \.double), tills.average(of: \.double), tills.min(of: \.double),
          tills.max(of: \.double)),
        Answer(
          erased.sum(of: \.double), erased.average(of: \.double), erased.min(of: \.double),
          erased.max(of: \.double)),
        Answer(
          owner.doubles.sum(), owner.doubles.average() as Double?, owner.doubles.min(),
          owner.doubles.max()),
        Answer(
          owner.named.sum(of: \.double), owner.named.average(of: \.double),
          owner.named.min(of: \.double), owner.named.max(of: \.double)),
      ]
      for answer in answers { #expect(answer == answers[0], "\(order)") }
      if values.count == 3, values[1] == 1.7e308 {
        #expect(answers[0].average == "\(1.7e308 / 3)")
      } else if values.contains(1e16) {
        #expect(answers[0].average == "\(0.1 / 3)")
      } else {
        #expect(answers[0].average == "\(average)")
      }
      let text = "doubles.@avg == %@ AND tills.@avg.double == %@ AND id == -1"
      #expect(tills.filter(text, live.1 ?? 0, live.1 ?? 0).count == 1, "\(order)")
    }
  }

  @Test func `integers beyond 64 bits`() throws {
    let odd = 9_007_199_254_740_993
    for (values, sum, average) in [
      ([odd, odd, odd], 27_021_597_764_222_980, 9_007_199_254_740_992),
      ([.max, .max, 2], 0x1p64, 0x1p64 / 3), ([.min, .min, .min], -3 * 0x1p63, -0x1p63),
    ] as [([Int], Double, Double)] {
      try fill(values, \.whole, \.wholes)
      let (tills, owner) = (realm.objects(Till.self), owner)
      let answer = Answer(sum, average, values.min(), values.max())
      let live =
        tills.aggregate(
          .sum(ofProperty: "whole"), .average(of: \.whole), .min(of: \.whole), .max(of: \.whole)
        ) as LiveAggregate<(Double, Double?, Int?, Int?)>
      #expect(Answer(live.value.0, live.value.1, live.value.2, live.value.3) == answer)
      for collection in [AnyRealmCollection(tills), AnyRealmCollection(owner.tills)] {
        let sum: Double = collection.sum(ofProperty: "whole")
        let (least, greatest) = (collection.min(of: \.whole), collection.max(of: \.whole))
        #expect(Answer(sum, collection.average(of: \.whole), least, greatest) == answer)
      }
      let average: Double? = owner.wholes.average()
      #expect(average == Double(answer.average))
      let text = "wholes.@avg == %@ AND tills.@avg.whole == %@ AND id == -1"
      #expect(tills.filter(text, average ?? 0, average ?? 0).count == 1)
    }
  }

  // MARK: - Values of several types

  @Test func `numbers among AnyRealmValue`() throws {
    let values: [AnyRealmValue] = [
      .int(9_007_199_254_740_993), .double(0.5), .string("none"), .none, .bool(true),
    ]
    for order in values.orders {
      try instance.write {
        realm.deleteAll()
        let owner = realm.create(Till.self, value: ["id": -1])
        for (id, value) in order.enumerated() {
          let till = realm.create(Till.self, value: ["id": id])
          till.any = value
          owner.tills.append(till)
          owner.anys.append(value)
        }
      }
      let sum = AnyRealmValue.double(9_007_199_254_740_994)
      let tills = realm.objects(Till.self)
      #expect(tills.sum(of: \.any) == sum)
      #expect(AnyRealmCollection(tills).sum(of: \.any) == sum)
      #expect(owner.tills.sum(of: \.any) == sum)
      #expect(owner.anys.sum() == sum)
      #expect(owner.anys.average() == 4_503_599_627_370_497.0)
    }
  }
}
