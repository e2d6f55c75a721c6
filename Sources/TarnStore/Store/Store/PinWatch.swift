/// Watches how many bytes of freed pages are kept for readers of old states: the file grows by as
/// much, and does not shrink when they end.
struct PinWatch {
  /// The bytes from which on the log has a warning.
  var warnAt = PinWatch.byteCountToWarn {
    didSet { nextWarning = warnAt }
  }
  private var nextWarning = PinWatch.byteCountToWarn
  /// The last check against a limit that was not exceeded.
  private var lastCheck: (at: ContinuousClock.Instant, limit: Int)?

  private static let byteCountToWarn = 64 << 20
  /// A check reads the list of the pages that all commits since the oldest state have freed.
  private static let checkEvery = Duration.milliseconds(100)

  /// Whether to warn now: at first, and each time that the bytes have doubled.
  mutating func warns(at byteCount: Int) -> Bool {
    if byteCount < warnAt / 2 { nextWarning = warnAt }
    guard byteCount >= nextWarning else { return false }
    nextWarning = 2 * byteCount
    return true
  }

  /// Whether the limit was checked so recently that it need not be checked again.
  func isChecked(_ limit: Int, at now: ContinuousClock.Instant) -> Bool {
    guard let lastCheck, lastCheck.limit <= limit else { return false }
    return lastCheck.at.duration(to: now) < Self.checkEvery
  }

  mutating func noteChecked(_ limit: Int, at now: ContinuousClock.Instant) {
    lastCheck = (now, limit)
  }
}

extension Store {
  /// Warns in the log if an old state is being read for which many pages are kept. Call this at
  /// intervals, holding no lock.
  package func warnOfPins() {
    if let warning = pinWarning() { StoreLog.shared.write(.warning, warning) }
  }

  /// The warning; nil if there is nothing to warn of, or nothing new.
  func pinWarning() -> String? {
    guard let byteCount = try? keptByteCount(above: pinWatch.withLock { $0.warnAt / 2 }),
      pinWatch.withLock({ $0.warns(at: byteCount) }),
      let state = try? pinnedStates().first
    else { return nil }
    return "\(path): \(state.sentence). The pages that commits have freed since, \(byteCount) "
      + "bytes, cannot be used again before it ends or advances. The file does not shrink then. "
      + "Readers are listed by 'tarn inspect'"
  }

  /// The oldest state that is being read, if more bytes are kept for it than the limit. A result
  /// that does not exceed it may be a tenth of a second old.
  package func oldestState(keepingMoreThan limit: Int) throws(StorageError) -> PinnedState? {
    let now = ContinuousClock.now
    if pinWatch.withLock({ $0.isChecked(limit, at: now) }) { return nil }
    if try keptByteCount(above: limit) > limit, let state = try pinnedStates().first,
      state.keptBytes > limit
    {
      return state
    }
    pinWatch.withLock { $0.noteChecked(limit, at: now) }
    return nil
  }

  /// The bytes of pages that are kept for readers of old states; 0 if they cannot exceed `floor`.
  private func keptByteCount(above floor: Int) throws(StorageError) -> Int {
    // Most files never have as many pages that are not in use.
    let sizes = environment.statistics
    let used = sizes.branchPages + sizes.leafPages + sizes.overflowPages
    guard (sizes.pageCount - used) * sizes.pageByteCount > floor,
      let oldest = environment.oldestReaderTransactionID,
      oldest < environment.newestTransactionIDHint
    else { return 0 }
    let snapshot = try newestSnapshot()
    defer { withExtendedLifetime(snapshot) {} }
    let kept = try KeptPages(since: oldest, in: snapshot.transaction)
    return kept.count(since: oldest) * sizes.pageByteCount
  }
}
