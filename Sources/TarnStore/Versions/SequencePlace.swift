/// Names a list, set or map: a property of an object, or a collection within a value of it.
package struct SequencePlace: Hashable, Sendable {
  package var classID: ClassID
  package var key: ObjectKey
  package var column: ColumnID
  /// Nil for the property's own collection.
  package var nested: CollectionID?

  package init(
    classID: ClassID, key: ObjectKey, column: ColumnID, nested: CollectionID? = nil
  ) {
    self.classID = classID
    self.key = key
    self.column = column
    self.nested = nested
  }

  /// A collection within a value of this one, or of this property.
  package func nested(_ id: CollectionID) -> SequencePlace {
    SequencePlace(classID: classID, key: key, column: column, nested: id)
  }
}
