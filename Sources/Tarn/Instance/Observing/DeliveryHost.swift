import TarnStore

/// The instance whose observers a `Delivery` calls, as far as the `Delivery` knows it.
protocol DeliveryHost: LiveHost {
  var delivery: Delivery! { get }
  var store: Store { get }
  var scheduler: Scheduler { get }
  /// Requests turns; nil for an instance without turns.
  var wakeUp: WakeRegistration? { get }
  /// Traps unless this code runs where the instance lives.
  func checkThread()

  /// The observers of its rows' properties; nil without any.
  var properties: PropertyTable? { get }
  /// Removes an ended observation of a property.
  func endProperty(_ state: ObservationState)
  /// Removes observations of properties whose objects were deleted for good.
  func endProperties()
  /// Drops all observations. Reads nothing, because the scheduler may not exist any more.
  func dropObservations()

  // MARK: The current version
  var state: ShownState { get }
  /// The open write, nil outside of one.
  var session: WriteSession? { get }
  /// Makes every accessor look its row up again at its next use.
  func rowsMoved()

  // MARK: Advancing
  /// It advances in its turns.
  var autorefresh: Bool { get }
  /// A newer version than the current one is known.
  var isBehind: Bool { get }
  /// Requests a turn.
  func scheduleTurn()
  /// The newest snapshot. Throws if the program's classes do not match it.
  func newestFittingSnapshot() throws(StorageError) -> Snapshot
}

extension DeliveryHost {
  /// The reader of the current snapshot; nil until something is read.
  var reader: SnapshotReader? { state.reader }
}
