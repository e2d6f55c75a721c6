import TarnStore
import TarnText

/// The one form in which the elements of a property are compared and stored. SQL programs may have
/// written others.
///
/// An embedded object is an object with its properties, a link the primary key of its target. In a
/// mixed value a link is `{"$type": "link", "class": …, "value": …}`, and a map that has a key
/// `$type` is `{"$type": "map", "value": …}`.
struct ItemCoder: Sendable {
  let schema: StoreSchema
  let column: ColumnSchema

  static let mapType = "map"
  static let linkType = "link"

  /// The element of a JSON value. A value that does not fit the type is null, or zero in a
  /// collection without nulls.
  func item(_ json: JSONValue) -> WireItem { WireItem(element(json, column)) }

  static func isBefore(_ a: StoredText, _ b: StoredText) -> Bool {
    a.text.utf8.lexicographicallyPrecedes(b.text.utf8)
  }

  /// The embedded class of a property.
  static func embedded(_ column: ColumnSchema, _ schema: StoreSchema) -> ClassSchema? {
    column.target.flatMap { schema[$0] }.flatMap { $0.isEmbedded ? $0 : nil }
  }

  /// The type of single values; of a link that of the target's primary key.
  static func type(of column: ColumnSchema, _ schema: StoreSchema) -> ColumnType {
    guard let target = column.target.flatMap({ schema[$0] }), let key = target.primaryKey else {
      return column.type
    }
    return target[key].type
  }

  private func element(_ json: JSONValue, _ column: ColumnSchema) -> JSONValue {
    if let embedded = Self.embedded(column, schema) { return object(json, embedded) }
    if column.type == .any { return mixed(json) }
    let type = Self.type(of: column, schema)
    guard let value = ScalarCoder.value(json, as: type), value != .null else {
      return column.isOptional || column.type == .link
        ? .null : ScalarCoder.json(column.type.zero, as: type)
    }
    return ScalarCoder.json(value, as: type)
  }

  /// An embedded object, with the members that are unknown here.
  private func object(_ json: JSONValue, _ described: ClassSchema) -> JSONValue {
    guard case .object(let members) = json else { return .null }
    let columns = described.columns.filter { !$0.isRemoved }
    let known = columns.map { JSONMember($0.name, property(json[$0.name] ?? .null, $0)) }
    let names = Set(columns.map { StoredText($0.name) })
    return Self.sorted(known + members.filter { !names.contains(StoredText($0.name)) })
  }

  private func property(_ json: JSONValue, _ column: ColumnSchema) -> JSONValue {
    switch (column.collection, json) {
    case (.none, _): element(json, column)
    case (.list, .array(let items)): .array(items.map { element($0, column) })
    case (.set, .array(let items)): Self.set(items.map { element($0, column) })
    case (.map, .object(let members)):
      Self.sorted(members.map { JSONMember($0.name, element($0.value, column)) })
    case (.map, _): .object([])
    case (.list, _), (.set, _): .array([])
    }
  }

  private func mixed(_ json: JSONValue) -> JSONValue {
    switch json {
    case .array(let items): return .array(items.map { mixed($0) })
    case .object(let members):
      switch json[MixedJSON.typeKey] {
      case nil: return Self.map(members.map { JSONMember($0.name, mixed($0.value)) })
      case .string(Self.mapType):
        guard case .object(let inner)? = json["value"] else { return .null }
        return Self.map(inner.map { JSONMember($0.name, mixed($0.value)) })
      case .string(Self.linkType): return link(json)
      default: break
      }
    default: break
    }
    return ScalarCoder.value(json, as: .any).map { ScalarCoder.json($0, as: .any) } ?? .null
  }

  private func link(_ json: JSONValue) -> JSONValue {
    guard case .string(let name)? = json["class"], let target = schema.named(name),
      let key = target.primaryKey, let inner = json["value"],
      let value = ScalarCoder.value(inner, as: target[key].type)
    else { return json }
    return MixedJSON.link(to: name, ScalarCoder.json(value, as: target[key].type))
  }

  // MARK: - Forms

  static func sorted(_ members: [JSONMember]) -> JSONValue {
    .object(
      members.sorted { isBefore(StoredText($0.name), StoredText($1.name)) })
  }

  /// A map in a mixed value.
  static func map(_ members: [JSONMember]) -> JSONValue {
    let isAmbiguous = members.contains { $0.name == MixedJSON.typeKey }
    return isAmbiguous ? MixedJSON.typed(mapType, sorted(members)) : sorted(members)
  }

  static func set(_ items: [JSONValue]) -> JSONValue {
    let texts = Set(items.map { WireItem($0) })
    return .array(
      texts.sorted { $0.text.lexicographicallyPrecedes($1.text) }.map(\.json))
  }
}
