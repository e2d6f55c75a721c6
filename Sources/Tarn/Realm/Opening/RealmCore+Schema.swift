import TarnStore

/// Changes of the schema by others while this instance has the file open.
extension RealmCore {
  /// The program has loaded more classes since the instance was opened, and the file has them now.
  /// They can be used at once if nothing else was committed since, else after the next advance.
  func learn(_ newer: ModelSchema, _ wanted: Realm.Configuration) throws(StorageError) {
    // An instance with a list of classes keeps its list.
    guard configuration.objectTypes == nil, wanted.objectTypes == nil else { return }
    classes.learn(newer)
    guard session == nil, let shown = reader?.snapshot else { return }
    let newest = try store.newestSnapshot()
    if newest.version == shown.version { _ = try delivery.advance(to: newest) }
  }
}
