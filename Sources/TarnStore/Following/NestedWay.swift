/// One way from an element of a collection down to something that a move has changed.
package struct NestedWay: Sendable {
  /// From one object to the next.
  package struct Step: Sendable {
    package let link: LinkStep
    /// Where the link is in the property; none for one that is all of it.
    package let positions: [Position]
  }

  /// Where something is in a list, set or map.
  package enum Position: Sendable {
    /// Where it was, if it was there, and where it is.
    case index(old: Int?, new: Int)
    case key(String)
  }

  /// What became of a property.
  package enum Change: Sendable {
    case value
    case list(IndexChanges)
    case set(IndexChanges)
    case map(KeyChanges)
    /// What links to the object.
    case origins(IndexChanges)
  }

  package let steps: [Step]
  /// What has the property.
  package let object: LinkTarget
  package let column: ColumnID
  /// For what links to the object the class of the origins, which then has the column.
  package let origin: ClassID?
  /// Where the list or map is that changed, if it lies within the property's value.
  package let positions: [Position]
  package let change: Change
}
