import TestSupport

/// Random values that SQL can put into the columns of `OddReplica`'s class, whether its properties
/// can hold them or not.
struct OddValues {
  var random: SeededRandom

  init(seed: UInt64) { random = SeededRandom(seed: seed) }

  private static let numbers = [
    "0", "-0.0", "1", "300", "2.50", "1e400", "-1e7000", "1e6144", "1e6145", "1e-7000",
    "0.1234567890123456789012345678901234567890123456789", "9223372036854775807",
    "9223372036854775808", "5.00000000000000000000", "123456789012345678901234567890.5",
  ]
  private static let texts = [
    "", "a", "\u{e9}", "e\u{301}", "\u{212a}", "K", "$type", "$base64:eAB5", "$base64:?", "NaN",
    "-Infinity", "000000000000000000000001", "0102", "2026-11-29T00:00:00Z", "1.5", "\u{2400}",
    "00000000-0000-0000-0000-000000000001", "\u{600}'\u{200d}", "AGEA",
  ]
  private static let types = [
    "text", "double", "decimal", "date", "objectId", "uuid", "data", "link", "map", "any", "x",
  ]

  mutating func pick(_ list: [String]) -> String { list[random.below(list.count)] }

  private mutating func quoted() -> String {
    "\"" + pick(Self.texts).replacing("\"", with: "\\\"") + "\""
  }

  /// JSON of any shape.
  mutating func json(_ depth: Int = 0) -> String {
    switch random.below(depth > 3 ? 5 : 11) {
    case 0: return "null"
    case 1: return "true"
    case 2, 3: return pick(Self.numbers)
    case 4: return quoted()
    case 5: return array(depth)
    case 6, 7: return object(depth)
    case 8:
      let type = pick(Self.types)
      return "{\"$type\": \"\(type)\", \"class\": \"Odd\", \"value\": \(json(depth + 1))}"
    case 9:
      let count = [99, 100, 101, 300, 600][random.below(5)]
      return String(repeating: "[", count: count) + String(repeating: "]", count: count)
    default: return patch(depth)
    }
  }

  private mutating func array(_ depth: Int) -> String {
    let items = (0..<random.below(4)).map { _ in json(depth + 1) }
    return "[\(items.joined(separator: ", "))]"
  }

  private mutating func object(_ depth: Int) -> String {
    let members = (0..<random.below(4)).map { _ in "\(quoted()): \(json(depth + 1))" }
    return "{\(members.joined(separator: ", "))}"
  }

  /// An embedded object, or nearly one.
  private mutating func patch(_ depth: Int) -> String {
    let names = ["city", "price", "badge", "any", "names", "counts", "other"]
    let members = names.map { "\"\($0)\": \(json(depth + 1))" }
    return "{\(members.joined(separator: ", "))}"
  }

  private mutating func bytes() -> String {
    let count = [0, 2, 12, 12, 24][random.below(5)]
    let digits = (0..<count).map { _ in random.chance(50) ? "00" : "0\(random.below(10))" }
    return "'\\x\(digits.joined())'"
  }

  private mutating func text() -> String {
    "'" + pick(Self.texts).replacing("'", with: "''") + "'"
  }

  /// A value of SQL for a column of a type.
  mutating func value(_ type: String) -> String {
    if random.chance(8) { return "NULL" }
    switch type {
    case "bigint": return pick(["0", "300", "-9223372036854775808", "9223372036854775807"])
    case "boolean": return pick(["true", "false"])
    case "bytea": return bytes()
    case "timestamp with time zone":
      return pick(["'infinity'", "'-infinity'", "'4713-01-01 BC'", "'294276-12-31'", "now()"])
    case "real": return pick(["'NaN'", "'-0'", "'Infinity'", "3.4e38", "1e-45"])
    case "double precision": return pick(["'NaN'", "'-0'", "'-Infinity'", "1.7e308", "5e-324"])
    case "numeric":
      return pick(
        ["'NaN'", "'Infinity'", "'-Infinity'", "1e6144", "1e6145", "-1e7000", "1e-7000", "1.0/3"]
          + Self.numbers)
    case "uuid": return "gen_random_uuid()"
    case "jsonb": return "'" + json().replacing("'", with: "''") + "'"
    default: return text()
    }
  }

  /// A value that the property of a column can hold.
  mutating func goodValue(_ column: String, _ type: String) -> String {
    let number = random.below(1_000)
    switch column {
    case "badge", "owner", "friend": return OddReplica.key(number % 7)
    case "counts": return "'[\(number), 2]'"
    case "prices": return "'[\"1.\(number)\"]'"
    case "doubles": return "'[0.5, \(number).25]'"
    case "names": return "'{\"\u{e9}\": \"\(number)\", \"e\u{301}\": null}'"
    case "badges": return "'[\"00000000000000000000000\(number % 9)\"]'"
    case "friends": return "'[\"00000000000000000000000\(number % 7)\"]'"
    case "spot": return "'{\"city\": \"\(number)\", \"counts\": [1]}'"
    case "spots": return "'[{\"city\": \"\(number)\"}, {\"price\": \"1.50\"}]'"
    case "places": return "'{\"a\": {\"any\": [1, {\"b\": \(number)}]}}'"
    case "any": return "'[\(number), {\"a\": [true]}]'"
    case "anys": return "'[\(number), \"a\", 0.5]'"
    case "table": return "'{\"a\": \(number)}'"
    case "mixes": return "'[\(number), \"a\", {\"$type\": \"double\", \"value\": \"-0.0\"}]'"
    case "ids": return "'[\"00000000-0000-0000-0000-000000000001\"]'"
    case "dates": return "'{\"a\": \"2026-11-29T00:00:00Z\"}'"
    case "flags": return "'[true]'"
    case "datas": return "'[\"AAE=\", null]'"
    case "floats": return "'[\(number), 0.5]'"
    default:
      switch type {
      case "bigint", "real", "double precision", "numeric": return "\(number)"
      case "boolean": return "true"
      case "bytea": return "'\\x0\(number % 10)'"
      case "timestamp with time zone": return "'2026-01-01 00:00:00+00'"
      case "uuid": return "'00000000-0000-0000-0000-000000000001'"
      default: return "'text \(number)'"
      }
    }
  }
}
