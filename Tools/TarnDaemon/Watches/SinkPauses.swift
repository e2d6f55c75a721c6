import TarnStore

/// Which sinks are paused: durably if there is a state folder. Any thread.
final class SinkPauses: Sendable {
  private struct Name: Hashable {
    let watch: String
    let sink: String
  }

  private let positions: Positions?
  /// Without a state folder.
  private let names = Lock<Set<Name>>([])

  init(_ positions: Positions?) { self.positions = positions }

  var isDurable: Bool { positions != nil }

  func isPaused(_ watch: String, _ sink: String) -> Bool {
    positions?.isPaused(watch, sink)
      ?? names.withLock { $0.contains(Name(watch: watch, sink: sink)) }
  }

  /// - Throws: `ToolError` if that cannot be noted.
  func set(_ watch: String, _ sink: String, _ isPaused: Bool) throws {
    if let positions { return try positions.setPaused(watch, sink, isPaused) }
    names.withLock { names in
      if isPaused {
        names.insert(Name(watch: watch, sink: sink))
      } else {
        names.remove(Name(watch: watch, sink: sink))
      }
    }
  }
}
