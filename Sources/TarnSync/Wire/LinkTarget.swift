import TarnStore
import TarnText

/// The object that an element links to.
struct LinkTarget: Hashable {
  let id: ClassID
  /// Its primary key.
  let key: Value

  /// - Returns: nil for an element that is not a link to an object with a primary key.
  init?(_ json: JSONValue, _ column: ColumnSchema, _ schema: StoreSchema) {
    if column.type == .any {
      guard MixedJSON.isLink(json), case .string(let name)? = json["class"],
        let inner = json["value"], let described = schema.named(name)
      else { return nil }
      self.init(inner, described)
      return
    }
    guard column.type == .link, json != .null,
      let described = column.target.flatMap({ schema[$0] }),
      !described.isEmbedded
    else { return nil }
    self.init(json, described)
  }

  private init?(_ json: JSONValue, _ described: ClassSchema) {
    guard let column = described.primaryKey,
      let value = ScalarCoder.value(json, as: described[column].type), value != .null
    else { return nil }
    (id, key) = (described.id, value)
  }

  /// The links in elements.
  static func all(
    in items: [WireItem], _ column: ColumnSchema, _ schema: StoreSchema
  ) -> Set<LinkTarget> {
    guard column.type == .link || column.type == .any else { return [] }
    var found: Set<LinkTarget> = []
    for item in items {
      filter(item.json, column, schema) { target throws(Never) in
        found.insert(target)
        return true
      }
    }
    return found
  }

  /// Calls `body` with each link in an element, including embedded objects and nested lists and
  /// maps, and replaces those for which it returns false: by null, or by nothing where the file
  /// omits them.
  @discardableResult
  static func filter<E>(
    _ json: JSONValue, _ column: ColumnSchema, _ schema: StoreSchema,
    _ body: (LinkTarget) throws(E) -> Bool
  ) throws(E) -> JSONValue {
    if let target = LinkTarget(json, column, schema) { return try body(target) ? json : .null }
    if let embedded = ItemCoder.embedded(column, schema) {
      return try filter(json, embedded, schema, body)
    }
    guard column.type == .any else { return json }
    switch json {
    case .array(let items):
      var result: [JSONValue] = []
      for item in items { result.append(try filter(item, column, schema, body)) }
      return .array(result)
    case .object:
      // A map may have the members of a link: then it is wrapped in a form that shows that.
      guard let members = MixedJSON.members(ofMap: json) else { return json }
      var result: [JSONMember] = []
      for member in members {
        result.append(JSONMember(member.name, try filter(member.value, column, schema, body)))
      }
      return ItemCoder.map(result)
    default: return json
    }
  }

  private static func filter<E>(
    _ json: JSONValue, _ embedded: ClassSchema, _ schema: StoreSchema,
    _ body: (LinkTarget) throws(E) -> Bool
  ) throws(E) -> JSONValue {
    guard case .object(let members) = json else { return json }
    var result: [JSONMember] = []
    for member in members {
      guard
        let column = embedded.columns.first(where: {
          !$0.isRemoved && StoredText($0.name) == StoredText(member.name)
        })
      else {
        result.append(member)
        continue
      }
      result.append(JSONMember(member.name, try property(member.value, column, schema, body)))
    }
    return .object(result)
  }

  private static func property<E>(
    _ json: JSONValue, _ column: ColumnSchema, _ schema: StoreSchema,
    _ body: (LinkTarget) throws(E) -> Bool
  ) throws(E) -> JSONValue {
    switch (column.collection, json) {
    case (.list, .array(let items)), (.set, .array(let items)):
      var result: [JSONValue] = []
      for item in items {
        let shown = try filter(item, column, schema, body)
        let isMissing = shown == .null && LinkTarget(item, column, schema) != nil
        if !isMissing || !column.omitsMissingLinks { result.append(shown) }
      }
      return .array(result)
    case (.map, .object(let members)):
      var result: [JSONMember] = []
      for member in members {
        result.append(JSONMember(member.name, try filter(member.value, column, schema, body)))
      }
      return .object(result)
    default: return try filter(json, column, schema, body)
    }
  }
}

extension ColumnSchema {
  /// Whether a link without a target is omitted, as when the file deletes the target. A list of
  /// mixed values has nil in its place, as a map has under its key.
  var omitsMissingLinks: Bool { collection == .set || collection == .list && type != .any }
}
