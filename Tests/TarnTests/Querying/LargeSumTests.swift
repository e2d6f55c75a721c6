import Foundation
import TestSupport
import Testing

@testable import Tarn

class Ledger: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var entries: List<Int>
  @Persisted var amounts: Map<String, Int>
  @Persisted var lines: List<LedgerLine>
  @Persisted var bound = 0
  @Persisted var size = 0.0
  @Persisted var exact: Decimal128
  @Persisted var held: AnyRealmValue
}

class LedgerLine: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var amount = 0
}

/// Conditions on sums of integers that no integer can be: compared exactly, with constants and with
/// properties of all numeric types.
struct LargeSumTests {
  private struct View {
    let text: String
    /// Nil for what only texts can say.
    let typed: ((Query<Ledger>) -> Query<Bool>)?
    let expected: (Ledger) -> Bool

    init(
      _ text: String, _ typed: ((Query<Ledger>) -> Query<Bool>)?,
      _ expected: @escaping (Ledger) -> Bool
    ) {
      self.text = text
      self.typed = typed
      self.expected = expected
    }
  }

  private static var views: [View] {
    [
      View(
        "entries.@sum > 9223372036854775807", { $0.entries.sum > .max }, { $0.total > .intMax }),
      View("entries.@sum == 9223372036854775808", nil, { $0.total == .intMax + 1 }),
      View(
        "entries.@sum <= -9223372036854775808", { $0.entries.sum <= .min },
        { $0.total <= .intMin }),
      View(
        "entries.@sum < -9223372036854775808", { $0.entries.sum < .min }, { $0.total < .intMin }),
      View(
        "entries.@sum != 9223372036854775807", { $0.entries.sum != .max }, { $0.total != .intMax }),
      View(
        "entries.@sum BETWEEN {9223372036854775806, 9223372036854775808}", nil,
        { (.intMax - 1 ... .intMax + 1).contains($0.total) }),
      View("entries.@sum > 18446744073709551613", nil, { $0.total > 2 * .intMax - 1 }),
      View("entries.@sum >= 18446744073709551614", nil, { $0.total >= 2 * .intMax }),
      View("NOT entries.@sum < 9.3e18", nil, { $0.total >= 9_300_000_000_000_000_000 }),
      View("entries.@sum > 0.5", nil, { $0.total > 0 }),
      View("entries.@sum == NULL", nil, { _ in false }),
      View(
        "lines.@sum.amount > 9223372036854775807", { $0.lines.amount.sum > .max },
        { $0.totalOfLines > .intMax }),
      View("entries.@sum > bound", { $0.entries.sum > $0.bound }, { $0.total > Int128($0.bound) }),
      View(
        "bound == entries.@sum", { $0.bound == $0.entries.sum }, { $0.total == Int128($0.bound) }),
      View("entries.@sum < size", nil, { $0.total < Int128($0.size) }),
      View("size == entries.@sum", nil, { $0.total == Int128($0.size) }),
      View("entries.@sum == exact", nil, { $0.total == $0.exactNumber }),
      View("exact < lines.@sum.amount", nil, { $0.totalOfLines > $0.exactNumber }),
      View(
        "amounts.@sum == held", { $0.amounts.sum == $0.held }, { $0.totalOfAmounts == $0.anyNumber }
      ),
      View(
        "amounts.@sum != held", { $0.amounts.sum != $0.held }, { $0.totalOfAmounts != $0.anyNumber }
      ),
    ]
  }

  private func open() throws -> Instance {
    let shelter = try Shelter()
    var configuration = shelter.configuration
    configuration.fileURL = URL(fileURLWithPath: shelter.folder + "/ledgers.realm")
    configuration.objectTypes = [Ledger.self, LedgerLine.self]
    return try Instance(configuration, shelter)
  }

