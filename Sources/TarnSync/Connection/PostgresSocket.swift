internal import CPostgres
internal import Glibc
import TarnStore

/// libpq's connection, used without blocking calls: each wait for the server has a deadline, and
/// ends with the session.
///
/// After a wait that ended without an answer the connection cannot be used any more.
@safe final class PostgresSocket {
  let handle: OpaquePointer
  private let wait: SocketWait
  private let timeouts: ServerTimeouts
  /// Called when the server has been silent for some time, with that time; and with nil when it
  /// sends or accepts bytes again.
  var silent: (Duration?) -> Void = { _ in }
  /// The reason why it was closed.
  private var failure: ServerError?

  private init(_ handle: OpaquePointer, _ wait: SocketWait, _ timeouts: ServerTimeouts) {
    unsafe self.handle = handle
    self.wait = wait
    self.timeouts = timeouts
    unsafe PQsetnonblocking(handle, 1)
    unsafe PQsetErrorVerbosity(handle, PQERRORS_DEFAULT)
    // Notices, for example that a table exists already, are ignored.
    unsafe PQsetNoticeProcessor(handle, { _, _ in }, nil)
  }

  /// Never waits: libpq sends its goodbye only if the system accepts it at once.
  deinit {
    // Data in the system's buffers for a silent server is useless.
    if failure != nil { unsafe shutdown(PQsocket(handle), Int32(SHUT_RDWR)) }
    unsafe PQfinish(handle)
  }

  // MARK: - Connecting

  /// Connects to the first of the server's addresses that answers.
  static func connect(
    to address: ServerAddress, _ wait: SocketWait
  ) throws(ServerError) -> PostgresSocket {
    for (keyword, value) in address.parameters where value.utf8.contains(0) {
      throw ServerError("connect to the server", "the value of \(keyword) contains a NUL character")
    }
    let operation = "connect to \(address)"
    var socket: PostgresSocket?
    var failures: [ConnectFailure] = []
    ServerTargets(address).tryEach(wait, within: address.timeouts.connect) { target in
      switch attempt(target, address.timeouts, wait) {
      case .success(let made): socket = made
      case .failure(let failure): failures.append(failure)
      }
      // Like libpq: a server that refuses the login has answered.
      return socket != nil || failures.last?.isFinal == true
    } failed: {
      failures.append(ConnectFailure($0))
    }
    if let socket { return socket }
    var messages: [String] = []
    for failure in failures where !messages.contains(failure.message) {
      messages.append(failure.message)
    }
    throw ServerError(
      state: failures.last?.state ?? "", operation, messages.joined(separator: "\n"))
  }

  private static func attempt(
    _ target: ServerTargets.Target, _ timeouts: ServerTimeouts, _ wait: SocketWait
  ) -> Result<PostgresSocket, ConnectFailure> {
    let pairs = target.sorted { $0.key < $1.key }
    let begun = unsafe withCStrings(pairs.map(\.key) + [nil]) { keywords in
      unsafe withCStrings(pairs.map(\.value) + [nil]) { values in
        unsafe PQconnectStartParams(keywords, values, 0)
      }
    }
    guard let handle = unsafe begun else { return .failure(ConnectFailure("out of memory")) }
    if let failure = unsafe failure(of: handle, timeouts.connect, wait) {
      unsafe PQfinish(handle)
      return .failure(failure)
    }
    return unsafe .success(PostgresSocket(handle, wait, timeouts))
  }

  /// Waits until the connection is established.
  ///
  /// - Returns: nil if it is.
  private static func failure(
    of handle: OpaquePointer, _ time: Duration, _ wait: SocketWait
  ) -> ConnectFailure? {
    // Only the text contains the code of a refusal.
    unsafe PQsetErrorVerbosity(handle, PQERRORS_VERBOSE)
    let end = time > .zero ? ContinuousClock.now + time : nil
    var status = PGRES_POLLING_WRITING
    while true {
      if unsafe PQstatus(handle) == CONNECTION_BAD || status == PGRES_POLLING_FAILED {
        let isAsked = unsafe PQconnectionNeedsPassword(handle) == 1
        return unsafe ConnectFailure(message(of: handle), asksForPassword: isAsked)
      }
      if status == PGRES_POLLING_OK { return nil }
      let events = status == PGRES_POLLING_READING ? POLLIN : POLLOUT
      switch unsafe wait.wait(for: events, on: PQsocket(handle), until: end) {
      case .ready: break
      case .late: return ConnectFailure("the server has not answered within \(time.secondsText)")
      case .stopped: return ConnectFailure("the session ends")
      }
      status = unsafe PQconnectPoll(handle)
    }
  }

