import TestSupport
import Testing

@testable import TarnStore

/// Sums and averages are exact and rounded once, in whatever order the numbers come, and whatever
/// came and went before.
@Suite struct TotalsTests {
  private static func decimal(_ text: String) -> Value {
    .decimal(DecimalNumber(text: text)!.cell)
  }

  private static func totals(_ values: [Value]) -> Totals {
    var totals = Totals()
    for value in values { totals.add(value) }
    return totals
  }

  private func expectSame(_ a: Value, _ b: Value, _ comment: @autoclosure () -> String = "") {
    #expect("\(a)" == "\(b)", "\(comment())")
    #expect(a == b, "\(comment())")
  }

  // MARK: - Decimals

  /// Multiples of 0.001 whose sums have at most 38 digits in these units.
  private static let decimals: [[String]] = [
    [], ["0.00"], ["1.10", "1"], ["0.1", "1000000000000000000000000000000005", "9E+33"],
    ["1E+33", "0.5", "0.5"], ["0.3", "1E+33", "0.3", "-1E+33"],
    ["9999999999999999999999999999999999", "0.4", "0.001", "-0.5", "0.4"],
    ["1.10", "1", "0.00", "2.5E+33", "-2.5E+33", "0.005"],
    ["-1000000000000000000000000000000005", "-0.001", "0.5", "7", "-9E+33", "0.25"],
  ]

  private static func units(_ text: String) -> Int128 {
    let (coefficient, exponent) = DecimalNumber(text: text)!.parts
    var units = Int128(coefficient) * (text.hasPrefix("-") ? -1 : 1)
    for _ in 0..<(exponent + 3) { units *= 10 }
    return units
  }

  /// `units` * 0.001 / `count`, rounded once.
  private static func quotient(_ units: Int128, _ count: Int) -> DecimalNumber {
    var (digits, rest) = units.magnitude.quotientAndRemainder(dividingBy: UInt128(count))
    var text = "\(digits)."
    for _ in 0..<40 {
      (digits, rest) = (rest * 10).quotientAndRemainder(dividingBy: UInt128(count))
      text += "\(digits)"
    }
    return DecimalNumber(text: "\(units < 0 ? "-" : "")\(text)\(rest == 0 ? 0 : 1)E-3")!
  }

  @Test(arguments: decimals)
  func `decimals in all orders are rounded once`(_ texts: [String]) {
    let units = texts.reduce(Int128(0)) { $0 + Self.units($1) }
    let form = Self.totals(texts.map(Self.decimal)).sum
    for order in texts.orders {
      var totals = Self.totals([Self.decimal("7.7777")] + order.map(Self.decimal))
      totals.remove(.decimal(DecimalNumber(text: "7.7777")!))
      guard case .decimal(let sum) = totals.sum, !order.isEmpty else {
        #expect(order.isEmpty)
        continue
      }
      #expect(DecimalNumber(sum).order == Self.quotient(units, 1).order, "\(order)")
      expectSame(totals.sum, form, "\(order)")
      guard case .decimal(let average) = totals.average else {
        Issue.record("the average of \(order) is \(totals.average)")
        continue
      }
      #expect(DecimalNumber(average).order == Self.quotient(units, order.count).order, "\(order)")
    }
  }

  // MARK: - Doubles and integers

  @Test(arguments: [21, 22, 23] as [UInt64])
  func `an average is the nearest double of the exact quotient`(_ seed: UInt64) {
    var numbers = SeededRandom(seed: seed)
    for _ in 0..<500 {
      var sum = ExactSum()
      // Of similar size, or so different that more than 128 bits are needed.
      let spread = numbers.pick([0, 10, 800])
      let start = numbers.pick([-1074, -1060, 0, 100])
      let count = 2 + numbers.below(12)
      for _ in 0..<count {
        let whole = Double(numbers.below(1 << 53)) * (numbers.chance(30) ? -1 : 1)
        sum.add(
          Double(sign: .plus, exponent: start + numbers.below(spread + 1), significand: whole))
      }
      let average = sum.divided(by: count)
      /// How far the sum is from that many times a number.
      func distance(_ number: Double) -> Double {
        var rest = sum
        for _ in 0..<count { rest.remove(number) }
        return rest.value.magnitude
      }
      #expect(distance(average) <= distance(average.nextUp))
      #expect(distance(average) <= distance(average.nextDown))
    }
  }

