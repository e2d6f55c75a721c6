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
  /// - Parameter former: the state before the step.
  func skip(step: Int, from former: PastState) {}

  /// Notifies the callback that no further changes can follow.
  func end(with error: StorageError) {}
}
