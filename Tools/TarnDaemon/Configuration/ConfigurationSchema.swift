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
    return .object(members)
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
    case .texts: return either([scalar(), list(of: scalar())])
    case .textsOr(let keys):
      return either([scalar(), list(of: either([scalar(), mapping(keys)]))])
    case .integer(let range):
      return .object([
        JSONMember("type", .string("integer")),
        JSONMember("minimum", .integer(Int64(range.lowerBound))),
        JSONMember("maximum", .integer(Int64(range.upperBound))),
      ])
    case .bool:
      return either([
        .object([JSONMember("type", .string("boolean"))]), words(["yes", "no", "on", "off"]),
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
    // An editor may read 0660 as a number.
    case .rights:
      return either([pattern("^0o?[0-7]{1,3}$"), .object([JSONMember("type", .string("integer"))])])
    case .keys(let keys): return mapping(keys)
    case .list(let keys): return list(of: mapping(keys))
    case .variants(let variants):
      return list(of: .object([JSONMember("oneOf", .array(variants.map { mapping($0.keys) }))]))
    case .either(let kinds): return either(kinds.map(value))
    }
  }

  private static func scalar() -> JSONValue {
    .object([
      JSONMember("type", .array(["string", "number", "boolean"].map { .string($0) }))
    ])
  }

  private static func pattern(_ text: String) -> JSONValue {
    .object([JSONMember("type", .string("string")), JSONMember("pattern", .string(text))])
  }

  private static func words(_ words: [String]) -> JSONValue {
    .object([JSONMember("enum", .array(words.map { .string($0) }))])
  }

  private static func list(of items: JSONValue) -> JSONValue {
    .object([JSONMember("type", .string("array")), JSONMember("items", items)])
  }

  private static func either(_ values: [JSONValue]) -> JSONValue {
    .object([JSONMember("anyOf", .array(values))])
  }
}
