package import TarnStore

/// A store in a folder of its own, which goes when the test lets go of this.
package final class TemporaryStore: Sendable {
  package let folder = TemporaryFolder()
  package var path: String { folder.file("test.realm") }

  package init() {}

  /// The store, without waiting for the disk at each commit.
  package func open(_ classes: [ClassDefinition] = []) throws -> Store {
    var options = Store.Options()
    options.isDurable = false
    options.classes = classes
    return try StoreRegistry.open(path, options)
  }
}

extension Store {
  /// One committed write.
  @discardableResult
  package func write<R>(_ body: (WriteSession) throws -> R) throws -> R {
    let session = try WriteSession(SnapshotReader(newestSnapshot())) {}
    let result = try body(session)
    try commit(session)
    return result
  }

  @discardableResult
  package func commit(_ session: WriteSession) throws(StorageError) -> (Snapshot, ChangeSet) {
    try commit(session, acquireGate())
  }

  /// The same with the write lock from the beginning, beside other writers. Nothing is committed if
  /// `body` changes nothing.
  package func writeInTurn(_ body: (WriteSession) throws -> Void) throws {
    let token = try acquireGate()
    let session = try WriteSession(SnapshotReader(newestSnapshot())) {}
    try body(session)
    if !session.isEmpty { try commit(session, token) }
  }

  /// The numbers in a column of a class whose objects have numbers as keys.
  package func numbers(_ column: ColumnID, in id: ClassID) throws -> [Int64: Int64] {
    let reader = try SnapshotReader(newestSnapshot())
    var numbers: [Int64: Int64] = [:]
    try reader.forEachCluster(in: id) { cluster throws(StorageError) in
      for slot in 0..<cluster.image.rowCount {
        let key = cluster.image.key(at: slot)
        guard case .int(let number)? = try reader.value(of: column, at: key, in: id) else {
          trap("a number")
        }
        numbers[key.rawValue] = number
      }
      return true
    }
    return numbers
  }
}
