import TarnStore

/// The version that the instance can advance to.
extension Instance {
  /// The newest snapshot, if the program's classes fit its schema: every property still has its
  /// column. Then everything found before stays valid.
  ///
  /// - Throws: `.schemaMismatch` naming every difference.
  func newestFittingSnapshot() throws(StorageError) -> Snapshot {
    let newest = try store.newestSnapshot()
    let problems = problems(at: newest.schema)
    guard problems.isEmpty else {
      let list = problems.map { "- " + $0 }.joined(separator: "\n")
      throw StorageError(
        .schemaMismatch, operation: "follow", path: store.path,
        detail: "the file was migrated to schema version \(newest.head.schemaVersion), which the "
          + "classes of this program do not match:\n\(list)\nThis instance stays at its "
          + "version; open the file again with the new classes.")
    }
    return newest
  }

  var isBehind: Bool {
    guard let shownVersion else { return false }
    return store.newestKnownVersion > shownVersion
  }

  func scheduleTurn() {
    wakeUp?.schedule()
  }
}
