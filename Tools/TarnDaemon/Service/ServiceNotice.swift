import CDaemon
import Foundation
import TarnStore
import ToolSupport

/// Tells the service manager how the daemon is, by the protocol of sd_notify(3); does nothing where
/// there is none. Never waits for a manager that does not read, but for the first word.
enum ServiceNotice {
  private static let lastStatus = Lock("")

  static func ready(_ status: String) {
    lastStatus.withLock { $0 = status }
    send("READY=1\nSTATUS=\(status)", waitsSeconds: 5)
  }

  /// The loop goes round.
  static func alive(_ status: String) {
    let isNew = lastStatus.withLock { last in
      defer { last = status }
      return last != status
    }
    if isNew { send("STATUS=\(status)") }
    if ProcessInfo.processInfo.environment["WATCHDOG_USEC"] != nil { send("WATCHDOG=1") }
  }

  static func reloading() {
    var now = timespec()
    clock_gettime(CLOCK_MONOTONIC, &now)
    send("RELOADING=1\nMONOTONIC_USEC=\(now.tv_sec * 1_000_000 + now.tv_nsec / 1000)")
  }

  static func stopping() { send("STOPPING=1") }

  private static func send(_ text: String, waitsSeconds: Int = 0) {
    guard let path = ProcessInfo.processInfo.environment["NOTIFY_SOCKET"] else { return }
    let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | O_CLOEXEC, 0)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    var limit = timeval(tv_sec: waitsSeconds, tv_usec: 0)
    setsockopt(
      descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    let flags = Int32(MSG_NOSIGNAL) | (waitsSeconds == 0 ? Int32(MSG_DONTWAIT) : 0)
    let bytes = Array(text.utf8)
    _ = UnixAddress.with(path) { address, length in
      sendto(descriptor, bytes, bytes.count, flags, address, length) < 0 ? -1 : 0
    }
  }
}