  @Test func `averages that two roundings would miss`() {
    for (values, average) in [
      (
        [9_007_199_254_740_993, 9_007_199_254_740_993, 9_007_199_254_740_993], 9_007_199_254_740_992
      ),
      ([.max, .max, .max], 0x1p63), ([.min, .min], -0x1p63), ([1, 2], 1.5), ([-1, 0, 0], -1.0 / 3),
    ] as [([Int64], Double)] {
      #expect(Self.totals(values.map { .int($0) }).average == .double(average), "\(values)")
    }
    let least = Double.leastNonzeroMagnitude
    for (values, average) in [
      ([1.7e308, 1.7e308], 1.7e308), ([-1.7e308, -1.7e308, -1.7e308], -1.7e308),
      ([least, least, least, 0], least), ([3 * least, 0], 2 * least), ([least, 0], 0),
      ([1e308, 1e308, least, -1e308, -1e308, least], 0), ([.infinity, 1], .infinity),
      ([0.1, 0.2, 0.3], 0.2), ([-0.0], 0), ([1, 1 + 0x1p-52], 1),
    ] as [([Double], Double)] {
      let totals = Self.totals(values.map { .double($0) })
      #expect(totals.average == .double(average), "\(values)")
    }
  }

  @Test func `sums of integers`() {
    let large = Self.totals([.int(.max), .int(.max), .int(1)])
    #expect(large.sum == .double(0x1p64))
    expectSame(large.exactSum, Self.decimal("18446744073709551615"))
    #expect(Self.totals([.int(.max), .int(1), .int(-1)]).sum == .int(.max))
    #expect(Self.totals([.int(.max), .int(1), .int(-1)]).exactSum == .int(.max))
    #expect(Totals().sum == .int(0))
    #expect(Totals().average == .null)
    #expect(Totals(of: .double).sum == .double(0))
    expectSame(Totals(of: .decimal).sum, Self.decimal("0"))
  }

  // MARK: - Several kinds

  @Test func `numbers of several types have one sum in every order`() {
    for (values, sum) in [
      ([.int(9_007_199_254_740_993), .double(0.5)], .double(9_007_199_254_740_994)),
      ([.int(.max), .float(1), .double(-0x1p63)], .double(0)),
      (
        [.int(1), .double(0.1), .double(0.2), Self.decimal("1.00")],
        Self.decimal("2.30000000000000004")
      ),
      ([.int(1), .string("a"), .null, .bool(true), .double(.nan), .link(ObjectKey(7))], .int(1)),
      ([.double(.infinity), .double(-.infinity), Self.decimal("1")], Self.decimal("NaN")),
      ([.date(Timestamp(seconds: 5, nanoseconds: 0)), .int(2), .int(4)], .int(6)),
    ] as [([Value], Value)] {
      for order in values.orders { expectSame(Self.totals(order).sum, sum, "\(order)") }
    }
    let dated = Self.totals([.date(Timestamp(seconds: 5, nanoseconds: 0)), .int(2), .int(4)])
    #expect(dated.average == .double(3))
  }

  @Test func `ends do not depend on the order either`() {
    let date = Value.date(Timestamp(seconds: 5, nanoseconds: 0))
    for (values, least, greatest) in [
      ([.double(0), .double(-0.0), .double(.nan)], .double(-0.0), .double(0)),
      ([.float(0), .float(-0.0), .null], .float(-0.0), .float(0)),
      (
        ["1.1", "1.10", "1.100"].map(Self.decimal), Self.decimal("1.100"), Self.decimal("1.1")
      ),
      (
        ["-1.1", "-1.10", "NaN"].map(Self.decimal), Self.decimal("-1.1"), Self.decimal("-1.10")
      ),
      (["0", "-0", "0.0"].map(Self.decimal), Self.decimal("-0"), Self.decimal("0")),
      ([.int(1), .float(1), .double(1), Self.decimal("1")], .int(1), Self.decimal("1")),
      ([.int(3), date, .string("a"), .double(-1)], .double(-1), date),
      ([.string("a"), .null, .double(.nan)], .null, .null),
    ] as [([Value], Value, Value)] {
      for order in values.orders {
        var ends = RunningEnds()
        for value in order { ends.add(value) }
        expectSame(ends.least, least, "\(order)")
        expectSame(ends.greatest, greatest, "\(order)")
      }
    }
  }
}
