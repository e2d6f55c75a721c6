import TarnStore

/// Property types as Swift declares them.
enum SchemaText {
  /// `Int?`, `List<Dog>`, `MutableSet<String>`, `Map<String, Int?>`, `AnyRealmValue`.
  static func type(of column: ColumnSchema, _ schema: StoreSchema) -> String {
    type(of: column) { schema[$0]?.name ?? "?" }
  }

  /// - Parameter className: the name of a class.
  static func type(of column: ColumnSchema, className: (ClassID) -> String) -> String {
    let isLink = column.type == .link && [.none, .map].contains(column.collection)
    // A mixed value can be null by itself.
    let isOptional = (column.isOptional && column.type != .any) || isLink
    let element = name(column, className) + (isOptional ? "?" : "")
    return switch column.collection {
    case .none: element
    case .list: "List<\(element)>"
    case .set: "MutableSet<\(element)>"
    case .map: "Map<String, \(element)>"
    }
  }

  private static func name(
    _ column: ColumnSchema, _ className: (ClassID) -> String
  ) -> String {
    switch column.type {
    case .int: "Int"
    case .bool: "Bool"
    case .string: "String"
    case .data: "Data"
    case .date: "Date"
    case .float: "Float"
    case .double: "Double"
    case .decimal: "Decimal128"
    case .objectID: "ObjectId"
    case .uuid: "UUID"
    case .any: "AnyRealmValue"
    case .link: column.target.map(className) ?? "?"
    }
  }
}
