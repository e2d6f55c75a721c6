/// A state that an instance has shown, or that lies between two commits of one transaction.
package enum PastState {
  case version(Snapshot)
  /// After some of the commits that share a transaction. Nobody but the instance that made them has
  /// seen it; in the file there is only what all of them left.
  case between(WriteSession)

  /// Nil for a state that is no version of the file.
  package var snapshot: Snapshot? {
    if case .version(let snapshot) = self { snapshot } else { nil }
  }

  /// What is there.
  package func rows() throws(StorageError) -> StoreRows {
    switch self {
    case .version(let snapshot): StoreRows(try SnapshotReader(snapshot))
    case .between(let session): StoreRows(session.reader, session)
    }
  }
}
