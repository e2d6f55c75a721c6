import TarnStore

/// What another process does to the schema while this instance has the file open.
extension RealmCore {
  /// The program has loaded more classes since the instance was opened, and the file has them now.
  /// They can be used at once if nothing else was committed since, else when the instance moves.
  func learn(_ newer: ModelSchema, _ wanted: Realm.Configuration) throws(StorageError) {
    // Who lists classes gets what the list of the one before says.
    guard configuration.objectTypes == nil, wanted.objectTypes == nil else { return }
    classes.learn(newer)
    guard session == nil, let shown = reader?.snapshot else { return }
    let newest = try store.newestSnapshot()
    if newest.version == shown.version { _ = try advance(to: newest) }
  }

  /// The newest snapshot, if the program's classes fit its schema: every property has the column
  /// that it had. Then all that was found before stays right.
  ///
  /// - Throws: `.schemaMismatch` naming every difference.
  func newestFittingSnapshot() throws(StorageError) -> Snapshot {
    let newest = try store.newestSnapshot()
    let problems = classes.problems(at: newest.schema)
    guard problems.isEmpty else {
      let list = problems.map { "- " + $0 }.joined(separator: "\n")
      throw StorageError(
        .schemaMismatch, operation: "follow", path: store.path,
        detail: "the file was migrated to schema version \(newest.head.schemaVersion), which the "
          + "classes of this program do not match:\n\(list)\nThis instance stays at the version "
          + "that it shows; open the file again with the new classes.")
    }
    return newest
  }
}
