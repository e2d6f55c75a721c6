import CDaemon
import Foundation
import TarnStore
import ToolSupport

/// The daemon's HTTP door: health, metrics, status and event streams.
///
/// A socket is protected by its rights. On a port every request needs the token, and a Host and an
/// Origin that the configuration names, so that no web page can ask in a visitor's name.
final class HTTPServer: Sendable {
  /// Answers requests. Any thread.
  protocol Routes: AnyObject, Sendable {
    func answer(_ path: String) -> HTTPAnswer
    /// Reads the configuration again, and finishes the request then. It must not wait.
    func reload(_ request: HeldRequest)
    /// The answer to a request that was held was sent.
    func isAnswered()
    /// Does what an operator asks for, and finishes the request then. It must not wait.
    func control(_ address: SinkAddress, in path: String?, _ request: HeldRequest)
    /// The stream of a watch, or why there is none.
    func events(
      _ watch: String, from position: String?, _ connection: OpaquePointer
    ) -> Result<EventClient, HTTPAnswer>
  }

  // because: libmicrohttpd's functions may be called from any thread.
  private struct Server: @unchecked Sendable {
    let pointer: OpaquePointer
  }

  private static let timeoutSeconds: UInt32 = 30
  /// The same for a connection that has a descriptor of the reserve.
  private static let reservedSeconds: UInt32 = 1
  private static let connectionsMax: UInt32 = 1_000

  /// The event streams that are open: libmicrohttpd must not end while one of them sleeps.
  private struct Streams {
    var clients: [ObjectIdentifier: EventClient] = [:]
    var hasStopped = false
  }

  private let settings: HTTPSettings
  private let streams = Lock(Streams())
  /// The last one that could be read.
  private let token: Lock<String?>
  private unowned let routes: any Routes
  private let server = Lock<Server?>(nil)
  let listener: ListeningSocket

  init(_ settings: HTTPSettings, _ listener: ListeningSocket, _ routes: any Routes) throws {
    self.settings = settings
    self.routes = routes
    self.listener = listener
    token = Lock(try settings.readToken())
  }

  func start() throws {
    let context = Unmanaged.passUnretained(self).toOpaque()
    // It closes the descriptor at its end. The socket stays, for another server.
    let own = fcntl(listener.descriptor, F_DUPFD_CLOEXEC, 3)
    guard own >= 0 else { throw ToolError("cannot serve", "HTTP", errno: errno) }
    let made = tarn_serve(
      own, Self.timeoutSeconds, Self.connectionsMax,
      { _, _, _ in DescriptorReserve.refusal(.request) == nil ? .YES : .NO },
      { _, connection, _, event in
        guard let connection, event.rawValue == 0,  // It has begun.
          DescriptorReserve.refusal(.client) != nil
        else { return }
        tarn_set_timeout(connection, HTTPServer.reservedSeconds)
      },
      { context, connection, path, method, _, _, size, request in
        HTTPServer.handle(context, connection, path, method, size, request)
      },
      { context, _, request, _ in HTTPServer.complete(context, request?.pointee) }, context)
    // If it fails, it may have closed the descriptor.
    guard let made else { throw ToolError("cannot serve HTTP") }
    server.withLock { $0 = Server(pointer: made) }
  }

  /// Ends event streams that are open. Requests to reload must have been answered.
  func stop() {
    guard let made = server.withLock({ $0.take() }) else { return }
    let open = streams.withLock { streams in
      streams.hasStopped = true
      return Array(streams.clients.values)
    }
    for client in open { client.close("the HTTP endpoint ends") }
    MHD_stop_daemon(made.pointer)
  }

  // MARK: - Requests

  /// Marks a request that was seen once: its headers are complete then.
  // because: its address is never read.
  private nonisolated(unsafe) static let mark = UnsafeMutableRawPointer(bitPattern: 1)

