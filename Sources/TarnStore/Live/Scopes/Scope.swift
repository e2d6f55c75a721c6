/// The scope of an observer: which changes count as changes of an observed object.
package enum Scope: Hashable, Sendable {
  /// Properties set in the object, or in one at most that many links away.
  case depth(Int)
  /// Properties set on one of these paths.
  case paths([ScopePath])

  /// The scope of observers of collections that do not choose another one.
  package static let standard = Scope.depth(3)
}

/// A key path, resolved to columns.
package struct ScopePath: Hashable, Sendable {
  /// The class of the objects at which it begins.
  package var classID: ClassID
  /// The program's number for the first property.
  package var property: Int
  /// Each property on the path and the last one: setting one of them changes the value at its end.
  package var dependencies: [QueryDependency]

  package init(classID: ClassID, property: Int, dependencies: [QueryDependency]) {
    self.classID = classID
    self.property = property
    self.dependencies = dependencies
  }
}

/// The objects of an observer, for a search that begins at them.
package struct ObservedObjects {
  package var keys: () throws(StorageError) -> [ClassID: KeySet]
  /// The maximum number of objects for a backwards search from changes: a change in an object that
  /// very many objects link to is found faster by a search from the observed ones.
  var budget: Int

  /// - Parameter count: the approximate number of objects.
  package init(count: Int, keys: @escaping () throws(StorageError) -> [ClassID: KeySet]) {
    self.keys = keys
    budget = 1_000 + 4 * count
  }
}
