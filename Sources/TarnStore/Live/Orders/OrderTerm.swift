/// One sort key, by name: a property, possibly reached through to-one links.
package struct OrderTerm: Hashable, Sendable {
  package var path: [String]
  package var isAscending: Bool
  /// For strings.
  package var collation: Collation

  package init(path: [String], isAscending: Bool = true, collation: Collation = .bytes) {
    self.path = path
    self.isAscending = isAscending
    self.collation = collation
  }

  /// A path as a string.
  package init(_ path: String, isAscending: Bool = true, collation: Collation = .bytes) {
    self.init(path: PathText.names(in: path), isAscending: isAscending, collation: collation)
  }
}
