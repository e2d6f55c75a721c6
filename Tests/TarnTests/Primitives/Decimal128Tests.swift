import Foundation
import Testing

@testable import Tarn

@Suite struct Decimal128Tests {
  @Test func literalsAreTheNumbersThatAreWritten() {
    let text: Decimal128 = "1.10"
    let float: Decimal128 = 1.10
    let integer: Decimal128 = -42
    #expect(text.stringValue == "1.10")
    #expect("\(float)" == "1.1")
    #expect(integer.description == "-42")
    let none: Decimal128 = "ten"
    #expect(none.isNaN)
    #expect(Decimal128().stringValue == "0")
    #expect(Decimal128("1.5") == 1.5)
    #expect(Decimal128(String("x1")) == nil)
  }

  /// To even on ties, whatever the number is made from.
  @Test func moreThan34DigitsAreRounded() throws {
    let digits = String(repeating: "1", count: 33)
    let cases = [("25", "2"), ("35", "4"), ("26", "3"), ("24", "2"), ("2500000001", "3")]
    for (written, kept) in cases {
      let expected = digits + kept
      let literal = Decimal128(stringLiteral: digits + written)
      let read = try #require(Decimal128(digits + written))
      let thrown = try Decimal128(string: digits + written)
      let zeros = String(repeating: "0", count: written.count - 1)
      for number in [literal, read, thrown] {
        #expect(number == Decimal128(expected + zeros), "\(written)")
      }
      #expect(Decimal128("0." + digits + written)?.stringValue == "0." + expected)
    }
    let whole = try #require(Int128(digits + "25"))
    #expect(Decimal128(whole) == Decimal128(digits + "20"))
    #expect(Decimal128(exactly: whole) == nil)
    let foundation = try #require(Decimal(string: digits + "35"))
    #expect(Decimal128(foundation) == Decimal128(digits + "40"))
    let coded = try JSONDecoder().decode([Decimal128].self, from: Data("[\"\(digits)25\"]".utf8))
    #expect(coded == [Decimal128(whole)])
    // A literal with a point has the digits of the double.
    #expect((0.10000000000000000001 as Decimal128).stringValue == "0.1")
  }

  @Test func aTextThatIsNoNumberIsRefused() throws {
    #expect(try Decimal128(string: "-1.50E+3").stringValue == "-1.50E+3")
    let error = #expect(throws: DecimalFormatError.self) { try Decimal128(string: "12 EUR") }
    #expect("\(error as Any)".contains("\"12 EUR\" is not a Decimal128"))
  }

  @Test func decimalsAddUp() {
    let tenth: Decimal128 = 0.1
    #expect(tenth + 0.2 == 0.3)
    #expect(("19.90" as Decimal128 * 3).stringValue == "59.70")
    #expect((1 as Decimal128 / 3).stringValue == "0.3333333333333333333333333333333333")
    var value: Decimal128 = "1.10"
    value += 1
    value *= 2
    value -= "0.2"
    value /= 4
    #expect(value.stringValue == "1.00")
    value.negate()
    #expect(value == -1)
    #expect(value.magnitude == 1)
    #expect(-value == 1)
    #expect((3 as Decimal128).distance(to: 5) == 2)
    #expect((3 as Decimal128).advanced(by: -1) == 2)
    #expect([1, 2.5, "3.50"].reduce(Decimal128.zero, +).stringValue == "7.00")
    #expect(Array(stride(from: 0 as Decimal128, to: 1, by: 0.25)).count == 4)
  }

  @Test func nothingTraps() {
    #expect((1 as Decimal128 / 0).isInfinite)
    #expect((0 as Decimal128 / 0).isNaN)
    #expect((Decimal128.max * 10).isInfinite)
    #expect((Decimal128.min * 10).stringValue == "-Infinity")
    #expect(Decimal128.max.stringValue == "9.999999999999999999999999999999999E+6144")
    #expect(Decimal128.min == -Decimal128.max)
    #expect(!Decimal128.max.isInfinite)
    #expect(("1E-6176" as Decimal128 / 10).stringValue == "0E-6176")
  }

