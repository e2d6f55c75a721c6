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
  /// Forgets observations of properties whose objects are gone for good.
  func endProperties()
  /// Lets go of all observations. Nothing is read for that: the scheduler may be gone.
  func dropObservations()

  // MARK: What it shows
  var state: ShownState { get }
  /// The open write, nil outside of one.
  var session: WriteSession? { get }
  /// Makes every accessor find its row again at its next use.
  func rowsMoved()

  // MARK: How it moves
  /// It follows commits in its turns.
  var autorefresh: Bool { get }
  /// A newer version than the shown one is known.
  var isBehind: Bool { get }
  /// Asks for a turn.
  func scheduleTurn()
  /// The newest snapshot. Throws if the program's classes do not match it.
  func newestFittingSnapshot() throws(StorageError) -> Snapshot
}

extension DeliveryHost {
  /// The reader over the shown snapshot; nil until something is read.
  var reader: SnapshotReader? { state.reader }
}