  private static func complete(
    _ context: UnsafeMutableRawPointer?, _ request: UnsafeMutableRawPointer?
  ) {
    guard let context, let request, request != mark else { return }
    let object = Unmanaged<AnyObject>.fromOpaque(request).takeRetainedValue()
    let server = Unmanaged<HTTPServer>.fromOpaque(context).takeUnretainedValue()
    server.streams.withLock { $0.clients[ObjectIdentifier(object)] = nil }
    (object as? any OpenRequest)?.isCompleted()
  }

  private static func handle(
    _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?,
    _ path: UnsafePointer<CChar>?, _ method: UnsafePointer<CChar>?,
    _ size: UnsafeMutablePointer<Int>?,
    _ request: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
  ) -> MHD_Result {
    guard let context, let connection, let path, let method, let request else { return .NO }
    if request.pointee == nil {
      request.pointee = mark
      return .YES
    }
    // A body is read and dropped.
    if let size, size.pointee > 0 {
      size.pointee = 0
      return .YES
    }
    if let pointer = request.pointee, pointer != mark {
      let open = Unmanaged<AnyObject>.fromOpaque(pointer).takeUnretainedValue()
      return (open as? HeldRequest)?.send() ?? .NO
    }
    let server = Unmanaged<HTTPServer>.fromOpaque(context).takeUnretainedValue()
    return server.answer(connection, String(cString: path), String(cString: method), request)
  }

  private func answer(
    _ connection: OpaquePointer, _ path: String, _ method: String,
    _ request: UnsafeMutablePointer<UnsafeMutableRawPointer?>
  ) -> MHD_Result {
    if let refusal = refusal(connection, path) { return refusal.send(connection) }
    let address = SinkAddress(path)
    if method == "POST", path == "/reload" {
      return hold(connection, request) { routes.reload($0) }
    }
    if method == "POST", let address {
      let file = tarn_argument(connection, "file").map { String(path: $0) }
      // An action that is not understood as a whole must not be carried out for all files.
      let hasBody =
        header("Transfer-Encoding", connection) != nil
        || header("Content-Length", connection) ?? "0" != "0"
      if hasBody || tarn_argument_count(connection) != (file == nil ? 0 : 1) {
        return HTTPAnswer(
          400, "an action has no body and no argument but '?file=PATH', for one file\n"
        ).send(connection)
      }
      return hold(connection, request) { routes.control(address, in: file, $0) }
    }
    guard method == "GET" || method == "HEAD", path != "/reload", address == nil else {
      return HTTPAnswer(405, "GET is answered, and POST for /reload and for actions of sinks\n")
        .send(connection)
    }
    let parts = path.splitASCII("/", omittingEmpty: true)
    guard parts.count == 3, parts[0] == "watches", parts[2] == "events", method == "GET" else {
      return routes.answer(path).send(connection)
    }
    let position =
      header("Last-Event-ID", connection)
      ?? tarn_argument(connection, "from").map { String(cString: $0) }
    switch routes.events(String(parts[1]), from: position, connection) {
    case .failure(let answer): return answer.send(connection)
    case .success(let client): return stream(client, connection, request)
    }
  }

  private func hold(
    _ connection: OpaquePointer, _ request: UnsafeMutablePointer<UnsafeMutableRawPointer?>,
    _ body: (HeldRequest) -> Void
  ) -> MHD_Result {
    // libmicrohttpd must not end while a connection sleeps.
    if streams.withLock({ $0.hasStopped }) {
      return HTTPAnswer(503, "the HTTP endpoint ends\n").send(connection)
    }
    let held = HeldRequest(connection) { [routes] in routes.isAnswered() }
    request.pointee = Unmanaged.passRetained(held as AnyObject).toOpaque()
    held.start(body)
    return .YES
  }

  private func header(_ name: String, _ connection: OpaquePointer) -> String? {
    tarn_header(connection, name).map { String(cString: $0) }
  }

