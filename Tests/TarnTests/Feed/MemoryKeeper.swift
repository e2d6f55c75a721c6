@testable import Tarn
@testable import TarnStore

/// Keeps the state of a cursor in memory: what the file does, without its commits.
final class MemoryKeeper: FeedKeeper {
  let number: UInt32
  private let state: Lock<FeedState>
  private let releases = Lock(0)

  init(_ store: Store, reason: FeedReason? = nil, number: UInt32 = 1) throws {
    self.number = number
    let head = try store.newestSnapshot().head
    state = Lock(FeedState(acknowledged: FeedPlace(head), reason: reason))
  }

  init(_ state: FeedState) {
    number = 1
    self.state = Lock(state)
  }

  var kept: FeedState {
    get { state.withLock { $0 } }
    set { state.withLock { $0 = newValue } }
  }
  var releaseCount: Int { releases.withLock { $0 } }

  func state(in snapshot: Snapshot) throws(StorageError) -> FeedState { kept }

  func acknowledge(from: FeedPlace, to: FeedPlace) throws(StorageError) {
    let isNext = state.withLock { state in
      guard state.acknowledged == from else { return false }
      state = FeedState(acknowledged: to, reason: nil)
      return true
    }
    guard isNext else {
      throw StorageError(
        .invalidInput, operation: "acknowledge", path: "",
        detail: "the acknowledged version is \(kept.acknowledged.version.rawValue)")
    }
  }

  func acknowledge(
    from: FeedPlace, to: FeedPlace, in session: WriteSession, owns: Bool
  ) throws(StorageError) {
    try acknowledge(from: from, to: to)
  }

  func own(_ session: WriteSession) {}
  func release() { releases.withLock { $0 += 1 } }
  func releaseDone() { release() }
}

/// A file with a cursor whose state is in memory. Change records are kept by a frozen Realm of the
/// first version.
struct MemoryCursor {
  let realm: Realm
  let keeper: MemoryKeeper
  let cursor: ChangeCursor
  private let first: Realm

  init(
    _ realm: Realm, of selection: CursorSelection = .wholeRealm, reason: FeedReason? = nil,
    keeping level: OldValueLevel = .keys, pending: FeedReason? = nil
  ) throws {
    realm.core.store.keepBefore { _ in level }
    realm.refresh()
    self.realm = realm
    first = realm.freeze()
    keeper = try MemoryKeeper(realm.core.store, reason: reason)
    cursor = ChangeCursor(
      "test", keeper, realm.core, selection, keeping: level,
      toldThrough: keeper.kept.acknowledged.version, pending: pending)
  }

  /// As the next owner after the death of this one.
  func reopened(of selection: CursorSelection) throws -> ChangeCursor {
    ChangeCursor(
      "test", keeper, realm.core, selection,
      toldThrough: try realm.core.store.newestSnapshot().version)
  }
}
