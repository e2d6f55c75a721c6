extension ChangeSet {
  /// Traps if the set is inconsistent. For tests.
  package func checkInvariants() {
    require(from <= to)
    requireAscending(classes.map(\.id))
    for entry in classes { entry.checkInvariants() }
  }
}

extension ClassChanges {
  fileprivate func checkInvariants() {
    require(!isEmpty, "a class in a change set has changes")
    require(!isCleared || deleted.isEmpty)
    inserted.checkInvariants()
    deleted.checkInvariants()
    let gone = inserted.union(deleted)
    requireAscending(touched.map(\.column))
    require(
      zip(backTouched, backTouched.dropFirst()).allSatisfy {
        ($0.origin, $0.column) < ($1.origin, $1.column)
      })
    for keys in touched.map(\.keys) + backTouched.map(\.keys) {
      keys.checkInvariants()
      require(!keys.isEmpty && !keys.intersects(gone))
    }
    requireAscending(sequences.map(\.name))
    for change in sequences {
      change.script.checkInvariants()
      require(!change.script.isIdentity, "a sequence in a change set has changes")
      require(touchedKeys(in: change.name.column).contains(change.name.key))
    }
  }
}

private func requireAscending<T: Comparable>(_ items: [T]) {
  require(zip(items, items.dropFirst()).allSatisfy { $0 < $1 })
}
