import TarnStore

extension RealmCore {
  /// Removes the objects of results of this instance.
  func delete<Element: ObjectBase>(_ results: Results<Element>) {
    let session = writing("delete objects")
    results.check()
    let id = results.model.query.classID
    if results.model.isWholeClass {
      return clearing([id]) { trapping { () throws(StorageError) in try session.clear(id) } }
    }
    let keys = results.rows().objects
    deleting(keys.map { ObjectRef(classID: id, key: $0) }) {
      trapping { () throws(StorageError) in try session.delete(keys, in: id) }
    }
  }
}
