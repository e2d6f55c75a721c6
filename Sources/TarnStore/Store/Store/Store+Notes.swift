internal import Glibc

/// The notes in change records: the time and the author of each commit.
extension Store {
  /// The name of this program.
  private static let programName: String = {
    let path = CommandLine.arguments.first ?? ""
    return String(path[(path.lastASCII("/").map(path.utf8.index(after:)) ?? path.startIndex)...])
  }()

  /// The name of this process, for commits of sessions without a name: `tarn[1234]`.
  static func nameOfProcess() -> String {
    let number = "[\(getpid())]"
    let room = CommitNote.originBytesMax - number.utf8.count
    return CommitNote.shortened(programName, to: room) + number
  }

  /// The note of a commit. The former note is that of this process's last commit, if no other
  /// process has committed since, and otherwise the one in the file.
  func commitNote(
    of session: WriteSession, after base: HeadRecord, in transaction: borrowing WriteTransaction
  ) throws(StorageError) -> CommitNote {
    guard session.cursorsOfCommit.count <= CommitNote.cursorsMax else {
      throw StorageError(
        .limitExceeded, operation: "commit", path: path,
        detail:
          "one write can acknowledge batches of at most \(CommitNote.cursorsMax) cursors, and "
          + "this one has \(session.cursorsOfCommit.count). Nothing was written.")
    }
    let (known, floor) = withNotes { ($0?.commitID == base.commitID ? $0?.note : nil, $1) }
    return CommitNote(
      after: known ?? storedNote(of: base.version, in: transaction), at: CommitNote.now,
      elapsed: signal.microseconds(sinceCommit: base.commitID), cursors: session.cursorsOfCommit,
      origin: session.origin ?? processName,
      stampAtLeast: floor)
  }

  /// The note in the file; nil if its record is missing or damaged. That must not prevent commits:
  /// times then count from this commit.
  private func storedNote(
    of version: Version, in transaction: borrowing WriteTransaction
  ) -> CommitNote? {
    do throws(StorageError) {
      return try ChangeLog.header(of: version, in: transaction)?.meta.note
    } catch {
      StoreLog.shared.write(.warning, "\(error)")
      return nil
    }
  }

  /// Gives all later commits of this process greater stamps, because another machine's clock may be
  /// ahead. The caller limits it.
  package func raiseStamp(atLeast stamp: UInt64) {
    raiseStampFloor(to: stamp)
  }

  /// The versions whose change records are in the file, oldest first.
  package func retainedVersions() throws(StorageError) -> [RetainedRecord] {
    let snapshot = try newestSnapshot()
    var records: [RetainedRecord] = []
    try ChangeLog.forEachHeader(in: snapshot.transaction) {
      (header, byteCount) throws(StorageError) in
      records.append(RetainedRecord(header, byteCount: byteCount))
      return true
    }
    return records
  }
}

/// A version whose change record is in the file.
package struct RetainedRecord: Sendable {
  package let version: Version
  package let commitID: UInt64
  package let schemaChanged: Bool
  /// The names of the classes that the commit changed, by their ids.
  package let classes: [ChangeRecord.Summary]
  /// Nil for a commit of an older library.
  package let note: CommitNote?
  /// The bytes of the record.
  package let byteCount: Int

  init(_ header: ChangeRecord.Header, byteCount: Int) {
    version = header.to
    commitID = header.meta.commitID
    schemaChanged = header.schemaChanged
    classes = header.classes
    note = header.meta.note
    self.byteCount = byteCount
  }
}