  @Test func equalNumbersAreEqualWhateverTheirZeros() {
    let a: Decimal128 = "1.0"
    let b: Decimal128 = "1.00"
    #expect(a == b)
    #expect(a.hashValue == b.hashValue)
    #expect(a.stringValue != b.stringValue)
    #expect(Set([a, b, 1, "10E-1"]).count == 1)
    let zero: Decimal128 = 0
    #expect(zero == -zero)
    #expect(zero.hashValue == (-zero).hashValue)
    #expect((-zero).stringValue == "-0")
    let nan: Decimal128 = "NaN"
    #expect(nan != nan)
    #expect(!(nan < 1))
    #expect(!(nan > 1))
    #expect(!(nan <= nan))
    #expect(!(nan >= 1))
    let sorted: [Decimal128] = [
      "-Infinity", "-2", "-1.5", "0", "1E-6176", "0.3", "1E+3", "Infinity",
    ]
    #expect(sorted.shuffled().sorted() == sorted)
  }

  @Test func otherNumbersConvert() {
    #expect(Decimal128(UInt64.max).stringValue == "18446744073709551615")
    #expect(Decimal128(Int128.max).stringValue == "1.701411834604692317316873037158841E+38")
    #expect(Decimal128(exactly: Int128.max) == nil)
    #expect(Decimal128(exactly: -5) == -5)
    #expect(Decimal128(0.1).stringValue == "0.1")
    #expect(Decimal128(Float(0.1)).stringValue == "0.1")
    #expect(Decimal128(Decimal(string: "12.340")!).stringValue == "12.34")
    #expect(Decimal128(number: 2.5) == 2.5)
    #expect(Decimal128(number: true) == 1)
    #expect(Decimal128(number: NSNumber(value: UInt64.max)) == Decimal128(UInt64.max))
    #expect(Decimal128(number: NSNumber(value: Float(0.1))).stringValue == "0.1")
    #expect(Decimal128(number: NSDecimalNumber(string: "-7.25")) == -7.25)
  }

  @Test func anythingConverts() {
    let values: [Any] = [
      "1.50", 7, Int8(-3), UInt64.max, 0.1, Float(0.1), true, Decimal(string: "2.5")!,
      Decimal128("1.0"), NSNumber(value: 4), Int128.max, "none", Date(), NSNull(),
    ]
    #expect(
      values.map { Decimal128(value: $0).stringValue } == [
        "1.50", "7", "-3", "18446744073709551615", "0.1", "0.1", "1", "2.5", "1.0", "4",
        "1.701411834604692317316873037158841E+38", "NaN", "NaN", "NaN",
      ])
  }

  @Test(arguments: [
    ("12.340", "12.34"), ("-0", "0"), ("NaN", "NaN"), ("Infinity", "NaN"),
    ("1E+164", "10000000000000000000000000000000000000E+127"),
    ("1234567890123456789012345678901234E+131", "12345678901234567890123456789012340000E+127"),
    ("1E+165", "NaN"), ("0E+6000", "0"),
    ("1E-128", nil), ("25E-129", "2E-128"), ("35E-129", "4E-128"), ("1E-6000", "0"),
    ("9999999999999999999999999999999999E-34", nil),
  ])
  func foundationHasASmallerRange(_ text: String, _ expected: String?) throws {
    let expected =
      expected == "NaN" ? Decimal.nan : try #require(Decimal(string: expected ?? text))
    let value = try Decimal128(string: text).decimalValue
    #expect(value == expected || value.isNaN && expected.isNaN)
    #expect(expected.isNaN || Decimal128(value) == Decimal128(expected))
  }

  @Test func jsonHasItAsAString() throws {
    let values: [Decimal128] = [
      "1.10", "-0", "1E+6144", "Infinity", "1234567890.123456789012345678",
    ]
    let json = try JSONEncoder().encode(values)
    #expect(String(decoding: json, as: UTF8.self).hasPrefix(#"["1.10","-0","#))
    let again = try JSONDecoder().decode([Decimal128].self, from: json)
    #expect(again.map(\.stringValue) == values.map(\.stringValue))
    #expect(try JSONDecoder().decode([Decimal128].self, from: Data(#"["NaN"]"#.utf8))[0].isNaN)
  }

  @Test func jsonNumbersAreRead() throws {
    let json = #"[1, -2.5, 0.1234567890123456789012345678, 18446744073709551615, 1e300]"#
    let values = try JSONDecoder().decode([Decimal128].self, from: Data(json.utf8))
    #expect(
      values.map(\.stringValue) == [
        "1", "-2.5", "0.1234567890123456789012345678", "18446744073709551615", "1E+300",
      ])
    for wrong in [#"["1,5"]"#, "[true]", "[null]", "[{}]"] {
      #expect(throws: DecodingError.self) {
        try JSONDecoder().decode([Decimal128].self, from: Data(wrong.utf8))
      }
    }
  }
}
