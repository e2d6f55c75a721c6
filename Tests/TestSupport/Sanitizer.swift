import Foundation

/// The sanitizer under which `Tools/sanitize.sh` runs the tests.
package enum Sanitizer: Sendable {
  case address, thread

  /// Nil without one.
  package static let active: Sanitizer? = {
    let names = ProcessInfo.processInfo.environment.keys
    if names.contains("TSAN_OPTIONS") { return .thread }
    return names.contains("ASAN_OPTIONS") ? .address : nil
  }()

  /// Whether programs can start while the length of files is limited. The runtime of the thread
  /// sanitizer ends them with SIGBUS.
  package static var startsWithShortFiles: Bool { active != .thread }
}
