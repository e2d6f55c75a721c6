import TarnStore

extension Results {
  /// Describes how the objects are found: the index or primary key, or the reason why a scan is
  /// quicker, the tests of each object, the source of the order, and how a commit updates the
  /// results once they are evaluated.
  ///
  ///     print(dogs.where { $0.age == 5 }.sorted(by: \.name).explain())
  ///     // find: the index on 'age': at most 120 of 1000000 objects
  ///     // test: nothing is left to test
  ///     // order: sorted after they are found
  ///     // keep: each commit changes the rows that it touches
  ///
  /// The choice is made whenever the collection is evaluated, by counting entries of indexes;
  /// `explain` makes it for the Realm's current version and evaluates nothing. The wording is for
  /// people and may change.
  public func explain() -> String {
    check()
    return trapping { () throws(StorageError) in try model.explanation(core.rows()) }
      .joined(separator: "\n")
  }
}
