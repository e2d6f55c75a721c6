/// Names a list, set or map: a property of an object, or a collection within a value of it.
package struct SequencePlace: Hashable, Sendable {
  package var classID: ClassID
  package var key: ObjectKey
  package var column: ColumnID
  /// Nil for the property's own collection.
  package var nested: CollectionID?
  /// How many collections it is in: those on the way by which it was come to. No part of the name.
  package private(set) var depth = 0

  /// As deep as lists and maps may lie within values. What is deeper is damaged, most likely in a
  /// circle, and is not followed.
  package static let depthMax = 100

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
    var place = atAnyDepth(id)
    place.depth = depth + 1
    return place
  }

  /// The same for those who go through all collections of a property once each, be they in a
  /// circle.
  func atAnyDepth(_ id: CollectionID) -> SequencePlace {
    SequencePlace(classID: classID, key: key, column: column, nested: id)
  }

  func checkDepth() throws(StorageError) {
    guard depth > Self.depthMax else { return }
    throw Self.tooDeep("read collection")
  }

  static func tooDeep(_ operation: String) -> StorageError {
    StorageError(
      .corrupted, operation: operation, path: "",
      detail: "Lists and maps within a value are over \(depthMax) deep, or contain themselves.")
  }

  /// For those who meet a list or map within a value once more on their way through all of it: each
  /// is held once, and a file in which some have two on each level would lead on without end.
  package static func referredTwice(_ operation: String) -> StorageError {
    StorageError(
      .corrupted, operation: operation, path: "",
      detail: "A list or map within a value is referenced twice.")
  }

  package static func == (a: SequencePlace, b: SequencePlace) -> Bool {
    a.classID == b.classID && a.key == b.key && a.column == b.column && a.nested == b.nested
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(classID)
    hasher.combine(key)
    hasher.combine(column)
    hasher.combine(nested)
  }
}
