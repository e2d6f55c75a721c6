import Tarn

/// A cache of a class's objects as data, in a process of its own: others write, it follows.
actor ObjectCache {
  private(set) var objects: [ObjectIdentity: [String: RecordedValue]] = [:]
  /// The version that it has.
  private(set) var version: UInt64 = 0

  /// Returns when the cursor is closed.
  func follow(_ cursor: ChangeCursor, ofClass name: String) async throws {
    for try await batch in cursor.batches() {
      let changes = batch.changes(ofClass: name)
      if batch.fullResync != nil {
        objects = [:]
        for object in batch.objects(ofClass: name) {
          let identity = changes.identity(of: object)
          objects[identity] = changes.values(of: identity)
        }
      }
      if changes.isCleared { objects = [:] }
      for change in changes.recorded { objects[change.identity] = change.values }
      version = batch.to
      try await batch.acknowledge()
    }
  }
}
