import TarnStore

/// The rows as they were shared with the server before commits deleted objects: after the last
/// download before the deletion, or else after the last push. They have the links that the
/// deletion set to nil.
final class RowsBeforeDeletion {
  private let newest: SnapshotReader
  /// Newest first.
  private let versions: [Version]
  private var known: [Version: PastRows] = [:]

  /// - Parameters:
  ///   - range: of the commits.
  ///   - cursor: the number of the session's cursor.
  init(_ range: FeedRange, without cursor: UInt32, _ newest: SnapshotReader) throws(StorageError) {
    self.newest = newest
    var versions = [range.from]
    try ChangeLog.forEachHeader(after: range.from, in: newest.snapshot.transaction) {
      header, _ throws(StorageError) in
      guard header.to <= range.to else { return false }
      if header.meta.note?.cursors.contains(cursor) == true { versions.append(header.to) }
      return true
    }
    self.versions = versions.reversed()
  }

  /// - Returns: nil if the server never had the object.
  func rows(with object: ObjectRef) throws(StorageError) -> PastRows? {
    for version in versions {
      let rows = try rows(at: version)
      if try rows.contains(object) { return rows }
    }
    return nil
  }

  private func rows(at version: Version) throws(StorageError) -> PastRows {
    if let rows = known[version] { return rows }
    let made = try PastRows(at: version, from: newest)
    known[version] = made
    return made
  }
}
