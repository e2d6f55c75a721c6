import TarnStore

/// Compares the last commit that a server has of a replica with the replica's own record of it.
enum ReplicaStanding: Equatable {
  case same
  /// The server has received a push whose answer was lost, up to this position.
  case ahead(FeedPlace)
  /// The same, but its commits were joined with later ones since.
  case joined(CommitName)
  /// Another server, or one that was restored, which lacks commits of this file.
  ///
  /// - Parameters:
  ///   - place: the commits after this position are sent again.
  ///   - isAll: whether these are all that it lacks. It may lack more than the file keeps.
  case behind(FeedPlace, isAll: Bool)
  /// The server has commits of a copy of this file, or of a later state than the backup from which
  /// this file was restored.
  case stranger

  /// - Parameter own: the last commit that the server has.
  init(
    _ own: (version: Int64, commit: Int64), _ replica: Replica, isSameServer: Bool
  ) throws(StorageError) {
    let state = replica.state
    if own == state.sent.pair {
      self = .same
      return
    }
    let place = try Self.place(own, replica)
    let name = CommitName(own)
    let isJoined = state.joinedTime != 0 && name.version <= state.done.version.rawValue
    if isJoined, name.version > state.sent.version, place != nil || name == state.attempt?.last {
      self = .joined(name)
    } else if let place, place.version.rawValue > state.sent.version {
      self = .ahead(place)
    } else if let place {
      // Only a restore sets the server back, even if it claims to be the same one.
      self = .behind(place, isAll: !isSameServer)
    } else if isSameServer {
      self = .stranger
    } else if let kept = try Self.oldestKept(replica), own.version < Int64(kept.version.rawValue) {
      let isAll = own.version == 0 && kept.version.rawValue <= state.start
      self = .behind(kept, isAll: isAll)
    } else {
      self = .stranger
    }
  }

  /// The commit before the oldest one that can be sent again.
  private static func oldestKept(_ replica: Replica) throws(StorageError) -> FeedPlace? {
    let state = replica.state
    let snapshot = try replica.store.newestSnapshot()
    if state.joinedTime != 0 { return state.done }
    guard let oldest = try ChangeLog.oldestVersion(in: snapshot.transaction) else { return nil }
    let version = Version(max(oldest.rawValue, state.start))
    guard version < state.done.version else { return state.done }
    guard let header = try ChangeLog.header(of: version, in: snapshot.transaction) else {
      return nil
    }
    return FeedPlace(
      historyID: snapshot.head.historyID, version: version, commitID: header.meta.commitID)
  }

  /// The commit in this file; nil if it does not belong to this file, or is too old.
  private static func place(
    _ own: (version: Int64, commit: Int64), _ replica: Replica
  ) throws(StorageError) -> FeedPlace? {
    guard own.version > 0 else { return nil }
    let snapshot = try replica.store.newestSnapshot()
    let version = Version(UInt64(own.version))
    guard version <= snapshot.version,
      let header = try ChangeLog.header(of: version, in: snapshot.transaction),
      header.meta.commitID == UInt64(bitPattern: own.commit)
    else { return nil }
    return FeedPlace(
      historyID: snapshot.head.historyID, version: version, commitID: header.meta.commitID)
  }
}
