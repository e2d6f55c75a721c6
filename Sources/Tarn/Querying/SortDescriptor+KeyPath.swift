extension SortDescriptor {
  /// Sorts by a property of a class, such as `\Dog.age`. Traps if it is not `@Persisted`.
  public init<T: ObjectBase>(keyPath: PartialKeyPath<T>, ascending: Bool = true) {
    self.init(keyPath, ascending: ascending, for: .order)
  }

  init<T: ObjectBase>(
    _ keyPath: PartialKeyPath<T>, ascending: Bool = true, for use: KeyPathFault.Use
  ) {
    let steps = Tracer.steps(of: keyPath, for: use)
    self.init(keyPath: steps.map(\.columnName).joined(separator: "."), ascending: ascending)
  }
}
