import TarnStore

/// The commits that are sent as one: a run of commits that are close in time, because the server
/// orders values by the time of their commits.
enum PushRun {
  /// The maximum number of commits. With fewer, later commits would be read more often.
  static let commitsMax = 32_768
  /// The maximum duration of a run, in microseconds. Its stamp is that of the last commit.
  private static let spanMax: UInt64 = 1_000_000

  /// The last version of the run after a version; nil if that is the newest.
  ///
  /// - Parameter count: the maximum number of versions.
  static func end(
    after start: Version, atMost count: Int = commitsMax, in snapshot: Snapshot
  ) throws(StorageError) -> Version? {
    let (start, newest) = (start.rawValue, snapshot.version.rawValue)
    guard start < newest else { return nil }
    var (end, first) = (start, UInt64?.none)
    while end < newest, end - start < UInt64(count) {
      let header = try ChangeLog.header(of: Version(end + 1), in: snapshot.transaction)
      if let stamp = header?.meta.note?.stamp {
        if let first, stamp > first + spanMax { break }
        first = first ?? stamp
      }
      end += 1
    }
    return Version(end)
  }
}
