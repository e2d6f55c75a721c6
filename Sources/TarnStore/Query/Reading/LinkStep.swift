/// A link, or a collection of links, that a path follows.
package struct LinkStep: Hashable, Sendable {
  /// The class that has the link.
  package var classID: ClassID
  package var column: ColumnID
  /// The target's class.
  package var target: ClassID
  /// The path goes from the target to the objects that link to it.
  package var isBackwards: Bool

  package init(
    classID: ClassID, column: ColumnID, target: ClassID, isBackwards: Bool = false
  ) {
    self.classID = classID
    self.column = column
    self.target = target
    self.isBackwards = isBackwards
  }
}
