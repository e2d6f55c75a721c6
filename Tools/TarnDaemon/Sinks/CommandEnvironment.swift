import Foundation
import ToolSupport

/// The environment that commands are started with, but for the variables of a batch.
enum CommandEnvironment {
  /// Meant for this process alone.
  private static let ownNames: Set = [
    "NOTIFY_SOCKET", "LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES", "WATCHDOG_USEC", "WATCHDOG_PID",
    "JOURNAL_STREAM",
  ]
  /// Not of a user: the language, the time zone and where programs are.
  private static let commonNames: Set = ["PATH", "LANG", "LANGUAGE", "TZ"]

  /// The daemon's own; of another user that user's.
  static func variables(
    of user: String?, own: [String: String] = ProcessInfo.processInfo.environment
  ) throws(DeliveryFailure) -> [String: String] {
    guard let user else { return own.filter { !ownNames.contains($0.key) } }
    let common = own.filter { commonNames.contains($0.key) || $0.key.beginsWithBytes(of: "LC_") }
    return common.merging(try account(of: user)) { $1 }
  }

  private static func account(of user: String) throws(DeliveryFailure) -> [String: String] {
    var entry = passwd()
    var found: UnsafeMutablePointer<passwd>?
    var buffer = [CChar](repeating: 0, count: 1 << 14)
    let known = buffer.withUnsafeMutableBufferPointer { buffer -> [String: String]? in
      guard getpwnam_r(user, &entry, buffer.baseAddress!, buffer.count, &found) == 0, found != nil
      else { return nil }
      return [
        "HOME": String(cString: entry.pw_dir), "SHELL": String(cString: entry.pw_shell),
        "USER": user, "LOGNAME": user,
      ]
    }
    guard let known else { throw DeliveryFailure(description: "there is no user '\(user)'") }
    return known
  }
}
