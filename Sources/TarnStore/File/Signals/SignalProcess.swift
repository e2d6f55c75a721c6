/// A process, for people; only its lock says whether it is alive.
///
/// Its id is the one in its own process namespace. Seen from another container, the process has a
/// different id, and its id may be another process's: their start times distinguish them.
package struct SignalProcess: Hashable, Sendable, CustomStringConvertible {
  package let processID: Int32
  /// In clock ticks since boot (`ProcessStatus`); 0 if unknown.
  package let startTime: UInt64

  /// "process 4711 (notes)", "process 17 in another container"; without a name if it is unknown.
  package var description: String {
    switch sighting {
    case .here(let status): "process \(processID) (\(status.name))"
    case .elsewhere: "process \(processID) in another container"
    case .unknown: "process \(processID)"
    }
  }

  /// The name shown by the system's tools; nil if unknown.
  package var name: String? {
    if case .here(let status) = sighting { status.name } else { nil }
  }

  /// It was stopped by a signal or a debugger, and runs again when continued.
  package var isStopped: Bool {
    if case .here(let status) = sighting { status.isStopped } else { false }
  }

  /// Its id is not valid here, or is another process's.
  package var isElsewhere: Bool { if case .elsewhere = sighting { true } else { false } }

  private enum Sighting {
    case here(ProcessStatus)
    case elsewhere, unknown
  }

  private var sighting: Sighting {
    if startTime == 0 { return .unknown }
    guard let status = ProcessStatus.of(processID) else {
      // A system that hides other users' processes also hides process 1.
      return ProcessStatus.of(1) == nil ? .unknown : .elsewhere
    }
    // Time namespaces may shift the clock by fractions of a tick.
    let (sooner, later) = (min(status.startTime, startTime), max(status.startTime, startTime))
    return later - sooner <= 1 ? .here(status) : .elsewhere
  }
}
