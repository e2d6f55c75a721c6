import TarnStore

extension RealmCore {
  /// Removes the objects of results of this instance.
  func delete<Element: ObjectBase>(_ results: Results<Element>) {
    let session = writing("delete objects")
    results.check()
    let id = results.live.model.query.classID
    trapping { () throws(StorageError) in
      if results.live.model.isWholeClass { return try session.clear(id) }
      try session.delete(results.rows().objects, in: id)
    }
  }
}
