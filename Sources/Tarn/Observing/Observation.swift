import TarnStore

/// Something that is told of changes by one instance, on its scheduler.
///
/// How deliveries are ordered. Each move of the shown version is a step with a number. What a step
/// means for an observation is logged with that number when the step is made, while both of its
/// ends are held; nothing is worked out from the file later. A round has a target, the step that
/// was newest when it began, and calls each observation with everything that it has not seen up to
/// that target, merged. A callback that begins a write may cause a nested round with a later
/// target; when the outer round goes on, its observations have seen all of that and are passed
/// over. So nothing is lost and nothing is told twice, however deep the nesting.
class Observation {
  let state: ObservationState
  /// The order of calls within a round: that of registration.
  let serial: Int
  /// The last step that the callback has been told of.
  var seen: Int
  /// Has something to be told, and is in its table's queue for that.
  var isQueued = false

  init(state: ObservationState, serial: Int, seen: Int) {
    self.state = state
    self.serial = serial
    self.seen = seen
  }

  /// True if there is something to be told that happened up to step `target`.
  func hasPendingChange(upTo target: Int) -> Bool { false }

  /// Cannot be called before a worker is done.
  var waitsForWorker: Bool { false }

  /// Calls the callback with everything up to step `target` that it has not been told.
  func deliver(upTo target: Int, _ host: any DeliveryHost) {}

  /// True if its callback reads the state that its news lead to.
  var readsTarget: Bool { false }

  /// Leaves the current step's news out for this observation.
  ///
  /// - Parameter former: the state before the step.
  func skip(step: Int, from former: PastState) {}

  /// Tells the callback that nothing will come any more.
  func end(with error: StorageError) {}
}
