import TarnStore

/// Work that a worker does for an instance before the turn that needs it. An instance has at most
/// one; commits made meanwhile are merged into the next.
struct WorkAhead {
  /// The limits up to which a turn computes by itself.
  struct Limits {
    /// False if every turn computes by itself: the caller that pumps a manual scheduler has chosen
    /// the moment, and expects one turn to do everything.
    var usesWorker: Bool
    /// The rows that all sources of a turn read together, in rows that a scan passes.
    var rows = 20_000
    /// The cost of looking up and sorting in one changed row, in rows that a scan passes.
    var rowsPerLookup = 50
    /// The maximum number of commits whose records a turn merges, and of bytes in these records.
    var commits = 500
    var recordBytes = 32_768
    /// Called on the worker's thread before it begins; tests delay it here.
    var willWork: (@Sendable () -> Void)?

    init(on scheduler: Scheduler) {
      if case .manual = scheduler { usesWorker = false } else { usesWorker = true }
    }

    /// The cost in rows that a scan passes.
    func rows(of cost: LiveCost) -> Int {
      let (lookups, overflow) = cost.lookedUp.multipliedReportingOverflow(by: rowsPerLookup)
      return saturatingSum(cost.scanned, overflow ? .max : lookups)
    }
  }

  let work: LiveWork
  /// The step of the instance at which it began.
  let step: Int
  /// True for a move to a newer version, false for the rows of first calls only.
  let isMove: Bool
  /// The sources of the items, in their order.
  let sources: [any ObservedSource]
}
