package import TarnText

/// A consumer that applies each line of a feed: it has the selected objects, by their keys.
package struct LineModel {
  /// The values of the objects, by the text of their keys.
  package private(set) var objects: [String: JSONValue] = [:]
  package private(set) var version = 0
  package private(set) var lines = 0
  /// The reason of each `fullResync` line, in order of arrival.
  package private(set) var beginnings: [String] = []

  package init() {}

  /// - Throws: `ToolError` if the line is not one of a feed, or refuses the consumer.
  package mutating func apply(_ line: JSONValue) throws {
    lines += 1
    if case .string(let error)? = line["error"] { throw ToolError("refused: \(error)") }
    guard case .integer(let version)? = line["version"] else {
      throw ToolError("no version in \(JSONText.text(line).prefix(200))")
    }
    self.version = Int(version)
    if case .string(let reason)? = line["fullResync"] {
      objects = [:]
      beginnings.append(reason)
    }
    put(line["objects"])
    if line["cleared"] == .bool(true) { objects = [:] }
    for kind in ["deleted", "left", "gone"] {
      for object in Self.items(line[kind]) { objects[Self.key(object)] = nil }
    }
    for kind in ["inserted", "replaced", "modified", "entered"] { put(line[kind]) }
  }

  private mutating func put(_ list: JSONValue?) {
    for object in Self.items(list) { objects[Self.key(object)] = object["new"] }
  }

  private static func key(_ object: JSONValue) -> String {
    object["key"].map(JSONText.text) ?? ""
  }

  private static func items(_ value: JSONValue?) -> [JSONValue] {
    if case .array(let items)? = value { items } else { [] }
  }
}
