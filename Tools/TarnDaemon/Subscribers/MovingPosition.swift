import Tarn
import TarnStore

/// A position that a hub sets for each client that it makes a difference for.
final class MovingPosition: FeedKeeper {
  private let kept = Lock<KeptPosition?>(nil)

  var number: UInt32 { 0 }
  // Of one client it says nothing what another one was sent.
  var notesDeliveries: Bool { false }

  func move(to position: ChangePosition?, in snapshot: Snapshot) {
    let made = KeptPosition(at: position.map { FeedPlace($0) }, in: snapshot)
    kept.withLock { $0 = made }
  }

  func state(in snapshot: Snapshot) throws(StorageError) -> FeedState {
    var state = try (kept.withLock { $0 } ?? KeptPosition(at: nil, in: snapshot))
      .state(in: snapshot)
    if state.reason == nil, try state.acknowledged.isForeign(to: snapshot) {
      state.reason = .restored
    }
    return state
  }

  // A hub acknowledges nothing: its clients move on by what they were sent.
  func acknowledge(from: FeedPlace, to: FeedPlace) {}
  func acknowledge(from: FeedPlace, to: FeedPlace, in session: WriteSession, owns: Bool) {}
  func own(_ session: WriteSession) {}
  func release() {}
  func releaseDone() {}
}

extension FeedPlace {
  /// Whether the file has another commit there, as after a backup was put back and written again.
  /// False if its record is not there any more.
  func isForeign(to snapshot: Snapshot) throws(StorageError) -> Bool {
    guard historyID == snapshot.head.historyID, version < snapshot.version else { return false }
    do throws(StorageError) {
      let header = try ChangeLog.header(of: version, in: snapshot.transaction)
      return header.map { $0.meta.commitID != commitID } ?? false
    } catch {
      guard error.code == .corrupted else { throw error }
      return false
    }
  }
}
