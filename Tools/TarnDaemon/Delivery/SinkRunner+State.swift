import Dispatch
import Tarn
import TarnStore

extension SinkRunner {
  struct State {
    var cursor: ChangeCursor?
    var grouped: GroupedAcknowledgements?
    /// Wakes it at each commit while it has no cursor.
    var registration: StoreRegistration?
    /// Wakes it when a commit may concern the cursor.
    var following: FeedRegistration?
    /// When the next step is due.
    var due: DispatchTime?
    /// Not before this there may be a delivery.
    var notBefore = DispatchTime.now()
    var backoff: Backoff
    var hasStopped = false
    /// Is called once, when the cursor stands, or cannot be opened soon.
    var begun: (@Sendable () -> Void)?
    var beganAt = DispatchTime.now()

    var isBeginning: Bool { begun != nil && beganAt + Passing.time > .now() }
    var lastFlush = DispatchTime(uptimeNanoseconds: 1)
    var isFlushDue = false
    /// What is acknowledged and not in the position file.
    var unsaved: ChangePosition?
    /// Identifies the consumer to receivers.
    var consumer = ""
    var isPaused = false
    /// Whether a cursor that is made begins with all objects, whatever the watch says.
    var beginsWithAll = false
  }
}
