import Foundation
import TarnStore
import ToolSupport

/// The HTTP servers of a daemon, which a reload may replace by others: one at the address that the
/// configuration has, and one at each socket of the service manager that nothing else names.
///
/// The new one's socket and token are opened before anything is replaced, so that a configuration
/// with a bad one changes nothing. Any thread; one call at a time.
final class HTTPEndpoint: Sendable {
  /// The addresses: the configuration's, and those of the service manager.
  private struct Doors: Equatable {
    let http: HTTPSettings?
    let handedOver: [ListeningSocket]

    static func == (a: Doors, b: Doors) -> Bool {
      a.http == b.http && a.handedOver.map(\.descriptor) == b.handedOver.map(\.descriptor)
    }
  }

  private struct Servers {
    let doors: Doors
    /// The configuration's.
    var own: HTTPServer?
    var others: [HTTPServer] = []

    var all: [HTTPServer] { others + (own.map { [$0] } ?? []) }
  }

  private struct State {
    var present = Servers(doors: Doors(http: nil, handedOver: []))
    var next: Servers?
  }

  private let handedOver: HandedOverSockets
  private let state = Lock(State())

  init(_ handedOver: HandedOverSockets) { self.handedOver = handedOver }

  /// Whether other servers are ready.
  var isToChange: Bool { state.withLock { $0.next != nil } }

  /// Opens what other settings need. The present servers go on until `change`.
  func prepare(_ settings: DaemonSettings, _ routes: any HTTPServer.Routes) throws {
    let present = state.withLock { state in
      state.next = nil
      return state.present
    }
    let wanted = Doors(http: settings.http, handedOver: handedOver.unnamed(in: settings))
    if wanted == present.doors { return }
    var next = Servers(doors: wanted)
    if let http = wanted.http {
      let listener = try handedOver.socket(at: http.address) ?? listener(at: http.address, present)
      next.own = try HTTPServer(http, listener, routes)
    }
    for listener in wanted.handedOver {
      let open = HTTPSettings(address: .socket("", mode: 0))
      next.others.append(try HTTPServer(open, listener, routes))
    }
    state.withLock { [next] in $0.next = next }
  }

  /// The present server's socket stays if its address does.
  private func listener(
    at address: HTTPSettings.Address, _ present: Servers
  ) throws -> ListeningSocket {
    switch (address, present.doors.http?.address) {
    case (.socket(let path, let mode), .socket(let former, _)?) where path == former:
      guard let own = present.own else { return try ListeningSocket(at: path, mode: mode) }
      guard chmod(path, mode) == 0 else { throw ToolError("cannot change", path, errno: errno) }
      return own.listener
    case (.socket(let path, let mode), _): return try ListeningSocket(at: path, mode: mode)
    case (.port(let host, let port), let former):
      if address == former, let own = present.own { return own.listener }
      return try ListeningSocket(host: host, port: port)
    }
  }

  /// Ends the present servers, and starts those that were prepared. The present ones must have
  /// answered all requests that they hold.
  func change() throws {
    guard let next = state.withLock({ $0.next.take() }) else { return }
    stop(replacedBy: next)
    for server in next.all { try server.start() }
  }

  func stop() {
    let next = state.withLock { $0.next.take() }
    stop(replacedBy: Servers(doors: Doors(http: nil, handedOver: [])))
    // Servers that were prepared and not started.
    next?.own?.listener.end()
  }

  private func stop(replacedBy next: Servers) {
    let former = state.withLock { state in
      defer { state.present = next }
      return state.present
    }
    for server in former.all { server.stop() }
    if let listener = former.own?.listener, listener !== next.own?.listener { listener.end() }
  }
}
