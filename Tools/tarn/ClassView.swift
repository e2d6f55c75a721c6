import TarnStore
import ToolSupport

/// A class of a file with what the commands ask of it: its columns, its rows' values, and what
/// names an object to people.
struct ClassView {
  let schema: ClassSchema
  /// Those that are not removed, in their order.
  let columns: [ColumnSchema]
  /// Where the primary key is among `columns`.
  let keyPosition: Int?

  var id: ClassID { schema.id }
  var name: String { schema.name }

  init(_ schema: ClassSchema) {
    self.schema = schema
    columns = schema.columns.filter { !$0.isRemoved }
    keyPosition = columns.firstIndex { $0.id == schema.primaryKey }
  }

  /// The class of that name.
  static func named(_ name: String, in view: SchemaView, _ path: String) throws -> ClassView {
    if let found = view.schema.named(name) { return ClassView(found) }
    let names = view.schema.classes.map(\.name).sorted().joined(separator: ", ")
    throw ToolError(
      "no class '\(name)' in \(path); " + (names.isEmpty ? "it has none" : "it has: \(names)"))
  }

  /// The object's values in the order of `columns`, nil if there is no such object. A link is
  /// shown as the primary key of what it leads to, if that has one.
  func values(
    of key: ObjectKey, _ reader: SnapshotReader
  ) throws(StorageError) -> [Value]? {
    guard let (image, slot) = try reader.row(key, in: id) else { return nil }
    var values: [Value] = []
    values.reserveCapacity(columns.count)
    for column in columns {
      if let value = try image.value(column, slot) {
        values.append(value)
      } else {
        values.append(try reader.value(of: column.id, at: key, in: id) ?? .null)
      }
    }
    for (place, column) in columns.enumerated() where column.type == .link {
      values[place] = try Self.target(of: values[place], column, reader)
    }
    return values
  }

  private static func target(
    of value: Value, _ column: ColumnSchema, _ reader: SnapshotReader
  ) throws(StorageError) -> Value {
    guard case .link(let key) = value, let target = column.target,
      let primaryKey = reader.schema[target].primaryKey
    else { return value }
    return try reader.value(of: primaryKey, at: key, in: target) ?? value
  }

  /// What names the object: its primary key, else its object key.
  func identity(_ key: ObjectKey, _ values: [Value]) -> Value {
    keyPosition.map { values[$0] } ?? .int(key.rawValue)
  }

  func write(_ values: [Value], to json: inout JSONText) {
    json.beginObject()
    for (column, value) in zip(columns, values) {
      json.key(column.name)
      ValueText.write(value, to: &json)
    }
    json.endObject()
  }
}
