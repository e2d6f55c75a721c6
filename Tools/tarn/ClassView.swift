import TarnStore
import TarnText
import ToolSupport

/// A class as the commands show it: its columns, the values of its rows, and the name of each
/// object.
struct ClassView: Equatable {
  let schema: ClassSchema
  /// The columns shown: those asked for, or all that were not removed, in their order.
  let columns: [ColumnSchema]
  /// The index of the primary key in `columns`.
  let keyPosition: Int?
  /// The choice of columns; nil for all.
  let chosen: ChosenColumns?
  /// Whether the rows are groups of objects, not objects.
  let isOfGroups: Bool

  var id: ClassID { schema.id }
  var name: String { schema.name }
  /// Whether only some columns are shown.
  var showsSome: Bool { chosen != nil || isOfGroups }
  /// The noun for a row in messages.
  var rowName: String { isOfGroups ? "group" : "object" }

  /// - Parameter chosen: the columns to show, nil for all. Names that the class does not have are
  ///   ignored.
  init(_ schema: ClassSchema, only chosen: ChosenColumns? = nil) {
    self.schema = schema
    self.chosen = chosen
    isOfGroups = false
    columns =
      chosen.map { $0.names.compactMap(schema.named) } ?? schema.shownColumns
    keyPosition = columns.firstIndex { $0.id == schema.primaryKey }
  }

  /// The view of groups of the class's objects.
  ///
  /// - Parameter key: the property that groups the objects; nil for one group of all objects.
  init(groupsOf schema: ClassSchema, by key: String?, _ figures: [String]) {
    let key = key.map { PathText.name($0) }
    let headings = (key.map { [$0] } ?? []) + figures
    let types =
      (key.map { [schema.named($0)?.type ?? .string] } ?? []) + figures.map { _ in .double }
    columns = zip(headings, types).enumerated().map { index, heading in
      ColumnSchema(id: ColumnID(UInt16(index)), name: heading.0, type: heading.1)
    }
    self.schema = ClassSchema(
      id: schema.id, name: schema.name, columns: columns,
      primaryKey: key.map { _ in ColumnID(0) })
    keyPosition = key.map { _ in 0 }
    chosen = nil
    isOfGroups = true
  }

  /// The same view of the class in another version.
  func at(_ schema: SchemaView) -> ClassView { ClassView(schema[id], only: chosen) }

  /// The class with that name.
  static func named(
    _ name: String, in view: SchemaView, _ path: String, only columns: [String]? = nil
  ) throws -> ClassView {
    guard let found = view.schema.named(name), !found.isVacant else {
      let names = view.schema.classes.filter { !$0.isVacant }.map(\.name).sorted()
      let list = names.isEmpty ? "it has none" : "it has: \(names.joined(separator: ", "))"
      throw ToolError("no class '\(name)' in \(path); \(list)")
    }
    let chosen = columns.map { ChosenColumns(StoreAccess.keyPaths($0, on: found)) }
    try chosen?.check(on: found, view.schema, followsLinks: false)
    return ClassView(found, only: chosen)
  }

  /// The object's properties in the order of `columns`; nil if it does not exist. A link is shown
  /// as the primary key of its target, if the target has one.
  ///
  /// - Parameter skipped: columns that are not read, and shown as null.
  func fields(
    of key: ObjectKey, _ rows: Rows, without skipped: Set<ColumnID> = []
  ) throws -> [Field]? {
    guard let (cluster, slot) = try rows.location(of: key, in: id) else { return nil }
    var fields: [Field] = []
    fields.reserveCapacity(columns.count)
    for column in columns {
      if skipped.contains(column.id) {
        fields.append(.json(.null))
      } else if column.mayHaveParts(rows.schema) {
        let content = try rows.content(of: column, at: key, in: id)
        let json = try ContentJSON.json(content, column, rows)
        let inner = chosen?.within(column.name)
        fields.append(.json(inner?.part(of: json, column, rows.schema.schema) ?? json))
      } else if let value = try cluster.value(column, slot) {
        fields.append(.value(value))
      } else {
        fields.append(.value(try rows.value(of: column.id, at: key, in: id) ?? .null))
      }
    }
    for (index, column) in columns.enumerated() {
      guard case .value(.link(let key)) = fields[index], let target = column.target else {
        continue
      }
      fields[index] = .value(try ContentJSON.name(of: key, in: target, rows))
    }
    return fields
  }

  /// The object's primary key, or its object key if the class has no primary key.
  func identity(
    _ key: ObjectKey, _ fields: [Field], _ reader: SnapshotReader
  ) throws -> Value {
    if let keyPosition, case .value(let value) = fields[keyPosition] { return value }
    guard let primaryKey = schema.primaryKey else { return .int(key.rawValue) }
    return try reader.value(of: primaryKey, at: key, in: id) ?? .int(key.rawValue)
  }

  func write(_ fields: [Field], to json: inout JSONText) {
    json.beginObject()
    for (column, field) in zip(columns, fields) {
      json.key(column.name)
      field.write(to: &json)
    }
    json.endObject()
  }
}
