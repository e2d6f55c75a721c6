extension FeedPlace {
  /// Why a consumer cannot continue from this position; nil if the file shows that it has had the
  /// commit: as its newest version, by the record of the version, or as the position of a cursor.
  ///
  /// Without any of these it may be a commit of another copy of the file, even if all records after
  /// it are there.
  func fault(in snapshot: Snapshot) throws(StorageError) -> FeedReason? {
    let head = snapshot.head
    guard historyID == head.historyID, version <= head.version else { return .restored }
    if version == head.version { return commitID == head.commitID ? nil : .restored }
    // A history has one beginning.
    if version == .zero { return nil }
    do throws(StorageError) {
      if let header = try ChangeLog.header(of: version, in: snapshot.transaction) {
        return header.meta.commitID == commitID ? nil : .restored
      }
    } catch {
      guard error.code == .corrupted else { throw error }
      return .unreadable
    }
    let cursors = try FeedTable.read(in: snapshot).cursors.values
    return cursors.contains { $0.acknowledged == self } ? nil : .expired
  }
}
