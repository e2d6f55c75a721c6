package import Foundation

/// The address of a Unix socket, as C functions take it.
package enum UnixAddress {
  /// The longest path, in bytes.
  package static let pathBytesMax = 107

  /// - Parameter path: a longer one is truncated; one that begins with `@` is an abstract name.
  package static func with(
    _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
  ) -> Int32 {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    var bytes = Array(path.utf8.prefix(pathBytesMax))
    // An abstract name begins with a zero, and counts in the address's length.
    let isAbstract = bytes.first == UInt8(ascii: "@")
    if isAbstract { bytes[0] = 0 }
    let head = MemoryLayout<sa_family_t>.size
    let length = isAbstract ? head + bytes.count : MemoryLayout<sockaddr_un>.size
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    return withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        body($0, socklen_t(length))
      }
    }
  }
}
