/// One class of a selection as it is kept in the file, to be compared with the one that a cursor is
/// opened with.
package struct FeedSelectionName: Hashable, Sendable {
  package var className: String
  /// The condition as text, with its values; nil for all objects.
  package var condition: String?
  /// The paths in order; nil for all properties.
  package var keyPaths: [String]?

  package init(className: String, condition: String?, keyPaths: [String]?) {
    self.className = className
    self.condition = condition
    self.keyPaths = keyPaths
  }
}
