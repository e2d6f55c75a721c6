import TarnStore

extension Results {
  /// How the objects are found, in words: which index or primary key leads to them or why a scan is
  /// quicker, what each is tested for, where the order comes from, and what a commit does to them
  /// once they are there.
  ///
  ///     print(dogs.where { $0.age == 5 }.sorted(by: \.name).explain())
  ///     // find: the index on 'age': at most 120 of 1000000 objects
  ///     // test: nothing is left to test
  ///     // order: sorted after they are found
  ///     // keep: each commit changes the rows that it touches
  ///
  /// The choice is made anew whenever the collection is evaluated, by counting entries of indexes;
  /// `explain` makes it for what the Realm shows now and evaluates nothing. The words are for
  /// people and may change.
  public func explain() -> String {
    check()
    return trapping { () throws(StorageError) in try model.explanation(core.rows()) }
      .joined(separator: "\n")
  }
}
