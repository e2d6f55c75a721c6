/// When which change records may go.
///
/// A record leads from the version before it to its own. Somebody who shows a version needs all
/// later records, and holds the version by a read transaction whose id is at most that of the
/// commit that made it. So the records of transactions up to the oldest reader's are needed by
/// nobody. The list of readers is looked at once in a while, not at each commit; readers that
/// died are cleared from it when the oldest one has not moved for a second.
struct Retention {
  private static let lookEvery = Duration.milliseconds(10)
  private static let suspectAfter = Duration.seconds(1)

  private var lastLook: ContinuousClock.Instant?
  private var oldest: UInt64 = 0
  /// Found by the last look, and not used yet.
  private var isNews = false
  private var oldestSince: ContinuousClock.Instant?

  /// The LMDB transaction id up to which records can be removed, nil if nobody has looked since the
  /// last call. What was found earlier holds: readers begin at newer transactions only.
  mutating func takeOldestNeeded() -> UInt64? {
    defer { isNews = false }
    return isNews ? oldest : nil
  }

  /// Looks who reads, if the last look is long enough ago.
  mutating func look(at environment: Environment) {
    let now = ContinuousClock.now
    if let lastLook, lastLook.duration(to: now) < Self.lookEvery { return }
    lastLook = now
    isNews = true
    let found = environment.oldestReaderTransactionID ?? environment.newestTransactionIDHint
    if found != oldest {
      oldest = found
      oldestSince = now
    } else if let since = oldestSince, since.duration(to: now) > Self.suspectAfter {
      oldestSince = now
      _ = try? environment.clearStaleReaders()
    }
  }
}
