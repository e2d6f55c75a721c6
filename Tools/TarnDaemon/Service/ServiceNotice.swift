import CDaemon
import Foundation

/// Tells the service manager how the daemon is; does nothing where there is none.
enum ServiceNotice {
  static func ready(_ status: String) { send("READY=1\nSTATUS=\(status)") }

  /// The loop goes round.
  static func alive(_ status: String) { send("WATCHDOG=1\nSTATUS=\(status)") }

  static func reloading() {
    var now = timespec()
    clock_gettime(CLOCK_MONOTONIC, &now)
    send("RELOADING=1\nMONOTONIC_USEC=\(now.tv_sec * 1_000_000 + now.tv_nsec / 1000)")
  }

  static func stopping() { send("STOPPING=1") }

  private static func send(_ text: String) { _ = sd_notify(0, text) }
}
