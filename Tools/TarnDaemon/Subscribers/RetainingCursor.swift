import Dispatch
import Tarn
import TarnStore
import ToolSupport

/// A cursor that no consumer acknowledges: it follows the newest version at a distance, so that
/// clients that come back within it miss nothing.
final class RetainingCursor: Sendable {
  /// How far, unless the watch says otherwise.
  static let standard = CursorLimits(age: 3_600_000_000, bytes: 256 << 20)

  private let cursor: ChangeCursor
  private let held: HeldCursor
  private let file: OpenFile
  private let limits: CursorLimits
  /// Where it moves: that is a commit, which waits for other writers.
  private let queue = DispatchQueue(label: "tarn-retaining")
  private let isMoving = Lock(false)

  init(_ name: String, _ watch: WatchSettings, _ file: OpenFile) throws {
    self.file = file
    limits = watch.keeps?.limits ?? Self.standard
    var found: HeldCursor?
    cursor = try file.cursor(
      name, watch, startingAt: .newest, keeping: watch.needsOldValues ? .oldValues : .keys,
      limit: LagLimit.none,
      expecting: nil
    ) { held, _ throws(StorageError) in
      found = held
      return held
    }
    guard let found else { throw ToolError("the cursor was not opened") }
    held = found
    try Self.keepSelected(found, file)
  }

  /// Each client knows for which selection it has a position: with another one, what is retained
  /// stays.
  private static func keepSelected(_ held: HeldCursor, _ file: OpenFile) throws {
    let state = try held.state(in: file.store.newestSnapshot())
    guard state.reason == .selection else { return }
    do {
      try held.acknowledge(from: state.acknowledged, to: state.acknowledged)
    } catch  where error.code == .invalidInput {
      // The file has no such commit: the cursor moves on.
    }
  }

  func close() { cursor.close() }

  /// Acknowledges what is farther away than the limits. Never waits.
  func moveSoon(_ failed: @escaping @Sendable (any Error) -> Void) {
    let isUnderWay = isMoving.withLock { isMoving in
      defer { isMoving = true }
      return isMoving
    }
    if isUnderWay { return }
    queue.async { [self] in
      defer { isMoving.withLock { $0 = false } }
      do {
        try move()
      } catch  where !cursor.isClosed {
        failed(error)
      } catch {}
    }
  }

  private func move() throws {
    let snapshot = try file.store.newestSnapshot()
    let state = try held.state(in: snapshot)
    if state.reason != nil {
      return try held.acknowledge(from: state.acknowledged, to: FeedPlace(snapshot.head))
    }
    guard let newest = try header(snapshot.version, snapshot)?.meta.note else { return }
    // The last version that is too far away; the farther, the older.
    var (low, high) = (state.acknowledged.version.rawValue, snapshot.version.rawValue)
    while low + 1 < high {
      let middle = low + (high - low) / 2
      guard let note = try header(Version(middle), snapshot)?.meta.note else { return }
      if isTooFar(note, newest) { low = middle } else { high = middle }
    }
    guard low > state.acknowledged.version.rawValue,
      let header = try header(Version(low), snapshot)
    else { return }
    let place = FeedPlace(
      historyID: snapshot.head.historyID, version: Version(low), commitID: header.meta.commitID)
    try held.acknowledge(from: state.acknowledged, to: place)
  }

  private func header(
    _ version: Version, _ snapshot: Snapshot
  ) throws(StorageError) -> ChangeRecord.Header? {
    try ChangeLog.header(of: version, in: snapshot.transaction)
  }

  private func isTooFar(_ note: CommitNote, _ newest: CommitNote) -> Bool {
    if let age = limits.age, newest.age - min(newest.age, note.age) > age { return true }
    guard let bytes = limits.bytes else { return false }
    return newest.logBytes - min(newest.logBytes, note.logBytes) > bytes
  }
}
