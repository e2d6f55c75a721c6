import TestSupport
import Testing

@testable import TarnStore

/// Sums from which what was added is taken out again.
@Suite struct ExactSumTests {
  @Test func `what comes and goes leaves nothing behind`() {
    var sum = ExactSum()
    for _ in 0..<100_000 {
      sum.add(1e16)
      sum.add(1)
      sum.remove(1e16)
      sum.add(0.1)
      sum.remove(0.1)
    }
    #expect(sum.value == 100_000)
    sum.add(1e308)
    sum.add(1e308)
    sum.add(.leastNonzeroMagnitude)
    #expect(sum.value == .infinity)
    sum.remove(1e308)
    sum.remove(1e308)
    #expect(sum.value == 100_000)
    for _ in 0..<100_000 { sum.remove(1) }
    #expect(sum.value == .leastNonzeroMagnitude)
    sum.remove(.leastNonzeroMagnitude)
    #expect(sum.value == 0)
  }

  /// The numbers are multiples of 2^-93 with 128 bits, which integers add up.
  @Test(arguments: [1, 2, 3, 4] as [UInt64])
  func `the nearest double of the exact sum`(_ seed: UInt64) {
    var numbers = SeededRandom(seed: seed)
    var (sum, wide) = (ExactSum(), ExactSum())
    wide.add(0x1p1000)
    var there: [Double] = []
    var units: Int128 = 0
    for _ in 0..<3000 {
      if numbers.chance(40), !there.isEmpty {
        let number = there.remove(at: numbers.below(there.count))
        sum.remove(number)
        wide.remove(number)
        units -= Self.units(number)
      } else {
        let significand = Double(numbers.below(1 << 53)) * (numbers.chance(50) ? 1 : -1)
        let number =
          significand * Double(sign: .plus, exponent: -numbers.below(60) - 30, significand: 1)
        there.append(number)
        sum.add(number)
        wide.add(number)
        units += Self.units(number)
      }
      #expect(sum.value == Double(units) * 0x1p-93)
    }
    wide.remove(0x1p1000)
    #expect(wide.value == sum.value)
    for number in there {
      sum.remove(number)
      wide.remove(number)
    }
    #expect(sum.value == 0)
    #expect(wide.value == 0)
  }

  private static func units(_ number: Double) -> Int128 { Int128(number * 0x1p93) }

  @Test func `infinities come and go`() {
    var sum = ExactSum()
    sum.add(.infinity)
    sum.add(3)
    #expect(sum.value == .infinity)
    sum.add(-.infinity)
    #expect(sum.value.isNaN)
    sum.remove(.infinity)
    #expect(sum.value == -.infinity)
    sum.remove(-.infinity)
    #expect(sum.value == 3)
  }

  @Test(arguments: [5, 6, 7] as [UInt64])
  func `decimals come and go`(_ seed: UInt64) {
    var numbers = SeededRandom(seed: seed)
    var sum = DecimalSum()
    var there: [DecimalNumber] = []
    for _ in 0..<500 {
      if numbers.chance(40), !there.isEmpty {
        sum.remove(there.remove(at: numbers.below(there.count)))
      } else {
        let number = DecimalNumber(
          isNegative: numbers.chance(50), coefficient: UInt128(numbers.below(1 << 60)),
          exponent: numbers.below(10) - 5)
        there.append(number)
        sum.add(number)
      }
      // With 34 digits all of these sums are exact.
      let expected = there.reduce(DecimalNumber.zero) { $0 + $1 }
      #expect(sum.value.order == expected.order)
    }
    sum.add(.infinity)
    #expect(sum.value.isInfinite)
    sum.remove(.infinity)
    for number in there { sum.remove(number) }
    #expect(sum.value.isZero)
  }

  /// `numerator` / `divisor` / 10^`scale`, rounded once.
  private func quotient(_ numerator: Int128, _ divisor: Int128, scale: Int) -> DecimalNumber {
    var (digits, rest) = (numerator.magnitude / divisor.magnitude, numerator.magnitude)
    rest %= divisor.magnitude
    var text = "\(digits)."
    for _ in 0..<40 {
      (digits, rest) = (rest * 10).quotientAndRemainder(dividingBy: divisor.magnitude)
      text += "\(digits)"
    }
    return DecimalNumber(text: "\(numerator < 0 ? "-" : "")\(text)\(rest == 0 ? 0 : 1)E-\(scale)")!
  }

