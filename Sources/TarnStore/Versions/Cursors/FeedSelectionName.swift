/// One class of a selection as it is stored in the file, to be compared with the selection with
/// which a cursor is opened.
package struct FeedSelectionName: Hashable, Sendable {
  package var className: String
  /// The condition as text, including its values; nil for all objects.
  package var condition: String?
  /// The paths in order; nil for all properties.
  package var keyPaths: [String]?

  package init(className: String, condition: String?, keyPaths: [String]?) {
    self.className = className
    self.condition = condition
    self.keyPaths = keyPaths
  }
}
