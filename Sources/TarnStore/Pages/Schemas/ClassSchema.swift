/// A class: its columns in the order of their ids, including removed ones.
package struct ClassSchema: Equatable, Sendable {
  package var id: ClassID
  package var name: String
  package var columns: [ColumnSchema]
  package var primaryKey: ColumnID?
  package var isEmbedded: Bool
  /// Combinations of columns whose values must be unique. A rule's index in the list identifies it
  /// in the tree.
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
  /// The columns of those names in order, nil if one is missing.
  package func columns(named names: [String]) -> [ColumnID]? {
    let columns = names.compactMap { named($0)?.id }
    return columns.count == names.count ? columns : nil
  }
  /// True for a class that a migration removed with all its objects: its name and id stay.
  package var isVacant: Bool { !columns.isEmpty && columns.allSatisfy(\.isRemoved) }
  package subscript(id: ColumnID) -> ColumnSchema { columns[id.index] }

  /// True if the primary key's value is the object key itself (a non-optional integer).
  package var keyIsPrimary: Bool {
    guard let primaryKey else { return false }
    let column = columns[primaryKey.index]
    return column.type == .int && !column.isOptional
  }
}
