import TarnStore

/// The instance whose observers a `Delivery` calls, as far as that knows it.
protocol DeliveryHost: LiveHost {
  var delivery: Delivery! { get }
  var store: Store { get }
  var scheduler: Scheduler { get }
  /// What asks for turns; nil for an instance that has none.
  var wakeUp: WakeRegistration? { get }
  /// Traps unless this code runs where the instance lives.
  func checkThread()

  /// Who observes properties of its rows; nil if nobody does.
  var properties: PropertyTable? { get }
  /// Takes an ended observation of a property out.
  func endProperty(_ state: ObservationState)
  /// Lets go of all observations. Nothing is read for that: the scheduler may be gone.
  func dropObservations()

  // MARK: What it shows
  /// The reader over the shown snapshot; nil until something is read.
  var reader: SnapshotReader? { get }
  /// The open write, nil outside of one.
  var session: WriteSession? { get }
  /// What is shown is only where the next difference starts from.
  var needsReset: Bool { get }

  // MARK: How it moves
  /// It follows commits in its turns.
  var autorefresh: Bool { get }
  /// A newer version than the shown one is known.
  var isBehind: Bool { get }
  /// Asks for a turn.
  func scheduleTurn()
  /// The newest snapshot. Throws if the program's classes do not match it.
  func newestFittingSnapshot() throws(StorageError) -> Snapshot
  /// Moves to the newest version.
  ///
  /// - Returns: true if the version changed.
  func advance() throws(StorageError) -> Bool
  /// Moves to a snapshot that is as new as the shown one or newer.
  func advance(to newest: Snapshot) throws(StorageError) -> Bool
  /// Moves to `snapshot`, which covers `changes` since the shown one, as one step.
  ///
  /// - Parameters:
  ///   - prepared: what a worker has worked out of it already.
  ///   - news: what observed objects had before, if that had to be read earlier.
  func move(
    to snapshot: Snapshot, _ changes: ChangeSet, prepared: PreparedSteps, news: [ObjectNews]?
  ) throws(StorageError)
}
