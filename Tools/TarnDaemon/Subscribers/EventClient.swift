import CDaemon
import Dispatch
import Tarn
import TarnStore
import TarnText
import ToolSupport

/// One stream of server-sent events: each line is an event. The last one of a batch has an id, by
/// which the client can come back.
///
/// Threading: libmicrohttpd takes the bytes on its own thread; the rest is on the hub's queue.
final class EventClient: Subscriber.Transport, OpenRequest {
  private struct State {
    var unsent: [UInt8] = []
    var taken = 0
    var isSuspended = false
    var isClosed = false
    var hasStarted = false
    var lastSent = DispatchTime.now()
  }

  // The connection may be resumed from any thread until the request is completed.
  private struct Connection: @unchecked Sendable {  // because: see above
    let pointer: OpaquePointer
  }

  private let connection: Connection
  private let socket: Int32
  private let hub: FeedHub
  private let settings: EventSettings
  private let point: FeedPoint
  private let state = Lock(State())
  private let subscriber = Lock<Subscriber?>(nil)
  private let isInEvent = Lock(false)

  /// The hub must have admitted it.
  init(
    _ connection: OpaquePointer, _ hub: FeedHub, _ settings: EventSettings,
    at point: FeedPoint
  ) {
    self.connection = Connection(pointer: connection)
    socket = tarn_socket(connection)
    self.hub = hub
    self.settings = settings
    self.point = point
  }

  deinit {
    if !state.withLock({ $0.hasStarted }) { hub.dismiss() }
  }

  // MARK: - On the hub's queue

  func start() {
    state.withLock { $0.hasStarted = true }
    hub.queue.async { [self] in
      let made = Subscriber(hub, self, patience: settings.patience, at: point)
      subscriber.withLock { $0 = made }
      hub.add(made, isAdmitted: true)
    }
  }

  func send(_ bytes: [UInt8], id: () -> String?) -> Bool {
    let isEnd = bytes.last == 0x0a
    let isFirst = isInEvent.withLock { isInEvent in
      defer { isInEvent = !isEnd }
      return !isInEvent
    }
    let head = isFirst ? (id().map { "id: \($0)\n" } ?? "") + "data: " : ""
    // A line ends with one line feed, an event with two.
    put(Array(head.utf8) + bytes + (isEnd ? [0x0a] : []))
    return false
  }

  /// Any thread. The connection does not sleep when this returns, and never again.
  func close(_ reason: String) {
    let text = JSONText.text(.object([JSONMember("error", .string(reason))]))
    put(
      Array((isInEvent.withLock { $0 } ? "\n\n" : "").utf8)
        + Array("event: end\ndata: \(text)\n\n".utf8), isEnd: true)
  }

  var hasLeft: Bool {
    // Until it is closed, the connection has its socket.
    state.withLock { !$0.isClosed && tarn_has_left(socket) }
  }

  func keepAlive() {
    let isQuiet = state.withLock { state in
      // A client that has not taken everything is waited for as long as it may take.
      state.isSuspended && state.lastSent + settings.heartbeat.interval <= .now()
    }
    if isQuiet, !isInEvent.withLock({ $0 }) { put(Array(":\n\n".utf8)) }
  }

  private func put(_ bytes: [UInt8], isEnd: Bool = false) {
    state.withLock { state in
      if state.isClosed { return }
      state.isClosed = isEnd
      state.lastSent = .now()
      if state.taken > 0 {
        state.unsent.removeFirst(state.taken)
        state.taken = 0
      }
      state.unsent += bytes
      // Under the lock: whoever finds it awake may end the server.
      if state.isSuspended { MHD_resume_connection(connection.pointer) }
      state.isSuspended = false
    }
  }

  // MARK: - On libmicrohttpd's thread

  /// Takes bytes for the client; -1 at the end.
  func take(_ buffer: UnsafeMutablePointer<CChar>, _ most: Int) -> Int {
    enum Taken {
      case bytes(Int, isEmpty: Bool)
      case end, nothing
    }
    let taken = state.withLock { state -> Taken in
      let count = min(most, state.unsent.count - state.taken)
      if count > 0 {
        state.unsent.withUnsafeBytes { raw in
          buffer.withMemoryRebound(to: UInt8.self, capacity: count) {
            $0.update(
              from: raw.baseAddress!.assumingMemoryBound(to: UInt8.self) + state.taken, count: count
            )
          }
        }
        state.taken += count
        return .bytes(count, isEmpty: state.taken == state.unsent.count)
      }
      if state.isClosed { return .end }
      state.isSuspended = true
      MHD_suspend_connection(connection.pointer)
      return .nothing
    }
    switch taken {
    case .bytes(let count, let isEmpty):
      if isEmpty { hub.queue.async { [self] in subscriber.withLock { $0 }?.isTaken() } }
      return count
    case .end: return -1
    case .nothing: return 0
    }
  }

  /// The connection has ended.
  func isCompleted() {
    state.withLock { state in
      state.isClosed = true
      state.isSuspended = false
    }
    hub.queue.async { [self] in subscriber.withLock { $0.take() }?.isGone() }
  }
}
