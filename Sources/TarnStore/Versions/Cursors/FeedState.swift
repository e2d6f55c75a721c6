/// The state of a cursor.
package struct FeedState: Sendable {
  /// The position acknowledged last.
  package var acknowledged: FeedPlace
  /// Why the cursor cannot continue from there; nil if it can.
  package var reason: FeedReason?

  package init(acknowledged: FeedPlace, reason: FeedReason?) {
    self.acknowledged = acknowledged
    self.reason = reason
  }
}

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

/// Why a consumer needs a full resync. The raw values are stored in files.
package enum FeedReason: UInt8, Sendable, CaseIterable {
  case snapshot = 1
  case expired = 2
  case unreadable = 3
  case restored = 4
  case schema = 5
  case selection = 6
}
