import Tarn
import TarnStore

/// A position that a hub sets for each client that it makes a difference for.
final class MovingPosition: FeedKeeper {
  private let kept = Lock<KeptPosition?>(nil)

  var number: UInt32 { 0 }
  // Of one client it says nothing what another one was sent.
  var notesDeliveries: Bool { false }

  /// - Parameter place: where the client is; nil if it has nothing of the file.
  func move(to place: FeedPoint.Place?, in snapshot: Snapshot) throws(StorageError) {
    let at = place.map { FeedPlace($0.position) }
    // A position of another file has a reason of its own.
    let isOfFile = at?.historyID == snapshot.head.historyID
    let made = try KeptPosition(
      at: at, because: isOfFile && place?.standing == .ofOtherSelection ? .selection : nil,
      isConfirmed: place?.standing == .confirmed, in: snapshot)
    kept.withLock { $0 = made }
  }

  func state(in snapshot: Snapshot) throws(StorageError) -> FeedState {
    if let known = kept.withLock({ $0 }) { return try known.state(in: snapshot) }
    return try KeptPosition(at: nil, in: snapshot).state(in: snapshot)
  }

  // A hub acknowledges nothing: its clients move on by what they were sent.
  func acknowledge(from: FeedPlace, to: FeedPlace) {}
  func acknowledge(from: FeedPlace, to: FeedPlace, in session: WriteSession, owns: Bool) {}
  func own(_ session: WriteSession) {}
  func release() {}
  func releaseDone() {}
}