  static func message(of handle: OpaquePointer) -> String {
    guard let text = unsafe PQerrorMessage(handle) else { return "" }
    // libpq begins its second line with a tab.
    var message = unsafe String(cString: text).replacingASCII("\t", with: "  ")
    while message.last?.isNewline == true { message.removeLast() }
    return message
  }

  /// Why a call failed: permanently if the connection was closed.
  func error(during operation: String) -> ServerError {
    if let failure { return failure.during(operation) }
    return unsafe ServerError(operation, Self.message(of: handle))
  }

  // MARK: - Waiting

  /// The next result of the sent statements; nil after the last one of a statement.
  ///
  /// - Parameter bytes: the number of bytes sent.
  func next(
    afterBytes bytes: Int = 0, for operation: String
  ) throws(ServerError) -> OpaquePointer? {
    try untilTrue(bytes, operation) { isFlushed in
      unsafe PQisBusy(handle) == 0 && isFlushed
    }
    return unsafe PQgetResult(handle)
  }

  /// Waits until the system has accepted all sent data, so that it does not accumulate here.
  func flush(bytes: Int, for operation: String) throws(ServerError) {
    try untilTrue(bytes, operation) { $0 }
  }

  /// - Parameter isDone: receives whether everything is sent.
  private func untilTrue(
    _ bytes: Int, _ operation: String, _ isDone: (Bool) -> Bool
  ) throws(ServerError) {
    if let failure { throw failure.during(operation) }
    var silence = Silence(timeouts, bytes)
    while true {
      let flushed = unsafe PQflush(handle)
      if flushed < 0 { throw unsafe ServerError(operation, Self.message(of: handle)) }
      if isDone(flushed == 0) { break }
      let events = POLLIN | (flushed == 0 ? 0 : POLLOUT)
      switch unsafe wait.wait(for: events, on: PQsocket(handle), until: silence.end) {
      case .ready:
        if silence.isNoticed { silent(nil) }
        silence = Silence(timeouts, bytes)
        guard unsafe PQconsumeInput(handle) == 1 else {
          throw unsafe ServerError(operation, Self.message(of: handle))
        }
      case .late where !silence.isNoticed:
        silence.isNoticed = true
        silent(timeouts.notice)
      case .late: throw giveUp(silence.sentence, operation)
      case .stopped: throw giveUp("the session ends", operation)
      }
    }
  }

  private func giveUp(_ reason: String, _ operation: String) -> ServerError {
    let error = ServerError(
      operation, reason,
      hint: "Look for locks and stopped processes on the server, and check the network.")
    failure = error
    unsafe ServerCancel.send(handle, waiting: wait.waiting)
    return error
  }

  /// A time in which the server neither sends nor accepts a byte.
  private struct Silence {
    private let begin = ContinuousClock.now
    private let notice: Duration
    private let most: Duration?
    /// Whether it has lasted long enough for the server to count as unreachable.
    var isNoticed = false

    init(_ timeouts: ServerTimeouts, _ bytes: Int) {
      notice = timeouts.notice
      most = timeouts.answer(toBytes: bytes)
    }

    /// The time of the next consequence.
    var end: ContinuousClock.Instant? {
      isNoticed ? most.map { begin + $0 } : begin + notice
    }

    var sentence: String { "the server has not answered for \((most ?? .zero).secondsText)" }
  }
}

/// Passes strings to C, nil as a null pointer.
func withCStrings<R>(
  _ texts: [String?], _ body: (UnsafePointer<UnsafePointer<CChar>?>?) -> R
) -> R {
  let copies = unsafe texts.map { text in unsafe text.flatMap { unsafe strdup($0) } }
  defer { for index in 0..<texts.count { unsafe free(copies[index]) } }
  let pointers = unsafe copies.map { unsafe UnsafePointer($0) }
  return unsafe pointers.withUnsafeBufferPointer { unsafe body($0.baseAddress) }
}