  private func check(_ kept: [Results<Ledger>], _ instance: Instance, _ moment: String) {
    let all = instance.realm.objects(Ledger.self)
    for (view, kept) in zip(Self.views, kept) {
      let expected: [Int] = all.filter(view.expected).map(\.id)
      #expect(kept.map(\.id) == expected, "\(view.text), \(moment)")
      #expect(all.filter(view.text).map(\.id) == expected, "\(view.text), \(moment)")
      if let typed = view.typed {
        #expect(all.where(typed).map(\.id) == expected, "\(view.text), \(moment)")
        let printed = "\(typed(.root).predicate)"
        #expect(all.filter(printed).map(\.id) == expected, "\(printed), \(moment)")
      }
    }
  }

  @Test(arguments: Seeds.of(Array(1...4) as [UInt64]))
  func randomSums(seed: UInt64) throws {
    let instance = try open()
    var numbers = SeededRandom(seed: seed)
    let all = instance.realm.objects(Ledger.self)
    try instance.write {
      for id in 0..<6 {
        instance.realm.create(Ledger.self, value: ["id": id])
        instance.realm.create(LedgerLine.self, value: ["id": id, "amount": numbers.large()])
      }
    }
    let kept = Self.views.map { all.filter($0.text) }
    let recorders = kept.map { SequenceRecorder($0) { "\($0.id)" } }
    var met: Set<String> = []
    instance.pump()
    for commit in 0..<150 {
      try instance.write {
        for _ in 0..<4 { change(instance, &numbers) }
        if numbers.chance(20) { check(kept, instance, "in write \(commit)") }
      }
      instance.pump()
      check(kept, instance, "after write \(commit)")
      for (view, kept) in zip(Self.views, kept) where !kept.isEmpty { met.insert(view.text) }
    }
    for (kept, recorder) in zip(kept, recorders) {
      #expect(recorder.problems == [])
      #expect(recorder.mirror == kept.map { "\($0.id)" })
    }
    #expect(met.count >= Self.views.count - 2, "\(met)")
  }

  private func change(_ instance: Instance, _ numbers: inout SeededRandom) {
    let ledger = instance.realm.object(ofType: Ledger.self, forPrimaryKey: numbers.below(6))!
    let line = instance.realm.object(ofType: LedgerLine.self, forPrimaryKey: numbers.below(6))!
    switch numbers.below(9) {
    case 0, 1: ledger.entries.append(numbers.large())
    case 2: if ledger.entries.count > 2 { ledger.entries.remove(at: 0) }
    case 3: ledger.amounts[numbers.pick(["a", "b", "c"])] = numbers.large()
    case 4:
      if ledger.lines.count > 2 { ledger.lines.removeAll() }
      ledger.lines.append(line)
    case 5: line.amount = numbers.large()
    case 6:
      (ledger.bound, ledger.size) = (numbers.large(), numbers.pick([0x1p63, -0x1p63, 0x1p64]))
    case 7: ledger.exact = try! Decimal128(string: numbers.pick(Self.decimals))
    default:
      let exact = try! Decimal128(string: numbers.pick(Self.decimals))
      ledger.held = numbers.chance(50) ? .int(numbers.large()) : .decimal128(exact)
    }
  }

  private static let decimals = [
    "9223372036854775808", "18446744073709551614", "-9223372036854775809", "0",
    "9223372036854775806",
  ]
}

extension SeededRandom {
  /// At the ends of what an integer can be, and near 0.
  fileprivate mutating func large() -> Int { pick([.max, .min, .max - 1, .min + 1, 0, 1, -1]) }
}

extension Int128 {
  fileprivate static let intMax = Int128(Int.max)
  fileprivate static let intMin = Int128(Int.min)
}

extension Ledger {
  fileprivate var total: Int128 { entries.reduce(0) { $0 + Int128($1) } }
  fileprivate var totalOfAmounts: Int128 { amounts.values.reduce(0) { $0 + Int128($1) } }
  fileprivate var totalOfLines: Int128 { lines.reduce(0) { $0 + Int128($1.amount) } }
  fileprivate var exactNumber: Int128 { Int128(exact.description)! }
  /// Nil unless it is a number.
  fileprivate var anyNumber: Int128? {
    switch held {
    case .int(let value): Int128(value)
    case .decimal128(let value): Int128(value.description)
    default: nil
    }
  }
}
