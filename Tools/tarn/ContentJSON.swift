import TarnStore
import TarnText
import ToolSupport

/// Writes contents as JSON that an import reads back exactly.
///
/// Where the column determines a value's type, the value is written as `ValueText` writes it, in a
/// mixed column as `MixedJSON` does.
enum ContentJSON {
  /// The value of a property.
  static func json(
    _ content: Content, _ column: ColumnSchema, _ rows: Rows
  ) throws(StorageError) -> JSONValue {
    switch content {
    case .map(let pairs) where column.collection == .map:
      // The column says that it is a map, so its keys need no check.
      return .object(try members(pairs, column, rows))
    case .list(let items) where column.collection != .none:
      let elements = try items.map { item throws(StorageError) in
        try element(item, column, rows)
      }
      let hasLinks = [.link, .any].contains(column.type)
      return .array(column.collection == .set && hasLinks ? sorted(elements) : elements)
    default: return try element(content, column, rows)
    }
  }

  /// The elements of a set with links in an order that two files share: theirs is that of the
  /// object keys, which depend on the order in which the objects were created.
  private static func sorted(_ elements: [JSONValue]) -> [JSONValue] {
    let texts = elements.map { (text: JSONText.bytes($0), element: $0) }
    // Whole numbers by their value.
    return texts.sorted { a, b in
      if case (.integer(let a), .integer(let b)) = (a.element, b.element) { return a < b }
      return a.text.lexicographicallyPrecedes(b.text)
    }.map(\.element)
  }

  /// One element of a property's collection, or the value of a single property.
  static func element(
    _ content: Content, _ column: ColumnSchema, _ rows: Rows
  ) throws(StorageError) -> JSONValue {
    switch content {
    case .value(let value):
      return column.type == .any ? try any(value, rows) : try plain(value, column, rows)
    case .list(let items):
      return .array(
        try items.map { item throws(StorageError) in try element(item, column, rows) })
    case .map(let pairs):
      return MixedJSON.map(try members(pairs, column, rows))
    case .object(let fields):
      guard let target = column.target else { return .null }
      var members: [JSONMember] = []
      for part in fields {
        let field = rows.schema[target][part.column]
        members.append(JSONMember(field.name, try json(part.content, field, rows)))
      }
      return .object(members)
    }
  }

  private static func members(
    _ pairs: [Content.Pair], _ column: ColumnSchema, _ rows: Rows
  ) throws(StorageError) -> [JSONMember] {
    try pairs.map { pair throws(StorageError) in
      JSONMember(pair.key, try element(pair.value, column, rows))
    }
  }

  private static func plain(
    _ value: Value, _ column: ColumnSchema, _ rows: Rows
  ) throws(StorageError) -> JSONValue {
    guard case .link(let key) = value, let target = column.target else {
      return ValueText.json(value)
    }
    return ValueText.json(try name(of: key, in: target, rows))
  }

  private static func any(
    _ value: Value, _ rows: Rows
  ) throws(StorageError) -> JSONValue {
    guard case .object(let id, let key) = value else { return MixedJSON.any(scalar: value) }
    return MixedJSON.link(
      to: rows.schema[id].name, ValueText.json(try name(of: key, in: id, rows)))
  }

  /// The object's primary key, or its object key if the class has no primary key.
  static func name(
    of key: ObjectKey, in id: ClassID, _ rows: Rows
  ) throws(StorageError) -> Value {
    guard let primaryKey = rows.schema[id].primaryKey else { return .int(key.rawValue) }
    return try rows.value(of: primaryKey, at: key, in: id) ?? .int(key.rawValue)
  }
}

/// The displayed and exported form of a property.
enum Field {
  case value(Value)
  /// A value that is more than one simple value.
  case json(JSONValue)

  var isNull: Bool {
    switch self {
    case .value(let value): value == .null
    case .json(let value): value == .null
    }
  }

  /// The field of CSV; nil for null.
  var text: String? {
    switch self {
    case .value(let value): ValueText.text(value)
    case .json(let value): value == .null ? nil : JSONText.text(value)
    }
  }

  /// For people, in one line.
  var shown: String {
    switch self {
    case .value(let value): ValueText.shown(value)
    case .json(.string(let text)): ValueText.shown(.string(text))
    case .json(let value): printable(JSONText.text(value))
    }
  }

  func write(to json: inout JSONText) {
    switch self {
    case .value(let value): ValueText.write(value, to: &json)
    case .json(let value): json.value(value)
    }
  }

  func isSame(as other: Field) -> Bool {
    switch (self, other) {
    case (.value(let a), .value(let b)): a == b
    // Compared as bytes: 0 and -0 are equal as numbers, and so are some different strings.
    case (.json(let a), .json(let b)): JSONText.bytes(a) == JSONText.bytes(b)
    default: false
    }
  }
}
