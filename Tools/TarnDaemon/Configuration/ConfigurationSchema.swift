import TarnText

/// The schema of the configuration for editors, as JSON Schema (draft 7) has it.
enum ConfigurationSchema {
  static let text = JSONText.text(whole) + "\n"

  private static let whole: JSONValue = {
    var members = [
      JSONMember("$schema", .string("http://json-schema.org/draft-07/schema#")),
      JSONMember("title", .string("The configuration of tarn daemon")),
    ]
    if case .object(let keys) = mapping(ConfigurationKeys.all) { members += keys }
    let given = ["watches", "sync"].map { name in
      JSONValue.object([JSONMember("required", .array([.string(name)]))])
    }
    members.append(JSONMember("anyOf", .array(given)))
    return .object(members)
  }()

  /// A mapping with these keys and no others.
  private static func mapping(_ keys: [ConfigurationKey]) -> JSONValue {
    let required = keys.filter(\.isRequired).map { JSONValue.string($0.name) }
    var members = [
      JSONMember("type", .string("object")),
      JSONMember(
        "properties", .object(keys.map { JSONMember($0.name, described($0)) })),
      JSONMember("additionalProperties", .bool(false)),
    ]
    if !required.isEmpty { members.append(JSONMember("required", .array(required))) }
    let names = Set(keys.map(\.name))
    let rules = ConfigurationKeys.rules.filter { names.isSuperset(of: $0.allKeys) }.map(described)
    if !rules.isEmpty { members.append(JSONMember("allOf", .array(rules))) }
    return .object(members)
  }

  private static func described(_ rule: ConfigurationRule) -> JSONValue {
    func has(_ key: String) -> JSONValue {
      .object([JSONMember("required", .array([.string(key)]))])
    }
    func not(_ keys: [String]) -> [JSONValue] {
      keys.map { .object([JSONMember("not", has($0))]) }
    }
    let ways = rule.keys.map { key -> JSONValue in
      let others = not(rule.keys.filter { $0 != key })
      let companions = key == rule.keys[0] ? [] : not(rule.companions)
      return .object([JSONMember("allOf", .array([has(key)] + others + companions))])
    }
    let none = JSONValue.object([JSONMember("allOf", .array(not(rule.keys)))])
    return either(ways + (rule.count == .atMostOne ? [none] : []))
  }

  private static func described(_ key: ConfigurationKey) -> JSONValue {
    guard case .object(let members) = value(key.kind) else { return .bool(true) }
    let help = key.standard.map { "\(key.help) (default: \($0))" } ?? key.help
    return .object([JSONMember("description", .string(help))] + members)
  }

  private static func value(_ kind: ConfigurationKey.Kind) -> JSONValue {
    switch kind {
    // Plain numbers and words such as true are text, too.
    case .text: return scalar()
    case .path: return pattern("^/")
    case .url: return pattern("^https?://")
    // Numbers and words such as true may be names.
    case .matching(let form): return either([pattern(form), scalar(["number", "boolean"])])
    case .texts: return either([scalar(), list(of: scalar())])
    case .someTexts: return either([scalar(), list(of: scalar(), least: 1)])
    case .textsOr(let keys, let least):
      return either([scalar(), list(of: either([scalar(), mapping(keys)]), least: least)])
    case .integer(let range):
      return either([integer(range), pattern(digits(range))])
    case .bool:
      return either([
        scalar(["boolean"]), words(["true", "false", "yes", "no", "on", "off"]),
      ])
    case .only:
      return .object([
        JSONMember("enum", .array([.bool(true)] + ["true", "yes", "on"].map { .string($0) }))
      ])
    case .choice(let choices): return words(choices)
    case .duration:
      return either([
        pattern("^([0-9]+(ms|s|m|h|d)|0)$"), .object([JSONMember("const", .integer(0))]),
      ])
    case .size:
      return either([
        pattern("^[0-9]+(B|kB|KB|MB|GB|KiB|MiB|GiB)?$"),
        .object([JSONMember("type", .string("integer")), JSONMember("minimum", .integer(1))]),
      ])
    case .limit: return pattern("^(none|[0-9]+[A-Za-z]+(,[0-9]+[A-Za-z]+)?)$")
    // An editor may read 0660 as a number, an octal one or a decimal one.
    case .rights:
      return either([pattern("^0o?0*[0-7]{1,3}$"), integer(0...777)])
    case .keys(let keys): return mapping(keys)
    case .list(let keys): return list(of: mapping(keys))
    case .variants(let variants):
      return list(
        of: .object([JSONMember("oneOf", .array(variants.map { mapping($0.keys) }))]), least: 1)
    case .either(let kinds): return either(kinds.map(value))
    }
  }

  private static func scalar(
    _ types: [String] = ["string", "number", "boolean"]
  ) -> JSONValue {
    .object([JSONMember("type", .array(types.map { .string($0) }))])
  }

  private static func integer(_ range: ClosedRange<Int>) -> JSONValue {
    .object([
      JSONMember("type", .string("integer")),
      JSONMember("minimum", .integer(Int64(range.lowerBound))),
      JSONMember("maximum", .integer(Int64(range.upperBound))),
    ])
  }

  /// The numbers from 1 to a power of ten as text.
  private static func digits(_ range: ClosedRange<Int>) -> String {
    let most = "\(range.upperBound)"
    assert(
      range.lowerBound == 1 && most.utf8.dropFirst().allSatisfy { $0 == UInt8(ascii: "0") },
      "the schema cannot say \(range)")
    return "^[+]?0*([1-9][0-9]{0,\(most.utf8.count - 2)}|\(most))$"
  }

  private static func pattern(_ text: String) -> JSONValue {
    .object([JSONMember("type", .string("string")), JSONMember("pattern", .string(text))])
  }

  private static func words(_ words: [String]) -> JSONValue {
    .object([JSONMember("enum", .array(words.map { .string($0) }))])
  }

  private static func list(of items: JSONValue, least: Int64 = 0) -> JSONValue {
    .object(
      [JSONMember("type", .string("array")), JSONMember("items", items)]
        + (least == 0 ? [] : [JSONMember("minItems", .integer(least))]))
  }

  private static func either(_ values: [JSONValue]) -> JSONValue {
    .object([JSONMember("anyOf", .array(values))])
  }
}