  /// Why a request is not answered; nil if it is.
  private func refusal(_ connection: OpaquePointer, _ path: String) -> HTTPAnswer? {
    guard case .port(let host, let port) = settings.address else { return nil }
    let hosts = settings.hosts + ["\(host):\(port)", host]
    guard let given = header("Host", connection), hosts.contains(given) else {
      return HTTPAnswer(421, "this host is not served here: add it to 'hosts'\n")
    }
    if let origin = header("Origin", connection), !settings.origins.contains(origin) {
      return HTTPAnswer(403, "this origin may not ask: add it to 'origins'\n")
    }
    // Read each time, since it may have been replaced.
    let fresh = try? settings.readToken()
    let token = token.withLock { token in
      token = fresh ?? token
      return token
    }
    let wanted = Array((token ?? "").utf8)
    let found = Array(Self.bearer(header("Authorization", connection) ?? "").utf8)
    // Takes as long for each wrong token of that length.
    let differs = zip(wanted, found).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) }
    guard token != nil, wanted.count == found.count, differs == 0 else {
      return HTTPAnswer(401, "the token is missing or wrong\n", ["WWW-Authenticate": "Bearer"])
    }
    return nil
  }

  /// The token of an Authorization header; empty for another scheme, whose name has no case.
  static func bearer(_ header: String) -> String {
    guard let parts = header.partsAroundASCII(" "),
      parts.before.utf8.map({ $0 | 0x20 }).elementsEqual("bearer".utf8)
    else { return "" }
    return String(parts.behind.trimmingASCII())
  }

  private func stream(
    _ client: EventClient, _ connection: OpaquePointer,
    _ request: UnsafeMutablePointer<UnsafeMutableRawPointer?>
  ) -> MHD_Result {
    let isLate = streams.withLock { streams in
      if !streams.hasStopped { streams.clients[ObjectIdentifier(client)] = client }
      return streams.hasStopped
    }
    if isLate { return HTTPAnswer(503, "the HTTP endpoint ends\n").send(connection) }
    let pointer = Unmanaged.passRetained(client as AnyObject).toOpaque()
    request.pointee = pointer
    let response = MHD_create_response_from_callback(
      UInt64.max, 1 << 15,
      { context, _, buffer, most in
        guard let context, let buffer else { return -1 }
        return Unmanaged<EventClient>.fromOpaque(context).takeUnretainedValue().take(buffer, most)
      }, pointer, nil)
    guard let response else { return .NO }
    defer { MHD_destroy_response(response) }
    MHD_add_response_header(response, "Content-Type", "text/event-stream")
    MHD_add_response_header(response, "Cache-Control", "no-store")
    tarn_set_timeout(connection, Self.timeoutSeconds)
    client.start()
    return MHD_queue_response(connection, 200, response)
  }
}

extension HTTPSettings {
  /// The token that TCP clients must send; nil if the settings name none.
  func readToken() throws -> String? {
    guard let token else { return nil }
    let text = String(
      String(decoding: try token.read(), as: UTF8.self).trimmingASCII(lineEnds: true))
    guard text.utf8.count >= 16 else { throw ToolError("the token is shorter than 16 bytes") }
    return text
  }
}

/// An answer of text.
struct HTTPAnswer: Error {
  let status: UInt32
  let text: String
  let headers: [String: String]

  init(_ status: UInt32, _ text: String, _ headers: [String: String] = [:]) {
    self.status = status
    self.text = text
    self.headers = headers
  }

  func send(_ connection: OpaquePointer) -> MHD_Result {
    let bytes = Array(text.utf8)
    guard let response = tarn_text(bytes, bytes.count) else { return .NO }
    defer { MHD_destroy_response(response) }
    for (name, value) in ["Content-Type": "text/plain; charset=utf-8", "Cache-Control": "no-store"]
      .merging(headers, uniquingKeysWith: { $1 })
    {
      MHD_add_response_header(response, name, value)
    }
    return MHD_queue_response(connection, status, response)
  }
}
