internal import Glibc

/// Limits set by the system's administrator, for messages about exhausted resources.
enum SystemLimit {
  /// - Parameter name: the path below /proc/sys, such as "fs/inotify/max_user_watches".
  /// - Returns: digits, or "unknown" if the system does not show it.
  static func value(of name: String) -> String {
    guard
      let file = try? OwnedDescriptor(
        opening: "/proc/sys/" + name, flags: O_RDONLY, operation: "read")
    else { return "unknown" }
    var text = [UInt8](repeating: 0, count: 64)
    let count = unsafe text.withUnsafeMutableBytes {
      unsafe read(file.raw, $0.baseAddress, $0.count)
    }
    let digits = text.prefix(max(0, count)).prefix { (0x30...0x39).contains($0) }
    return digits.isEmpty ? "unknown" : String(decoding: digits, as: UTF8.self)
  }
}
