import Foundation
import TestSupport
import Testing

@testable import TarnStore

/// Arithmetic, text and order against the answers of Python's decimal module, which
/// `decimal_cases.py` wrote down.
@Suite struct DecimalNumberTests {
  private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
  private static let script = folder.appendingPathComponent("decimal_cases.py").path
  private static let python = ["/usr/bin/python3", "/usr/local/bin/python3"].first {
    FileManager.default.isExecutableFile(atPath: $0)
  }

  @Test func theAnswersAreThoseOfPython() throws {
    let file = Self.folder.appendingPathComponent("decimal_cases.txt")
    let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
    #expect(lines.count == 2_500)
    for line in lines { check(line) }
  }

  @Test(.enabled(if: python != nil, "needs python3 to draw new cases"))
  func soAreThoseToNewQuestions() throws {
    let seed = UInt32.random(in: 0 ... .max)
    let process = Process()
    let output = Pipe.ofOneProcess()
    process.executableURL = URL(fileURLWithPath: try #require(Self.python))
    process.arguments = [Self.script, seed.description, "5000"]
    process.standardOutput = output
    try process.run()
    let data = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    let lines = String(decoding: data, as: UTF8.self).split(separator: "\n")
    #expect(lines.count == 5_000, "decimal_cases.py \(seed)")
    for line in lines { check(line, "seed \(seed)") }
  }

  private func check(_ line: Substring, _ origin: Comment = "the file") {
    let words = line.split(separator: " ")
    guard let a = DecimalNumber.parse(words[1]) else {
      Issue.record("not read: \(line), \(origin)")
      return
    }
    let found: String
    switch words[0] {
    case "parse": found = "\(a.value.text) \(a.isExact ? "exact" : "rounded")"
    case "text": found = a.value.text
    case "double":
      let expected = Double(words[2]) ?? .nan
      let double = a.value.nearestDouble
      found = double == expected || double.isNaN && expected.isNaN ? String(words[2]) : "\(double)"
    default: found = binary(words[0], a.value, DecimalNumber(text: words[2]) ?? .nan)
    }
    let skipped = ["parse": 2, "text": 1, "double": 2][words[0]] ?? 3
    #expect(found == words.dropFirst(skipped).joined(separator: " "), "\(line), \(origin)")
  }

  private func binary(_ name: Substring, _ a: DecimalNumber, _ b: DecimalNumber) -> String {
    switch name {
    case "+": (a + b).text
    case "-": (a - b).text
    case "*": (a * b).text
    case "/": (a / b).text
    default: a.order < b.order ? "-1" : a.order == b.order ? "0" : "1"
    }
  }

  // MARK: - What the script does not draw

  @Test(arguments: [
    "", " ", "+", "-", ".", "e5", ".e5", "1e", "1e+", "1 ", " 1", "1..2", "1.2.3", "--1", "1_000",
    "0x10", "infinit", "nan1", "1e5.0", "٣", "1,5", "1\u{0}",
  ])
  func whatIsNoNumberIsNotRead(_ text: String) {
    #expect(DecimalNumber.parse(text) == nil)
  }

  @Test(arguments: [
    ("1.", "1"), (".5", "0.5"), ("+1.10", "1.10"), ("1e2", "1E+2"), ("iNf", "Infinity"),
    ("-inf", "-Infinity"), ("nAn", "NaN"), ("-nan", "NaN"), ("-0.0", "-0.0"), ("00.100", "0.100"),
  ])
  func spellingsOfTheSame(_ text: String, _ expected: String) {
    #expect(DecimalNumber.parse(text)?.value.text == expected)
  }

  /// Bits that no arithmetic makes, but a file may hold.
  @Test func everyPatternMeansSomething() {
    let tooGreat = DecimalNumber(high: 0x3041_ffff_ffff_ffff, low: .max)
    #expect(tooGreat.text == "0")
    #expect(tooGreat.order == DecimalNumber.zero.order)
    let alsoTooGreat = DecimalNumber(high: 0xec10 << 48, low: 5)
    #expect(alsoTooGreat.text == "-0")
    #expect(alsoTooGreat.isZero)
    var random = SeededRandom(seed: 5)
    for _ in 0..<20_000 {
      let mask: UInt64 = random.pick([0, 0x7800 << 48, 0x6000 << 48, 0x7c00 << 48])
      let number = DecimalNumber(high: random.next() | mask, low: random.next())
      let again = DecimalNumber(text: number.text)
      #expect(again?.order == number.order, "\(number)")
      #expect(again?.text == number.text, "\(number)")
      #expect((number + .zero).order == number.order, "\(number)")
      #expect(DecimalNumber(number.cell).text == number.text, "\(number)")
    }
  }

  @Test func aCellOfZerosIsZero() {
    #expect(DecimalNumber(Bytes16(high: 0, low: 0)).text == "0")
    #expect(DecimalNumber.zero.cell == Bytes16(high: 0, low: 0))
    #expect(DecimalNumber(text: "1")?.cell == Bytes16(high: 0, low: 1))
  }

  @Test func theDoubleBelowIsBelow() throws {
    let cases: [(String, Double, Bool)] = [
      ("0.1", 0.1.nextDown, false), ("-0.1", -0.1, false), ("0.5", 0.5, true), ("-0", -0.0, true),
      ("0.1000000000000000055511151231257828", 0.1, false),
      ("1E+400", .greatestFiniteMagnitude, false),
      ("-1E+400", -.infinity, false), ("Infinity", .infinity, true),
      ("-Infinity", -.infinity, true),
      ("1E-400", 0, false), ("-1E-400", -.leastNonzeroMagnitude, false),
      ("9007199254740993", 0x1p53, false), ("9007199254740992", 0x1p53, true),
    ]
    for (text, below, isExact) in cases {
      let found = try #require(DecimalNumber(text: text)).doubleBelow
      #expect(found.value == below, "\(text)")
      #expect(found.isExact == isExact, "\(text)")
    }
  }

  @Test func orderHasEndsAndMirrorsTheSign() {
    #expect(DecimalOrder.nan < DecimalOrder.leastNumber)
    #expect(DecimalNumber.nan.negated.order == .nan)
    #expect(DecimalOrder.leastNumber < DecimalNumber.greatest.negated.order)
    #expect(DecimalNumber.greatest.order < DecimalOrder.greatestNumber)
    let least = DecimalNumber(isNegative: false, coefficient: 1, exponent: -6176)
    #expect(DecimalNumber.zero.order < least.order)
    #expect(least.negated.order < least.order)
    #expect(least.negated.order < DecimalNumber.zero.negated.order)
  }

  @Test func aBinaryNumberBecomesWhatItPrintsAs() {
    #expect(DecimalNumber(shortest: 0.1).text == "0.1")
    #expect(DecimalNumber(shortest: Float(0.1)).text == "0.1")
    #expect(DecimalNumber(shortest: -0.0).text == "-0.0")
    #expect(DecimalNumber(shortest: Double.infinity).isInfinite)
    #expect(DecimalNumber(shortest: Double.nan).isNaN)
    var random = SeededRandom(seed: 8)
    for _ in 0..<10_000 {
      let value = Double(bitPattern: random.next())
      guard value.isFinite else { continue }
      #expect(DecimalNumber(shortest: value).nearestDouble == value)
    }
  }

  @Test func coefficientsAreRoundedToEven() {
    let cases: [(UInt128, Int, UInt128)] = [
      (15, 1, 2), (25, 1, 2), (26, 1, 3), (24, 1, 2), (7, 0, 7), (51, 2, 1), (50, 2, 0), (9, 40, 0),
    ]
    for (coefficient, digits, expected) in cases {
      #expect(DecimalNumber.rounding(coefficient, digits: digits) == expected)
    }
  }
}
