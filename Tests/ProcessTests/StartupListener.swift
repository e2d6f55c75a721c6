import Foundation
import TarnStore

/// A port of this machine that says no to TLS, as a server without it does or somebody in between,
/// and notes whether a client goes on without.
final class StartupListener: Sendable {
  let port: UInt16
  private let descriptor: Int32
  private let plain = Lock(false)

  struct NoPort: Error {}

  init() throws {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | O_CLOEXEC, 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, length) == 0 && listen(descriptor, 8) == 0
          && getsockname(descriptor, $0, &length) == 0
      }
    }
    guard isBound else { throw NoPort() }
    (self.descriptor, port) = (descriptor, UInt16(bigEndian: address.sin_port))
    Thread { [self] in serve() }.start()
  }

  /// Whether a client has sent its user's name without TLS since the last call.
  func takeIsPlain() -> Bool {
    plain.withLock { plain in
      defer { plain = false }
      return plain
    }
  }

  /// Ends the thread.
  func end() { shutdown(descriptor, Int32(SHUT_RDWR)) }

  private func serve() {
    while true {
      let client = accept(descriptor, nil, nil)
      if client < 0 { break }
      while answer(client) {}
      close(client)
    }
    close(descriptor)
  }

  /// - Returns: whether the client may ask for something else.
  private func answer(_ client: Int32) -> Bool {
    var bytes = [UInt8](repeating: 0, count: 8)
    guard recv(client, &bytes, 8, Int32(MSG_WAITALL)) == 8 else { return false }
    // A request for TLS or GSSAPI.
    let isRequest = bytes[4..<7] == [0x04, 0xd2, 0x16] && [0x2f, 0x30].contains(bytes[7])
    guard isRequest else {
      plain.withLock { $0 = true }
      return false
    }
    return send(client, "N", 1, 0) == 1
  }
}
