/// How far an observer looks: which changes count as changes of an object that it is shown.
package enum Reach: Hashable, Sendable {
  /// What is set in the object, or in one that it reaches over so many links.
  case links(Int)
  /// What is set on one of these paths.
  case paths([ObservedPath])

  /// What observers of collections are told without saying more.
  package static let standard = Reach.links(3)
}

/// A key path as the file has it.
package struct ObservedPath: Hashable, Sendable {
  /// The class of the objects that it begins at.
  package var classID: ClassID
  /// The number that the program gives the first property.
  package var property: Int
  /// Each property on the way and the last one: to set one of them is to change what is there.
  package var dependencies: [QueryDependency]

  package init(classID: ClassID, property: Int, dependencies: [QueryDependency]) {
    self.classID = classID
    self.property = property
    self.dependencies = dependencies
  }
}

/// The objects that somebody looks at, as far as looking for changes from their side needs them.
package struct LookedAt {
  /// About how many there are.
  package var count: Int
  package var keys: () throws(StorageError) -> [ClassID: KeySet]

  package init(count: Int, keys: @escaping () throws(StorageError) -> [ClassID: KeySet]) {
    self.count = count
    self.keys = keys
  }

  /// Going backwards from changes is worth while up to so many objects; one that very many link to
  /// is found sooner from the side of those who look.
  var budget: Int { 1_000 + 4 * count }
}