  @Test(arguments: [11, 12, 13] as [UInt64])
  func `sums and averages of decimals beyond 34 digits are rounded once`(_ seed: UInt64) {
    var numbers = SeededRandom(seed: seed)
    for _ in 0..<300 {
      var (sum, whole) = (DecimalSum(), Int128(0))
      let count = 1 + numbers.below(9)
      for _ in 0..<count {
        let digits = numbers.pick([1, 17, 33, 34])
        let random = UInt128(numbers.next()) << 49 | UInt128(numbers.below(1 << 49))
        let coefficient = random % DecimalNumber.power(digits)
        // Every thousandth, and up to a thousand times as much.
        let exponent = numbers.below(4) - 3
        let isNegative = numbers.chance(40)
        let scaled = Int128(coefficient * DecimalNumber.power(exponent + 3))
        whole += isNegative ? -scaled : scaled
        sum.add(
          DecimalNumber(isNegative: isNegative, coefficient: coefficient, exponent: exponent))
      }
      #expect(sum.value.order == DecimalNumber(text: "\(whole)E-3")?.order)
      #expect(sum.average(of: count).order == quotient(whole, Int128(count), scale: 3).order)
    }
  }

  @Test func `decimals of all sizes are added exactly`() {
    func sum(_ texts: [String]) -> DecimalSum {
      var sum = DecimalSum()
      for text in texts { sum.add(DecimalNumber(text: text)!) }
      return sum
    }
    let nines = String(repeating: "9", count: 34)
    for (texts, value) in [
      ([], "0"), (["0.00"], "0.00"), (["1.10", "1"], "2.10"), (["1E+3"], "1000"),
      (["1.50", "-1.50"], "0.00"), (["1E+6000", "1E-6000", "-1E+6000"], "1E-6000"),
      ([nines + "E+6111", nines + "E+6111"], "Infinity"),
      (
        [nines + "E+6111", nines + "E+6111", "-" + nines + "E+6111"],
        "9." + nines.dropFirst() + "E+6144"
      ),
      // A tie goes to the even digit, but not with a little more behind it.
      (["1E+33", "0.5"], "1000000000000000000000000000000000"),
      (["1E+33", "0.5", "1E-6176"], "1000000000000000000000000000000001"),
      (["1E+33", "0.25", "0.25", "1E-200", "-1E-200"], "1000000000000000000000000000000000"),
    ] {
      for order in [texts, texts.reversed()] { #expect(sum(order).value.text == value) }
    }
    #expect(sum(["4.00"]).average(of: 2).text == "2.00")
    #expect(sum(["1", "2"]).average(of: 2).text == "1.5")
    #expect(sum(["1"]).average(of: 3).text == "0." + String(repeating: "3", count: 34))
    #expect(sum(["1E-6176"]).average(of: 2).isZero)
    #expect(sum(["1E-6176", "2E-6176"]).average(of: 2).text == "2E-6176")
    #expect(sum(["-Infinity", "1"]).average(of: 2).text == "-Infinity")
  }

  @Test(arguments: [8, 9, 10] as [UInt64])
  func `the ends of what is left`(_ seed: UInt64) {
    var numbers = SeededRandom(seed: seed)
    var there = (0..<200).map { _ in UInt64(numbers.below(50)) }
    var values = CountedValues(ContiguousArray(there))
    for _ in 0..<2000 {
      #expect(values.end(true) == there.min())
      #expect(values.end(false) == there.max())
      if numbers.chance(there.count > 20 ? 55 : 40), !there.isEmpty {
        values.take(there.remove(at: numbers.below(there.count)), .removed)
      } else {
        let value = UInt64(numbers.below(60))
        there.append(value)
        values.take(value, .added)
      }
    }
    while let value = there.popLast() { values.take(value, .removed) }
    #expect(values.end(true) == nil)
    #expect(values.end(false) == nil)
  }

  @Test func `orders lead back to values`() {
    for number in [-Double.infinity, -1e300, -1.5, 0, .leastNonzeroMagnitude, 2, 1e300, .infinity] {
      #expect(EndOrder.value(EndOrder.narrow(number), .double) == .double(number))
    }
    #expect(EndOrder.narrow(-1.5) < EndOrder.narrow(-0.0))
    #expect(EndOrder.narrow(-0.0) < EndOrder.narrow(0.0))
    for number in [Int64.min, -1, 0, 7, .max] {
      #expect(EndOrder.value(EndOrder.narrow(number), .int) == .int(number))
    }
    #expect(DecimalNumber.infinity.order.number.isInfinite)
    #expect(
      DecimalNumber.infinity.negated.order.number.order == DecimalNumber.infinity.negated.order)
  }
}
