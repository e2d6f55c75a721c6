import CDaemon
import Foundation
import ToolSupport

/// A check as the user that the daemon will run as.
enum DroppedRights {
  /// Makes this process one of a user, for good.
  ///
  /// - Parameter groups: those that its unit adds.
  static func become(_ user: String, _ groups: [String]) throws {
    guard tarn_user_exists(user) else { throw ToolError("there is no user '\(user)'") }
    if geteuid() != 0 {
      if getpwnam(user)?.pointee.pw_uid == geteuid() { return }
      throw UsageError("--user: only root can check as another user")
    }
    var numbers: [gid_t] = []
    for group in groups {
      guard let entry = getgrnam(group) else {
        throw ToolError("there is no group '\(group)', which the unit gives the daemon")
      }
      numbers.append(entry.pointee.gr_gid)
    }
    let code = tarn_become(user, numbers, Int32(numbers.count))
    guard code == 0 else { throw ToolError("cannot become", user, errno: code) }
  }
}
