import CDaemon
import Foundation
import TarnStore
import ToolSupport

/// The listening sockets that the service manager has made, as of sd_listen_fds(3). Each belongs to
/// the `socket` sink or the `http` key that names its address; the other Unix sockets serve HTTP.
///
/// They stay open as long as the daemon runs, so that a reload can give one to another user.
final class HandedOverSockets: Sendable {
  private static let first: Int32 = 3

  private let sockets: [ListeningSocket]

  init() {
    let count = max(0, sd_listen_fds(1))
    sockets = (0..<count).map { ListeningSocket(descriptor: Self.first + $0) }
  }

  /// Where they listen.
  var listens: [String] {
    sockets.compactMap { socket in
      switch socket.address {
      case .path(let path): path
      case .port(let port): ":\(port)"
      case .other: nil
      }
    }
  }

  /// The socket at a path, if it was handed over.
  func socket(at path: String) -> ListeningSocket? {
    sockets.first { $0.address == .path(path) }
  }

  /// The socket for HTTP at an address, if it was handed over.
  func socket(at address: HTTPSettings.Address) -> ListeningSocket? {
    switch address {
    case .socket(let path, _): socket(at: path)
    case .port(_, let port): sockets.first { $0.address == .port(port) }
    }
  }

  /// The Unix sockets that no key names.
  func unnamed(in settings: DaemonSettings) -> [ListeningSocket] {
    var named: Set<String> = []
    if case .socket(let path, _)? = settings.http?.address { named.insert(path) }
    for sink in settings.watches.flatMap(\.sinks) {
      if case .socket(let socket) = sink.kind { named.insert(socket.path) }
    }
    return sockets.filter { socket in
      if case .path(let path) = socket.address { !named.contains(path) } else { false }
    }
  }

  /// Why some are not used.
  func warnings(_ settings: DaemonSettings) -> [String] {
    sockets.compactMap { socket in
      switch socket.address {
      case .path: return nil
      case .port(let port):
        if case .port(_, port)? = settings.http?.address { return nil }
        return "the service manager listens on port \(port), which nobody serves: give 'http' the "
          + "keys 'listen: HOST:\(port)' and 'token-file', or remove the port from the socket unit"
      case .other:
        return "the service manager handed over descriptor \(socket.descriptor), which is not a "
          + "socket that listens for streams: remove it from the socket unit"
      }
    }
  }
}
