/// One key to sort by, by name: a property, reached through to-one links or not.
package struct OrderTerm: Hashable, Sendable {
  package var path: [String]
  package var isAscending: Bool
  /// Of text.
  package var collation: Collation

  package init(path: [String], isAscending: Bool = true, collation: Collation = .bytes) {
    self.path = path
    self.isAscending = isAscending
    self.collation = collation
  }

  /// A path as text.
  package init(_ path: String, isAscending: Bool = true, collation: Collation = .bytes) {
    self.init(path: PathText.names(in: path), isAscending: isAscending, collation: collation)
  }
}
