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
    if newest.version == shown.version { _ = try delivery.advance(to: newest) }
  }
}
