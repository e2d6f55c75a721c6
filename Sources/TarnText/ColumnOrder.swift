package import TarnStore

extension ClassSchema {
  /// The columns that were not removed, in the order in which people see them.
  ///
  /// A migration that changes a type, or lets a property be null, replaces the column by a new one.
  /// That one is shown where the first column of its name was.
  package var shownColumns: [ColumnSchema] {
    guard columns.contains(where: \.isRemoved) else { return columns }
    let places = columns.filter { !$0.isRemoved }.map { column in
      (place: place(of: column), column: column)
    }
    return places.sorted { $0.place < $1.place }.map(\.column)
  }

  /// Where the first column of that name is. No other column that is shown has the place.
  private func place(of column: ColumnSchema) -> Int {
    columns.firstIndex { $0.name.hasSameBytes(as: column.name) } ?? column.id.index
  }
}
