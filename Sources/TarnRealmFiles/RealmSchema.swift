import RealmFiles
import TarnStore

/// The classes of a file, as a store has them.
struct RealmSchema {
  /// A class that is carried over.
  struct Class {
    let table: RealmTable
    let name: String
    let properties: [Property]
    var isEmbedded: Bool { table.kind == .embedded }
  }

  /// A property that is carried over.
  struct Property {
    /// The position among the columns of the table.
    let position: Int
    let column: RealmColumn
    let definition: ClassDefinition.Property
  }

  private(set) var classes: [Class] = []
  /// Parts of the schema that are left out or changed, in words.
  private(set) var notes: [String] = []

  var definitions: [ClassDefinition] {
    classes.map { described in
      ClassDefinition(
        name: described.name, properties: described.properties.map(\.definition),
        isEmbedded: described.isEmbedded)
    }
  }

  init(_ file: RealmFile) {
    var names: [Int: String] = [:]
    for table in file.classes where table.kind != .asymmetric {
      names[table.index] = table.className
    }
    for table in file.classes {
      guard let name = names[table.index] else {
        notes.append(
          "class '\(table.className ?? "")' is not imported: its objects only go to a server")
        continue
      }
      let properties = table.columns.indices.compactMap { property($0, of: table, name, names) }
      classes.append(Class(table: table, name: name, properties: properties))
    }
  }

  private mutating func property(
    _ position: Int, of table: RealmTable, _ name: String, _ names: [Int: String]
  ) -> Property? {
    let column = table.columns[position]
    let isKey = table.primaryKey == position && table.kind == .top
    let target = column.target.flatMap { names[$0] }
    if column.type == .link, target == nil {
      notes.append(
        "property '\(name).\(column.name)' is not imported: it links to a table that is no class")
      return nil
    }
    if column.index == .fullText {
      notes.append(
        "property '\(name).\(column.name)' has no full-text index: CONTAINS finds its words")
    }
    let type = Self.type(of: column)
    return Property(
      position: position, column: column,
      definition: ClassDefinition.Property(
        name: column.name, type: type, collection: Self.kind(of: column),
        isOptional: Self.isOptional(column, type),
        isIndexed: column.index == .values && !isKey && column.collection == .none
          && type != .link,
        isPrimaryKey: isKey, target: target))
  }

  private static func type(of column: RealmColumn) -> ColumnType {
    switch column.type {
    case .int: .int
    case .bool: .bool
    case .string: .string
    case .binary: .data
    case .mixed, .typedLink: .any
    case .date: .date
    case .float: .float
    case .double: .double
    case .decimal: .decimal
    case .link: .link
    case .objectID: .objectID
    case .uuid: .uuid
    }
  }

  private static func kind(of column: RealmColumn) -> CollectionKind {
    switch column.collection {
    case .none: .none
    case .list: .list
    case .set: .set
    case .dictionary: .map
    }
  }

  /// As a program declares it: a deleted object leaves nil in a property and in a map, and nothing
  /// in a list or a set. `AnyRealmValue` has its own nil.
  private static func isOptional(_ column: RealmColumn, _ type: ColumnType) -> Bool {
    switch type {
    case .any: false
    case .link: column.collection == .none || column.collection == .dictionary
    default: column.isNullable
    }
  }
}
