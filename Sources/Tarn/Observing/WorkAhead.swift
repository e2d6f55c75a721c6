import TarnStore

/// Work that a worker does for an instance before the turn which needs it. An instance has one at
/// most; what comes meanwhile is merged into the next.
struct WorkAhead {
  /// Up to where a turn computes by itself.
  struct Limits {
    /// False where every turn computes by itself: whoever pumps a manual scheduler has chosen the
    /// moment, and one turn is to do all that there is.
    var usesWorker: Bool
    /// The rows that all sources of a turn read together, in rows that a scan passes.
    var rows = 20_000
    /// A row that changed is looked up and sorted in within the time in which a scan passes so
    /// many.
    var rowsPerLookup = 50
    /// The commits whose records a turn merges, and the bytes that these have.
    var commits = 500
    var recordBytes = 32_768
    /// Called on the worker's thread before it begins; tests hold it up here.
    var willWork: (@Sendable () -> Void)?

    init(on scheduler: Scheduler) {
      if case .manual = scheduler { usesWorker = false } else { usesWorker = true }
    }

    /// In rows that a scan passes.
    func rows(of cost: LiveCost) -> Int {
      let (lookups, overflow) = cost.lookedUp.multipliedReportingOverflow(by: rowsPerLookup)
      return saturatingSum(cost.scanned, overflow ? .max : lookups)
    }
  }

  let work: LiveWork
  /// The step of the instance that it begins from.
  let step: Int
  /// It is a move to a newer version; else the rows for first calls only.
  let isMove: Bool
  /// What the items are about, in their order.
  let sources: [any ObservedSource]
}
