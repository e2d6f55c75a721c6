/// Identifies a list, set or map: a property of an object, or a collection nested in its value.
package struct SequencePlace: Hashable, Sendable {
  package var classID: ClassID
  package var key: ObjectKey
  package var column: ColumnID
  /// Nil for the property's own collection.
  package var nested: CollectionID?
  /// The number of collections that contain it, on the path by which it was reached. Not part of
  /// the identity.
  package private(set) var depth = 0

  /// The deepest nesting of lists and maps in values. Anything deeper is damaged, most likely
  /// cyclic, and is not followed.
  package static let depthMax = 100

  package init(
    classID: ClassID, key: ObjectKey, column: ColumnID, nested: CollectionID? = nil
  ) {
    self.classID = classID
    self.key = key
    self.column = column
    self.nested = nested
  }

  /// A collection nested in this one, or in this property's value.
  package func nested(_ id: CollectionID) -> SequencePlace {
    var place = atAnyDepth(id)
    place.depth = depth + 1
    return place
  }

  /// The same for code that processes all collections of a property once each, even cyclic ones.
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

  /// The error for a list or map that is found again while all nested ones are read: each has one
  /// owner, and a file in which some have two on each level could be read without end.
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
