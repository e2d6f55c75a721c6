import TarnStore

/// What an operator can do with a sink.
enum SinkAction: String, CaseIterable, Sendable {
  /// Delivers nothing until it is resumed.
  case pause
  case resume
  /// Drops what the receiver lacks now.
  case skip
  /// Sends all objects again, as a new beginning.
  case resend
  /// Sends a delivery without objects, which the receiver can tell from others.
  case `try`
}

/// The address of an action: `/watches/WATCH/sinks/SINK/ACTION`.
struct SinkAddress: Equatable {
  let watch: String
  let sink: String
  let action: SinkAction

  init?(_ path: String) {
    let parts = path.splitASCII("/").map(String.init)
    guard parts.count == 5, parts[0] == "watches", parts[2] == "sinks",
      let action = SinkAction(rawValue: parts[4])
    else { return nil }
    (watch, sink, self.action) = (parts[1], parts[3], action)
  }
}
