/// A process, for people: whether it lives is for its lock to say.
///
/// Its id is the number that it has where it runs. In a container that is another number than here,
/// where the same number may be another process's: the two are told apart by when they started.
package struct SignalProcess: Hashable, Sendable, CustomStringConvertible {
  package let processID: Int32
  /// In clock ticks since the machine's start (`ProcessStatus`); 0 if it is not known.
  package let startTime: UInt64

  /// "process 4711 (notes)", "process 17 in another container"; without a name where none is known.
  package var description: String {
    switch sighting {
    case .here(let status): "process \(processID) (\(status.name))"
    case .elsewhere: "process \(processID) in another container"
    case .unknown: "process \(processID)"
    }
  }

  /// As the system's tools show it; nil if it cannot be found out.
  package var name: String? {
    if case .here(let status) = sighting { status.name } else { nil }
  }

  /// It was stopped by a signal or a debugger, and goes on when somebody tells it to.
  package var isStopped: Bool {
    if case .here(let status) = sighting { status.isStopped } else { false }
  }

  /// Its id means nothing here, or another process.
  package var isElsewhere: Bool { if case .elsewhere = sighting { true } else { false } }

  private enum Sighting {
    case here(ProcessStatus)
    case elsewhere, unknown
  }

  private var sighting: Sighting {
    if startTime == 0 { return .unknown }
    guard let status = ProcessStatus.of(processID) else {
      // Where the system hides other users' processes, it hides the first of all too.
      return ProcessStatus.of(1) == nil ? .unknown : .elsewhere
    }
    // Time namespaces shift the clock by fractions of a tick as well.
    let (sooner, later) = (min(status.startTime, startTime), max(status.startTime, startTime))
    return later - sooner <= 1 ? .here(status) : .elsewhere
  }
}
