import TarnStore

/// The rows as they were shared with the server before commits deleted objects: after the last
/// download before the deletion, or else after the last push. They have the links that the deletion
/// set to nil.
final class RowsBeforeDeletion {
  private let newest: SnapshotReader
  private let history: SequenceHistory
  /// Newest first.
  private let versions: [Version]
  private var known: [Version: PastRows] = [:]

  /// - Parameters:
  ///   - range: the range of the commits.
  ///   - classes: the exchanged classes.
  ///   - cursor: the number of the session's cursor.
  init(
    _ range: FeedRange, _ classes: Set<ClassID>, without cursor: UInt32, _ newest: SnapshotReader
  ) throws(StorageError) {
    self.newest = newest
    history = try SequenceHistory(
      after: range.from, upTo: range.to, of: classes, assignmentsOf: [:], without: cursor,
      in: newest.snapshot)
    var versions = [range.from]
    try ChangeLog.forEachHeader(after: range.from, in: newest.snapshot.transaction) {
      header, _ throws(StorageError) in
      guard header.to <= range.to else { return false }
      if header.meta.note?.cursors.contains(cursor) == true { versions.append(header.to) }
      return true
    }
    self.versions = versions.reversed()
  }

  /// The rows before each deletion of an object: an integer key is also that of its successors.
  ///
  /// - Returns: none if the server never had the object.
  func rows(with object: ObjectRef, _ primaryKey: Value) throws(StorageError) -> [PastRows] {
    var found: [Version: PastRows] = [:]
    for deletion in history.deletions(of: primaryKey, in: object.classID) {
      for version in versions where version < deletion.version {
        let rows = try rows(at: version)
        guard try rows.contains(object) else { continue }
        found[version] = rows
        break
      }
    }
    return found.sorted { $0.key < $1.key }.map(\.value)
  }

  private func rows(at version: Version) throws(StorageError) -> PastRows {
    if let rows = known[version] { return rows }
    let made = try PastRows(at: version, from: newest)
    known[version] = made
    return made
  }
}
