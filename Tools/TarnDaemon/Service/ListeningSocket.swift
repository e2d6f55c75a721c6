import CDaemon
import Foundation
import TarnStore
import ToolSupport

/// A listening socket: made here, or handed over by systemd.
final class ListeningSocket: Sendable {
  enum Address: Equatable {
    case path(String)
    case port(Int)
    /// Not a socket that listens for streams.
    case other
  }

  let descriptor: Int32
  /// The path that it was made at, and which socket that is.
  private let place: (path: String, identity: FileIdentity)?
  private let hasEnded = Lock(false)

  /// Makes it with these rights. A socket that has no listener any more is replaced; anything
  /// else that is there is kept.
  init(at path: String, mode: UInt32) throws {
    let made = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | O_CLOEXEC | O_NONBLOCK, 0)
    guard made >= 0 else { throw ToolError("cannot make", "a socket", errno: errno) }
    do {
      // Two daemons that begin at the same time look, remove and listen one after the other.
      let folder = open(URL(fileURLWithPath: path).deletingLastPathComponent().path, O_RDONLY)
      defer { if folder >= 0 { close(folder) } }
      if folder >= 0 { flock(folder, LOCK_EX) }
      try Self.start(made, at: path, mode)
    } catch {
      close(made)
      throw error
    }
    descriptor = made
    place = Self.identity(of: path).map { (path, $0) }
  }

  private static func start(_ descriptor: Int32, at path: String, _ mode: UInt32) throws {
    var code = bind(descriptor, path, mode)
    if code == EADDRINUSE {
      var facts = stat()
      guard lstat(path, &facts) != 0 || facts.st_mode & S_IFMT == S_IFSOCK else {
        throw ToolError(
          "cannot listen on \(path): it is not a socket; remove it or give another path")
      }
      guard isAbandoned(path) else {
        throw ToolError("cannot listen on \(path): another process listens there")
      }
      unlink(path)
      code = bind(descriptor, path, mode)
    }
    guard code == 0 else { throw ToolError("cannot listen on", path, errno: code) }
    guard Foundation.listen(descriptor, 128) == 0 else {
      throw ToolError("cannot listen on", path, errno: errno)
    }
  }

  /// One for TCP.
  init(host: String, port: Int) throws {
    place = nil
    descriptor = try Self.bound(host, port)
    guard listen(descriptor, 128) == 0 else {
      let code = errno
      close(descriptor)
      throw ToolError("cannot listen on", "\(host):\(port)", errno: code)
    }
  }

  /// Why nobody can listen on a port now; nil if somebody can.
  static func fault(host: String, port: Int) -> String? {
    do {
      close(try bound(host, port))
      return nil
    } catch {
      return "\(error)"
    }
  }

  private static func bound(_ host: String, _ port: Int) throws -> Int32 {
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
    let descriptor = socket(
      address.pointee.ai_family, Int32(SOCK_STREAM.rawValue) | O_CLOEXEC | O_NONBLOCK, 0)
    var yes: Int32 = 1
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
    guard Foundation.bind(descriptor, address.pointee.ai_addr, address.pointee.ai_addrlen) == 0
    else {
      let code = errno
      close(descriptor)
      throw ToolError("cannot listen on", "\(host):\(port)", errno: code)
    }
    return descriptor
  }

  /// One that systemd has made.
  init(descriptor: Int32) {
    self.descriptor = descriptor
    place = nil
    _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
  }

  /// Where it listens. An abstract name has an @ in front.
  var address: Address {
    var facts = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    var listens: Int32 = 0
    var optionLength = socklen_t(MemoryLayout<Int32>.size)
    guard
      getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &listens, &optionLength) == 0, listens != 0
    else { return .other }
    return withUnsafeMutablePointer(to: &facts) { pointer -> Address in
      let isKnown = pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        getsockname(descriptor, $0, &length) == 0
      }
      guard isKnown else { return .other }
      let raw = UnsafeRawPointer(pointer)
      switch Int32(pointer.pointee.ss_family) {
      case AF_INET: return .port(Int(UInt16(bigEndian: raw.load(as: sockaddr_in.self).sin_port)))
      case AF_INET6:
        return .port(Int(UInt16(bigEndian: raw.load(as: sockaddr_in6.self).sin6_port)))
      case AF_UNIX:
        let start = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? 0
        let bytes = UnsafeRawBufferPointer(start: raw, count: Int(length)).dropFirst(start)
        guard bytes.first == 0 else {
          return .path(String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self))
        }
        return .path("@" + String(decoding: bytes.dropFirst(), as: UTF8.self))
      default: return .other
      }
    }
  }

  deinit {
    if place == nil { close(descriptor) } else { end() }
  }

  /// Closes and removes it, if it was made at a path. Nobody may use its descriptor any more.
  func end() {
    if place == nil { return }
    let isFirst = hasEnded.withLock { hasEnded in
      defer { hasEnded = true }
      return !hasEnded
    }
    guard isFirst else { return }
    // Another process may have made one there since.
    if let place, Self.identity(of: place.path) == place.identity { unlink(place.path) }
    close(descriptor)
  }

  private static func identity(of path: String) -> FileIdentity? {
    var facts = stat()
    guard lstat(path, &facts) == 0 else { return nil }
    return FileIdentity(device: UInt64(facts.st_dev), inode: UInt64(facts.st_ino))
  }

  private static func bind(_ descriptor: Int32, _ path: String, _ mode: UInt32) -> Int32 {
    // The rights hold from the first moment on.
    let former = umask(mode_t(~mode & 0o777))
    defer { umask(former) }
    return UnixAddress.with(path) { Foundation.bind(descriptor, $0, $1) } == 0 ? 0 : errno
  }

  /// Who listens on a socket.
  enum Listener {
    case nobody, somebody
    /// This process may not connect to it.
    case unknown
  }

  /// One whose queue is full, or of another type, is somebody's.
  static func listener(at path: String) -> Listener {
    let probe = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | O_CLOEXEC | O_NONBLOCK, 0)
    defer { close(probe) }
    let code = UnixAddress.with(path) { connect(probe, $0, $1) } == 0 ? 0 : errno
    switch code {
    case ECONNREFUSED, ENOENT: return .nobody
    case EACCES, EPERM: return .unknown
    default: return .somebody
    }
  }

  private static func isAbandoned(_ path: String) -> Bool { listener(at: path) == .nobody }

  enum Arrival {
    case client(Int32)
    case nobody
    /// Clients wait, but the system lacks something for them: an error number.
    case lack(Int32)
  }

  func accept() -> Arrival {
    while true {
      let found = tarn_accept(descriptor)
      if found >= 0 { return .client(found) }
      switch errno {
      case EINTR, ECONNABORTED: continue
      case EMFILE, ENFILE, ENOBUFS, ENOMEM: return .lack(errno)
      default: return .nobody
      }
    }
  }
}
