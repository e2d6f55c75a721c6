extension SortDescriptor {
  /// Sorts by a property of a class, such as `\Dog.age`. Traps if it is not `@Persisted`.
  public init<T: KeypathSortable>(
    keyPath: PartialKeyPath<T>, ascending: Bool = true, collation: Collation = .bytes
  ) {
    self.init(keyPath, ascending: ascending, collation: collation, for: .order)
  }

  init<T: KeypathSortable>(
    _ keyPath: PartialKeyPath<T>, ascending: Bool = true, collation: Collation = .bytes,
    for use: KeyPathFault.Use
  ) {
    self.init(
      keyPath: T.properties(along: keyPath, for: use).columnName, ascending: ascending,
      collation: collation)
  }
}
