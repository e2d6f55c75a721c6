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
    try (kept.withLock { $0 } ?? KeptPosition(at: nil, in: snapshot)).state(in: snapshot)
  }

  // A hub acknowledges nothing: its clients move on by what they were sent.
  func acknowledge(from: FeedPlace, to: FeedPlace) {}
  func acknowledge(from: FeedPlace, to: FeedPlace, in session: WriteSession, owns: Bool) {}
  func own(_ session: WriteSession) {}
  func release() {}
  func releaseDone() {}
}
