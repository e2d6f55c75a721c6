package import TarnStore

/// Values of mixed columns as JSON.
///
/// Null, bools, integers, finite doubles (which have a fraction or an exponent), strings, arrays
/// and objects are written as JSON has them. Other values are objects with the member `$type`:
///
///     {"$type":"decimal","value":"1.5"}
///     {"$type":"link","class":"Dog","value":"Rex"}
///
/// A map that has the key `$type` itself is `{"$type":"map","value":{…}}`.
package enum MixedJSON {
  package static let typeKey = "$type"
  private static let mapType = "map"

  package static func typed(_ type: String, _ value: JSONValue) -> JSONValue {
    .object([JSONMember(typeKey, .string(type)), JSONMember("value", value)])
  }

  /// A map, whose members are in the order in which they are written.
  package static func map(_ members: [JSONMember]) -> JSONValue {
    let isAmbiguous = members.contains { $0.name == typeKey }
    return isAmbiguous ? typed(mapType, .object(members)) : .object(members)
  }

  /// The entries of a map; nil for another value.
  package static func members(ofMap json: JSONValue) -> [JSONMember]? {
    guard case .object(let members) = json else { return nil }
    guard let type = json[typeKey] else { return members }
    guard type == .string(mapType), case .object(let inner)? = json["value"] else { return nil }
    return inner
  }

  /// True for a link, even a malformed one.
  package static func isLink(_ json: JSONValue) -> Bool {
    json[typeKey] == .string(ValueText.name(of: .link))
  }

  /// A link in a mixed column.
  package static func link(to className: String, _ name: JSONValue) -> JSONValue {
    .object([
      JSONMember(typeKey, .string(ValueText.name(of: .link))),
      JSONMember("class", .string(className)), JSONMember("value", name),
    ])
  }

  /// A value in a mixed column that refers to nothing else.
  package static func any(scalar value: Value) -> JSONValue {
    switch value {
    case .null, .int, .bool, .string: return ValueText.json(value)
    case .double(let number) where number.isFinite: return ValueText.json(value)
    case .double: return typed(ValueText.name(of: .double), ValueText.json(value))
    case .float: return typed(ValueText.name(of: .float), ValueText.json(value))
    case .data: return typed(ValueText.name(of: .data), ValueText.json(value))
    case .date: return typed(ValueText.name(of: .date), ValueText.json(value))
    case .objectID: return typed(ValueText.name(of: .objectID), ValueText.json(value))
    case .uuid: return typed(ValueText.name(of: .uuid), ValueText.json(value))
    case .decimal: return typed(ValueText.name(of: .decimal), ValueText.json(value))
    case .link, .object, .list, .map: return ValueText.json(value)
    }
  }
}
