/// What a file says about its classes. It is data in the file, so that a tool can open any file
/// without the program that wrote it.
package struct StoreSchema: Equatable, Sendable {
  package var classes: [ClassSchema]
  package init(classes: [ClassSchema] = []) { self.classes = classes }

  /// The class of that name, or nil.
  package func named(_ name: String) -> ClassSchema? { classes.first { $0.name == name } }
  /// The class with that id, or nil. Ids are dense, and `classes` is in their order.
  package subscript(id: ClassID) -> ClassSchema? {
    let index = Int(id.rawValue)
    return index < classes.count ? classes[index] : nil
  }
}

/// A class: its columns in the order of their ids, removed ones included.
package struct ClassSchema: Equatable, Sendable {
  package var id: ClassID
  package var name: String
  package var columns: [ColumnSchema]
  package var primaryKey: ColumnID?
  package var isEmbedded: Bool
  /// Columns whose values no two objects may have in common, each a combination. A rule's index
  /// in the list names it in the tree.
  package var uniqueRules: [[ColumnID]]

  package init(
    id: ClassID, name: String, columns: [ColumnSchema], primaryKey: ColumnID? = nil,
    isEmbedded: Bool = false, uniqueRules: [[ColumnID]] = []
  ) {
    self.uniqueRules = uniqueRules
    self.id = id
    self.name = name
    self.columns = columns
    self.primaryKey = primaryKey
    self.isEmbedded = isEmbedded
  }

  package func named(_ name: String) -> ColumnSchema? {
    columns.first { $0.name == name && !$0.isRemoved }
  }
  /// The columns of those names in their order, or nil if one is missing.
  package func columns(named names: [String]) -> [ColumnID]? {
    let columns = names.compactMap { named($0)?.id }
    return columns.count == names.count ? columns : nil
  }
  /// True for a class that a migration removed with all its objects: the name and the id stay.
  package var isVacant: Bool { !columns.isEmpty && columns.allSatisfy(\.isRemoved) }
  package subscript(id: ColumnID) -> ColumnSchema { columns[id.index] }

  /// True if the primary key's value is the object key itself (a non-optional integer).
  package var keyIsPrimary: Bool {
    guard let primaryKey else { return false }
    let column = columns[primaryKey.index]
    return column.type == .int && !column.isOptional
  }
}

/// A column. `isIndexed` keeps an index over its values. A link column is always indexed: that
/// index holds the backlinks. Of a collection `type`, `isOptional` and `target` describe the
/// elements.
package struct ColumnSchema: Equatable, Sendable {
  package var id: ColumnID
  package var name: String
  package var type: ColumnType
  package var collection: CollectionKind
  package var isOptional: Bool
  package var isIndexed: Bool
  /// For a link the class that it points to, else nil.
  package var target: ClassID?
  /// For a link what becomes of its target when the object is deleted.
  package var deleteRule: DeleteRule
  /// The property is gone from the model; the id stays taken and clusters hold nothing for it.
  package var isRemoved: Bool

  package init(
    id: ColumnID, name: String, type: ColumnType, collection: CollectionKind = .none,
    isOptional: Bool = false, isIndexed: Bool = false, target: ClassID? = nil,
    deleteRule: DeleteRule = .nullify, isRemoved: Bool = false
  ) {
    self.id = id
    self.name = name
    self.type = type
    self.collection = collection
    self.isOptional = isOptional
    self.isIndexed = isIndexed
    self.target = target
    self.deleteRule = deleteRule
    self.isRemoved = isRemoved
  }

  /// The object that a value in this column, or an element of it, links to; nil if it is no link.
  package func linkTarget(of value: Value) -> LinkTarget? {
    switch value {
    case .link(let key): target.map { LinkTarget(classID: $0, key: key) }
    case .object(let id, let key): LinkTarget(classID: id, key: key)
    default: nil
    }
  }
}
