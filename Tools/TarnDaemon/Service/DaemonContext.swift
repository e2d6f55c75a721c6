import Foundation
import ToolSupport

/// What all watches of a daemon share.
final class DaemonContext: Sendable {
  /// How many requests run at the same time.
  private static let requestsMax = 64

  let log: DaemonLog
  let instance: String
  let commands: Slots
  let requests = Slots(DaemonContext.requestsMax)
  let outputs = OutputFiles()
  let handedOver: HandedOverSockets
  let stateFolder: String?
  /// Nil without a state folder.
  let positions: Positions?
  let pauses: SinkPauses

  /// - Throws: `ToolError` if the state folder cannot be made.
  init(_ settings: DaemonSettings, _ log: DaemonLog, makesFolder: Bool = true) throws {
    self.log = log
    handedOver = HandedOverSockets()
    instance = settings.instance
    commands = Slots(settings.commandsMax)
    // systemd gives a list; the first is the one that the unit names first.
    let given = ProcessInfo.processInfo.environment["STATE_DIRECTORY"]?.splitASCII(":").first
    stateFolder = settings.stateFolder ?? given.map(String.init)
    positions = stateFolder.map {
      Positions(in: $0, daemon: settings.instance, settings)
    }
    pauses = SinkPauses(positions)
    if makesFolder { try positions?.make() }
  }

  /// Names a cursor by daemon, watch and sink. Not by the host: a container that is started again
  /// may have another name.
  func cursorName(_ watch: String, _ sink: String) -> String { "\(instance)/\(watch)/\(sink)" }

  /// The name of one of this daemon's cursors as it is now: earlier versions put the host in front.
  /// Nil for the cursors of others.
  func ownName(of cursor: String) -> String? {
    let parts = cursor.splitASCII("/")
    guard parts.count == 3 || parts.count == 4, parts[parts.count - 3] == instance else {
      return nil
    }
    return parts.suffix(3).joined(separator: "/")
  }
}
