import TarnStore

extension Realm {
  /// Undoes one commit by a new one: properties that it set get their former values, objects that
  /// it added are deleted, and objects that it deleted are added again under their keys, with the
  /// links to them.
  ///
  /// The old values come from the change records of that commit and all later ones, which must have
  /// kept them. Begins and commits a write like `write`. If nothing is left to change, nothing is
  /// committed. Links to objects that no longer exist stay nil; lists and sets do not get them
  /// back.
  ///
  /// - Parameters:
  ///   - version: the version that the commit made.
  ///   - overwriting: true to undo the commit even if later ones changed the same properties and
  ///     objects, whose changes are then lost.
  /// - Throws: ``UndoRefusal`` with the conflicting later changes; `Realm.Error.invalidInput` if
  ///   the version does not exist, its record or its old values are not in the file, or a migration
  ///   followed. Nothing is written then.
  public func undo(_ version: UInt64, overwriting: Bool = false) throws {
    try restoring { session throws(StorageError) in
      let restoring = try Restoring(undoing: Version(version), in: session)
      return overwriting ? (restoring, []) : (restoring, restoring.conflicts)
    } refusal: {
      UndoRefusal(version: version, conflicts: $0)
    }
  }

  /// Returns to the state of a version, by a commit that undoes all later ones.
  ///
  /// - Parameter version: a version since which every commit has kept its old values.
  /// - Throws: `Realm.Error.invalidInput` if the version does not exist, the later records or their
  ///   old values are not in the file, or a migration followed. Nothing is written then.
  public func revert(to version: UInt64) throws {
    try restoring { session throws(StorageError) in
      (try Restoring(revertingTo: Version(version), in: session), [])
    } refusal: {
      UndoRefusal(version: version, conflicts: $0)
    }
  }

  private func restoring(
    _ prepare: (WriteSession) throws(StorageError) -> (Restoring, [UndoConflict]),
    refusal: ([UndoRefusal.Conflict]) -> UndoRefusal
  ) throws {
    try write {
      guard let session = core.session else { return }
      let (restoring, conflicts) = try publicly { () throws(StorageError) in
        try prepare(session)
      }
      guard conflicts.isEmpty else {
        throw refusal(
          try publicly { () throws(StorageError) in
            try conflicts.map { conflict throws(StorageError) in
              try UndoRefusal.Conflict(conflict, restoring)
            }
          })
      }
      let telling = core.tellOfTakingBack(restoring.changes)
      try publicly { () throws(StorageError) in try restoring.run() }
      core.rowsMoved()
      core.finish(telling)
      if session.isEmpty { cancelWrite() }
    }
  }
}

extension UndoRefusal.Conflict {
  fileprivate init(_ conflict: UndoConflict, _ restoring: Restoring) throws(StorageError) {
    let described = restoring.schema[conflict.object.classID]
    let cause: Cause =
      switch conflict.cause {
      case .modified(let column): .modified(property: described[column].name)
      case .deleted: .deleted
      case .replaced: .replaced
      case .linked: .linked
      case .keyTaken: .keyTaken
      }
    self.init(
      className: described.name,
      primaryKey: try restoring.primaryKey(of: conflict.object)?.description, cause: cause)
  }
}
