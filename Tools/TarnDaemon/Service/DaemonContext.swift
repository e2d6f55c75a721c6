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
  private let stateFolder: String?

  /// - Throws: `ToolError` if the state folder cannot be made.
  init(_ settings: DaemonSettings, _ log: DaemonLog, makesFolder: Bool = true) throws {
    self.log = log
    instance = settings.instance
    commands = Slots(settings.commandsMax)
    // systemd gives a list; the first is the one that the unit names first.
    let given = ProcessInfo.processInfo.environment["STATE_DIRECTORY"]?.splitASCII(":").first
    stateFolder = settings.stateFolder ?? given.map(String.init)
    guard let stateFolder, makesFolder else { return }
    try FileManager.default.createDirectory(
      atPath: "\(stateFolder)/positions", withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700])
  }

  /// Names a cursor by host, daemon, watch and sink, so that no two daemons share one.
  func cursorName(_ watch: String, _ sink: String) -> String { prefix + "\(watch)/\(sink)" }

  /// What the names of all cursors of this daemon begin with.
  var prefix: String {
    "\(ProcessInfo.processInfo.hostName.prefix(64))/\(instance)/"
  }

  /// The position of a sink of a file; nil without a state folder.
  func positions(_ watch: String, _ sink: String, _ path: String) throws -> PositionFile? {
    guard let name = positionPath(watch, sink, path) else { return nil }
    return try PositionFile(name)
  }

  func removePositions(_ watch: String, _ sink: String, _ path: String) {
    if let name = positionPath(watch, sink, path) { unlink(name) }
  }

  func movePositions(_ watch: String, _ sink: String, _ path: String, to newWatch: String) {
    guard let old = positionPath(watch, sink, path), let new = positionPath(newWatch, sink, path)
    else { return }
    rename(old, new)
  }

  private func positionPath(_ watch: String, _ sink: String, _ path: String) -> String? {
    let sum = path.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) {
      ($0 ^ UInt64($1)) &* 0x100_0000_01b3
    }
    return stateFolder.map { "\($0)/positions/\(watch).\(sink).\(String(sum, radix: 16))" }
  }
}
