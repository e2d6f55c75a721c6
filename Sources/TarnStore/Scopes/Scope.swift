/// How far an observer looks: which changes count as changes of an object that it is shown.
package enum Scope: Hashable, Sendable {
  /// What is set in the object, or in one that is at most so many links away.
  case depth(Int)
  /// What is set on one of these paths.
  case paths([ScopePath])

  /// The scope of observers of collections that do not ask for another one.
  package static let standard = Scope.depth(3)
}

/// A key path, resolved to columns.
package struct ScopePath: Hashable, Sendable {
  /// The class of the objects that it begins at.
  package var classID: ClassID
  /// The number that the program gives the first property.
  package var property: Int
  /// Each property on the way and the last one: setting one of them changes what is there.
  package var dependencies: [QueryDependency]

  package init(classID: ClassID, property: Int, dependencies: [QueryDependency]) {
    self.classID = classID
    self.property = property
    self.dependencies = dependencies
  }
}

/// The objects that an observer is shown, for a search that begins at them.
package struct ObservedObjects {
  package var keys: () throws(StorageError) -> [ClassID: KeySet]
  /// Going backwards from changes is worth while up to so many objects: a change in an object that
  /// very many link to is found sooner by a search from those that are shown.
  var budget: Int

  /// - Parameter count: about how many there are.
  package init(count: Int, keys: @escaping () throws(StorageError) -> [ClassID: KeySet]) {
    self.keys = keys
    budget = 1_000 + 4 * count
  }
}
