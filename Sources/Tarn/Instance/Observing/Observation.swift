import Synchronization
import TarnStore

/// A receiver of changes of one instance, on its scheduler.
///
/// How deliveries are ordered: Each move of the instance to another version is a step with a
/// number. The effect of a step on an observation is logged under that number when the step is
/// made, while both versions are held; nothing is computed from the file later. A round has a
/// target, the newest step when it began, and calls each observation with all changes up to the
/// target that it has not received, merged. A callback that begins a write may cause a nested round
/// with a later target; when the outer round continues, its observations have received everything
/// and are skipped. So nothing is lost and nothing is reported twice, however deep the nesting.
class Observation {
  let state: ObservationState
  /// The order of calls within a round: that of registration.
  let serial: Int
  /// The last step that was delivered to the callback.
  var seen: Int
  /// Has changes to deliver, and is in its table's queue.
  var isQueued = false

  init(state: ObservationState, serial: Int, seen: Int) {
    self.state = state
    self.serial = serial
    self.seen = seen
  }

  /// True if a change up to step `target` has not been delivered.
  func hasPendingChange(upTo target: Int) -> Bool { false }

  /// It cannot be called before a worker is done.
  var waitsForWorker: Bool { false }

  /// Calls the callback with all changes up to step `target` that it has not received.
  func deliver(upTo target: Int, _ host: any DeliveryHost) {}

  /// True if its callback reads the state after the changes.
  var readsTarget: Bool { false }

  /// Skips the current step's changes for this observation.
  ///
  /// - Parameter past: the state before the step.
  func skip(step: Int, from past: PastState) {}

  /// Notifies the callback that no further changes can follow.
  func end(with error: StorageError) {}
}

/// An observation of an instance as a whole. It logs no changes: `Delivery` calls it.
class RealmObservation: Observation {
  /// The instance shows a newer version, or committed a write of its own.
  func tellOfMove() {}

  /// The instance stays where it is, and a newer version exists.
  func tellOfNewerVersion() {}
}

/// The life of one observation, shared by its token and by the instance that calls it.
///
/// An observation ends once, and a callback starts only before that: so none starts after
/// `invalidate()` has returned on the observing scheduler.
final class ObservationState: Sendable {
  let target: ObservationTarget
  private let isAlive = Atomic<Bool>(true)

  init(_ target: ObservationTarget) { self.target = target }

  var isActive: Bool { isAlive.load(ordering: .acquiring) }

  /// False if it had ended before.
  @discardableResult
  func end() -> Bool { isAlive.exchange(false, ordering: .acquiringAndReleasing) }
}

/// The target of an observation, where its instance has registered it.
enum ObservationTarget: Sendable {
  case realm
  case object(ClassID, ObjectKey)
  case collection(WeakSource)
  case property
  /// By another token, in another instance.
  case elsewhere
}
