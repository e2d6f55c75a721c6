/// A column that a query's result depends on, and the links from a row of the query's class to the
/// rows that have it.
package struct QueryDependency: Hashable, Sendable {
  package var links: [LinkStep]
  package var classID: ClassID
  package var column: ColumnID
  /// For backlinks of the rows the class of the origins, which then has the column.
  package var origin: ClassID?

  package init(
    links: [LinkStep], classID: ClassID, column: ColumnID, origin: ClassID? = nil
  ) {
    self.links = links
    self.classID = classID
    self.column = column
    self.origin = origin
  }

  /// True if the rows of the query's class have the column themselves.
  var isInRow: Bool { links.isEmpty && origin == nil }

  /// The rows at the end of the links that changed there.
  func touchedKeys(in changes: ChangeSet) -> KeySet {
    guard let changed = changes[classID] else { return KeySet() }
    if let origin { return changed.backTouchedKeys(from: origin, column) }
    return changed.touchedKeys(in: column)
  }
}
