/// Finds the change records that no reader needs any more.
///
/// A record leads from the version before it to its own. An instance at a version needs all later
/// records, and pins the version with a read transaction whose id is at most that of the version's
/// commit. So the records of transactions up to the oldest reader's are no longer needed. The
/// reader table is checked at intervals, not at each commit; dead readers are cleared from it when
/// the oldest one has not moved for a second.
struct OldestReader {
  private static let lookEvery = Duration.milliseconds(10)

  /// How long the oldest reader may stay the same before it is checked for being dead.
  var suspectAfter = Duration.seconds(1)
  private var lastLook: ContinuousClock.Instant?
  private var oldest: UInt64 = 0
  /// Whether the result of the last check was not yet used.
  private var isNews = false
  private var oldestSince: ContinuousClock.Instant?

  /// The LMDB transaction id up to which records can be removed; nil without a check since the last
  /// call. An older result stays valid: readers begin only at newer transactions.
  mutating func takeOldestNeeded() -> UInt64? {
    defer { isNews = false }
    return isNews ? oldest : nil
  }

  /// Notes that the next commit has more to remove.
  mutating func continueAtNextCommit() { isNews = true }

  /// Checks the readers, if the last check is long enough ago.
  ///
  /// - Returns: true, at most once a second, while the oldest one does not move.
  mutating func look(at environment: Environment) -> Bool {
    let now = ContinuousClock.now
    if let lastLook, lastLook.duration(to: now) < Self.lookEvery { return false }
    lastLook = now
    isNews = true
    let found = environment.oldestReaderTransactionID ?? environment.newestTransactionIDHint
    if found != oldest {
      oldest = found
      oldestSince = now
    } else if let since = oldestSince, since.duration(to: now) > suspectAfter {
      oldestSince = now
      _ = try? environment.clearStaleReaders()
      return true
    }
    return false
  }
}
