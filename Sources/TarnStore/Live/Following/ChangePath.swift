/// A path from an element of a collection to something that a move has changed.
package struct ChangePath: Sendable {
  /// From one object to the next.
  package struct Step: Sendable {
    package let link: LinkStep
    /// The position of the link in the property; empty if the link is the property itself.
    package let positions: [Position]
  }

  /// A position in a list, set or map.
  package enum Position: Sendable {
    /// The old position, if the element existed, and the new one.
    case index(old: Int?, new: Int)
    case key(String)
  }

  /// The change of a property.
  package enum Change: Sendable {
    case value
    case list(IndexChanges)
    case set(IndexChanges)
    case map(KeyChanges)
    /// A change of the backlinks of the object.
    case origins(IndexChanges)
  }

  package let steps: [Step]
  /// The object that has the property.
  package let object: ObjectRef
  package let column: ColumnID
  /// For backlinks the class of the origins, which then has the column.
  package let origin: ClassID?
  /// The position of the changed list or map, if it is nested in the property's value.
  package let positions: [Position]
  package let change: Change
}
