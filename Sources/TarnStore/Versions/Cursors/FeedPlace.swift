/// A position in the history of a file.
package struct FeedPlace: Hashable, Sendable {
  package var historyID: Bytes16
  package var version: Version
  package var commitID: UInt64

  package init(historyID: Bytes16, version: Version, commitID: UInt64) {
    self.historyID = historyID
    self.version = version
    self.commitID = commitID
  }

  /// The position of a snapshot.
  package init(_ head: HeadRecord) {
    self.init(historyID: head.historyID, version: head.version, commitID: head.commitID)
  }
}
