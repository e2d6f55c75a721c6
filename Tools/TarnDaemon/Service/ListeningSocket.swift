import CDaemon
import Foundation
import ToolSupport

/// A listening socket: made here, or handed over by systemd.
final class ListeningSocket: Sendable {
  let descriptor: Int32
  private let path: String?

  /// Makes it with these rights. A socket that nobody listens on any more is replaced.
  init(at path: String, mode: UInt32) throws {
    self.path = path
    descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | O_CLOEXEC | O_NONBLOCK, 0)
    guard descriptor >= 0 else { throw ToolError("cannot make", "a socket", errno: errno) }
    var code = bind(path, mode)
    if code == EADDRINUSE, !Self.isAlive(path) {
      unlink(path)
      code = bind(path, mode)
    }
    guard code == 0, listen(descriptor, 128) == 0 else {
      let found = code == 0 ? errno : code
      close(descriptor)
      throw ToolError("cannot listen on", path, errno: found)
    }
  }

  /// One for TCP.
  init(host: String, port: Int) throws {
    path = nil
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV
    var found: UnsafeMutablePointer<addrinfo>?
    // Brackets surround an address of IPv6.
    let name = host.beginsWithBytes(of: "[") ? String(host.dropFirst().dropLast()) : host
    let code = getaddrinfo(name.isEmpty ? nil : name, "\(port)", &hints, &found)
    guard code == 0, let address = found else {
      throw ToolError("cannot listen on \(host):\(port): \(String(cString: gai_strerror(code)))")
    }
    defer { freeaddrinfo(found) }
    descriptor = socket(
      address.pointee.ai_family, Int32(SOCK_STREAM.rawValue) | O_CLOEXEC | O_NONBLOCK, 0)
    var yes: Int32 = 1
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
    guard Foundation.bind(descriptor, address.pointee.ai_addr, address.pointee.ai_addrlen) == 0,
      listen(descriptor, 128) == 0
    else {
      let code = errno
      close(descriptor)
      throw ToolError("cannot listen on", "\(host):\(port)", errno: code)
    }
  }

  /// One that systemd has made.
  init(descriptor: Int32) {
    self.descriptor = descriptor
    path = nil
    _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
  }

  deinit {
    if let path { unlink(path) }
    close(descriptor)
  }

  private func bind(_ path: String, _ mode: UInt32) -> Int32 {
    // The rights hold from the first moment on.
    let former = umask(mode_t(~mode & 0o777))
    defer { umask(former) }
    return UnixAddress.with(path) { Foundation.bind(descriptor, $0, $1) } == 0 ? 0 : errno
  }

  private static func isAlive(_ path: String) -> Bool {
    let probe = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | O_CLOEXEC, 0)
    defer { close(probe) }
    return UnixAddress.with(path) { connect(probe, $0, $1) } == 0
  }

  func accept() -> Int32? {
    let found = tarn_accept(descriptor)
    return found >= 0 ? found : nil
  }
}
