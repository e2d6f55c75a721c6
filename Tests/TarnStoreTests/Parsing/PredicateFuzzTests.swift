import TestSupport
import Testing

@testable import TarnStore

/// Texts that nobody would write: each is parsed or refused, and what is parsed means the same when
/// it is printed and parsed again.
@Suite struct PredicateFuzzTests {
  #if DEBUG
    private static let textsPerSeed = Seeds.rounds(4_000, few: 1_000)
  #else
    /// A million texts in all.
    private static let textsPerSeed = 125_000
  #endif

  @Test(arguments: Array(1...8) as [UInt64])
  func `any text is parsed or refused`(_ seed: UInt64) {
    var random = SeededRandom(seed: seed)
    var parsed = 0
    for _ in 0..<Self.textsPerSeed {
      let text = random.chance(60) ? random.sentence() : random.damaged(random.sentence())
      guard let first = try? PredicateParser.parse(text) else { continue }
      parsed += 1
      let second = try? PredicateParser.parse(first.description)
      if second != first {
        Issue.record("\(text.debugDescription) is printed as \(first.description.debugDescription)")
      }
    }
    // Both branches are taken often.
    #expect(parsed > Self.textsPerSeed / 10, "\(parsed)")
    #expect(parsed < Self.textsPerSeed * 9 / 10, "\(parsed)")
  }

  /// What could nest or be gone over again and again, at a size at which that would be noticed:
  /// each of these takes milliseconds if the time is linear, and minutes if it is quadratic.
  @Test(
    .timeLimit(.minutes(30)),
    arguments: [
      ("(", ""), ("a[", ""), ("a.", ""), ("!", ""), ("{", ""), ("a == 1 OR ", "a == 1"),
      ("a == 1 && ", "("), ("SUBQUERY(a, $x, ", ""), ("a['k']", " == 1"), ("a[#any].", "b == 1"),
      ("NOT ", "a"), ("'", ""), ("\\", "'"), ("1", " == a"), ("-", "1"),
      ("a IN {1, 2} OR ", "TRUEPREDICATE"),
      ("@max.", "1"), ("%@ ", ""), ("é", " == 1"), (" ", "a == 1"),
    ])
  func `a long text takes linear time`(_ part: String, _ end: String) {
    let text = String(repeating: part, count: Seeds.rounds(200_000, few: 50_000)) + end
    let predicate = try? PredicateParser.parse(text)
    #expect(
      (predicate == nil) == !["a == 1 OR ", "a IN {1, 2} OR ", " ", "a[#any].", "é"]
        .contains(part))
  }
}

extension SeededRandom {
  /// Like a predicate, with mistakes here and there.
  fileprivate mutating func sentence(depth: Int = 3) -> String {
    if depth > 0, chance(40) {
      return switch below(6) {
      case 0: "(" + sentence(depth: depth - 1) + ")"
      case 1: pick(["NOT ", "!", "not "]) + "(" + sentence(depth: depth - 1) + ")"
      case 2: "SUBQUERY(" + path() + ", $x, $x." + comparison() + ").@count " + op() + " 2"
      default:
        sentence(depth: depth - 1) + pick([" AND ", " && ", " or ", "||"])
          + sentence(depth: depth - 1)
      }
    }
    return pick(["", "", "", "", "ANY ", "NONE ", "some ", "ALL "]) + comparison()
  }

  private mutating func comparison() -> String {
    switch below(8) {
    case 0: path() + " BETWEEN {" + literal() + ", " + literal() + "}"
    case 1: path() + " IN {" + literal() + ", " + literal() + "}"
    case 2: literal() + " IN " + path()
    case 3: literal() + op() + path()
    case 4: path() + op() + path()
    default: path() + op() + literal()
    }
  }

  private mutating func op() -> String {
    pick([
      " == ", "=", " != ", "<>", " < ", "<=", "=>", " > ", " CONTAINS ", " beginswith[c] ",
      " ENDSWITH[cd]", " LIKE ", " ==[d]", " MATCHES ",
    ])
  }

  private mutating func path() -> String {
    let names = [
      "age", "_id", "#in", "SELF", "ärger", "dogs", "@links.Dog.owner", "$x.age", "any",
      "`a.b ``c`",
      "@links.`A.b`.`c d`",
    ]
    var text = pick(names)
    for _ in 0..<below(3) {
      text += pick([
        ".name", "['k']", "[0]", "[#any]", "[LAST]", ".@count", ".@sum.x", ".@avg", ".@allKeys",
        ".",
      ])
    }
    return text
  }

  private mutating func literal() -> String {
    pick([
      "1", "-2.5", "0x1F", "1e300", "1e999", "9223372036854775808",
      "0.1000000000000000055511151231",
      "TRUE", "nil", "'a'", "\"b\\n\"", "'\\u00e9'", "X'0aff'", "%@", "''",
      "12345678901234567890.5",
      "-0.0", "1e-400", "{1}", "'2024-05-01'",
    ])
  }

  /// Some bytes of the text taken out, put in or doubled.
  fileprivate mutating func damaged(_ text: String) -> String {
    var bytes = Array(text.utf8)
    for _ in 0...below(4) where !bytes.isEmpty {
      let position = below(bytes.count)
      switch below(3) {
      case 0: bytes.remove(at: position)
      case 1: bytes.insert(pick(Array("`\"'()[]{}.,=<>!&|\\x-0eX#%@$\u{7f}é".utf8)), at: position)
      default: bytes.insert(contentsOf: bytes[position...].prefix(below(20)), at: position)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
