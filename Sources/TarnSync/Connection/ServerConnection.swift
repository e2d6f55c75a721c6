internal import CPostgres
internal import Glibc

/// A connection to a PostgreSQL server.
///
/// For one thread at a time. In the child of a fork it must not be used or released: libpq would
/// send a goodbye on the parent's connection.
@safe package final class ServerConnection {
  private let socket: PostgresSocket
  private(set) var plans = KeptPlans()

  private var handle: OpaquePointer { unsafe socket.handle }

  /// - Parameter waiting: runs each call that waits for the server, so that the thread may note
  ///   that it does nothing else.
  /// - Throws: `ServerError` if the connection fails.
  package convenience init(
    _ address: ServerAddress, waiting: @escaping (() -> Void) -> Void = { $0() }
  ) throws(ServerError) {
    try self.init(address, until: nil, waiting: waiting)
  }

  /// - Parameter stop: ends all waits for the server.
  package init(
    _ address: ServerAddress, until stop: OnceSignal?,
    waiting: @escaping (() -> Void) -> Void = { $0() }
  ) throws(ServerError) {
    socket = try PostgresSocket.connect(
      to: address, SocketWait(stop: stop, waiting: waiting))
  }

  /// Called when the server has been silent for some time, with that time; and with nil when it
  /// sends or accepts bytes again.
  var silent: (Duration?) -> Void {
    get { socket.silent }
    set { socket.silent = newValue }
  }

  /// The server's version, such as 150020.
  package var serverVersion: Int { Int(unsafe PQserverVersion(handle)) }

  /// Runs one statement.
  ///
  /// - Parameters:
  ///   - parameters: the values of `$1` and so on, as text.
  ///   - operation: the operation that an error names, such as "create the schema".
  /// - Returns: the rows, as text.
  @discardableResult
  package func query(
    _ statement: String, _ parameters: [String?] = [], for operation: String
  ) throws(ServerError) -> [[String?]] {
    try Self.requireNoNUL([statement] + parameters, operation)
    let isSent = unsafe withCStrings(parameters) { values in
      unsafe PQsendQueryParams(
        handle, statement, Int32(parameters.count), nil, values, nil, nil, 0)
    }
    return unsafe try rows(of: last(isSent, operation), operation)
  }

  /// C strings end at a NUL: the server would receive a truncated text.
  private static func requireNoNUL(
    _ texts: [String?], _ operation: String
  ) throws(ServerError) {
    if texts.contains(where: { $0?.utf8.contains(0) == true }) {
      throw ServerError(
        operation, "a string contains a NUL character, which PostgreSQL does not accept")
    }
  }

  /// A statement with parameters and results in the binary format.
  struct Statement {
    let text: String
    let parameters: [WireParameter]
    /// Whether the same text will be run repeatedly, so that the server may cache its plan.
    let isRepeated: Bool

    init(_ text: String, _ parameters: [WireParameter] = [], isRepeated: Bool = false) {
      self.text = text
      self.parameters = parameters
      self.isRepeated = isRepeated
    }
  }

  /// Runs one statement with parameters and results in the binary format.
  func binary(
    _ statement: String, _ parameters: [WireParameter], for operation: String
  ) throws(ServerError) -> WireRows {
    try binary([Statement(statement, parameters)], for: operation)[0]
  }

  /// Runs statements in one round trip. After a failed one the others do not run.
  ///
  /// - Parameter needed: how many must not fail; nil for all.
  /// - Returns: the rows of each statement, up to a failed one.
  func binary(
    _ statements: [Statement], needing needed: Int? = nil, for operation: String
  ) throws(ServerError) -> [WireRows] {
    guard unsafe PQenterPipelineMode(handle) == 1 else {
      throw socket.error(during: operation)
    }
    defer { unsafe PQexitPipelineMode(handle) }
    var (results, failure): ([WireRows], ServerError?) = ([], nil)
    do throws(ServerError) {
      let (isPreparing, bytes) = try send(statements, operation)
      for prepares in isPreparing {
        if prepares { _ = try nextResult(bytes, operation) }
        results.append(try nextResult(bytes, operation))
      }
    } catch {
      failure = error
      // It is unknown which statements the server has.
      plans.forgetAll()
    }
    if results.count >= needed ?? statements.count { failure = nil }
    try finishPipeline(operation, failure)
    return results
  }

  private func nextResult(_ bytes: Int, _ operation: String) throws(ServerError) -> WireRows {
    let rows = unsafe WireRows(
      try checked(socket.next(afterBytes: bytes, for: operation), operation))
    // The end of the statement's results.
    unsafe PQclear(try socket.next(for: operation))
    return rows
  }

  /// Sends statements and the end of a pipeline.
  ///
  /// - Returns: for each, whether a statement that prepares it precedes it; and the size of their
  ///   values in bytes.
  private func send(
    _ statements: [Statement], _ operation: String
  ) throws(ServerError) -> (isPreparing: [Bool], bytes: Int) {
    var (isPreparing, all): ([Bool], Int) = ([], 0)
    var failure: ServerError?
    for statement in statements where failure == nil {
      let (isSent, prepares) = send(statement)
      if !isSent { failure = socket.error(during: operation) }
      isPreparing.append(prepares)
      let bytes = statement.parameters.reduce(0) { $0 + ($1.bytes?.count ?? 0) }
      all += bytes
      if isSent, bytes > Self.keptBytes { try socket.flush(bytes: all, for: operation) }
    }
    // Even after a failure, so that there is an end to read up to.
    if unsafe PQpipelineSync(handle) != 1, failure == nil {
      failure = socket.error(during: operation)
    }
    if let failure { throw failure }
    return (isPreparing, all)
  }

  /// The next statement waits until more than this is sent: libpq buffers data that the system does
  /// not accept.
  private static let keptBytes = 1 << 20

  /// - Returns: whether it is sent, and whether a statement that prepares it precedes it.
  private func send(_ statement: Statement) -> (isSent: Bool, prepares: Bool) {
    let parameters = statement.parameters
    let count = Int32(parameters.count)
    let types = parameters.map(\.type)
    let lengths = parameters.map { Int32($0.bytes?.count ?? 0) }
    let formats = parameters.map { _ in Int32(1) }
    let plan = statement.isRepeated ? plans.plan(for: statement.text) : nil
    if let plan, plan.isNew,
      unsafe PQsendPrepare(handle, plan.name, statement.text, count, types) != 1
    {
      return (false, true)
    }
    let isSent = unsafe withBytes(parameters.map(\.bytes)) { values in
      guard let plan else {
        return unsafe PQsendQueryParams(
          handle, statement.text, count, types, values, lengths, formats, 1)
      }
      return unsafe PQsendQueryPrepared(handle, plan.name, count, values, lengths, formats, 1)
    }
    return (isSent == 1, plan?.isNew == true)
  }

  /// Sends a statement whose rows `receive` returns. Nothing else may be sent before that.
  func begin(_ statement: Statement, for operation: String) throws(ServerError) {
    guard send(statement).isSent else {
      throw socket.error(during: operation)
    }
  }

  /// Reads the received part of an answer, so that the server continues to send. Does not wait.
  func takeArrived() { _ = unsafe PQconsumeInput(handle) }

  /// Returns the rows of the statement that was sent with `begin`.
  func receive(for operation: String) throws(ServerError) -> WireRows {
    unsafe WireRows(try checked(last(1, operation), operation))
  }

  /// Makes the server cache the plans of repeated statements, if the connection is known to be to
  /// one server process: a pooler may use another process for each transaction, and invents a
  /// process id.
  func keepPlans(for operation: String) throws(ServerError) {
    let own = try query("SELECT pg_backend_pid()", for: operation).first?[0]
    let known = unsafe PQbackendPID(handle)
    plans.isUsed = own.flatMap { Int32($0) } == known
  }

  /// Reads to the end of a pipeline, even after a failure.
  private func finishPipeline(
    _ operation: String, _ failure: ServerError?
  ) throws(ServerError) {
    do throws(ServerError) {
      while unsafe PQstatus(handle) == CONNECTION_OK {
        let result = unsafe try socket.next(for: operation)
        defer { unsafe PQclear(result) }
        if unsafe result != nil, unsafe PQresultStatus(result) == PGRES_PIPELINE_SYNC { break }
      }
    } catch {
      throw failure ?? error
    }
    if let failure { throw failure }
    guard unsafe PQstatus(handle) == CONNECTION_OK else {
      throw socket.error(during: operation)
    }
  }

  /// Runs statements without parameters, separated by semicolons.
  package func run(_ script: String, for operation: String) throws(ServerError) {
    _ = try rows(script, for: operation)
  }

  /// Runs statements without parameters, separated by semicolons, in one round trip.
  ///
  /// - Returns: the rows of the last one, as text.
  func rows(
    _ script: String, for operation: String
  ) throws(ServerError) -> [[String?]] {
    try Self.requireNoNUL([script], operation)
    return unsafe try rows(of: last(PQsendQuery(handle, script), operation), operation)
  }

  /// The last result of the sent statements, as libpq's blocking calls return it.
  ///
  /// - Parameter isSent: 1 if they were sent.
  private func last(_ isSent: Int32, _ operation: String) throws(ServerError) -> OpaquePointer? {
    guard isSent == 1 else {
      throw socket.error(during: operation)
    }
    var last: OpaquePointer?
    do throws(ServerError) {
      while let result = unsafe try socket.next(for: operation) {
        unsafe PQclear(last)
        unsafe last = result
      }
    } catch {
      // The server sends the reason before it closes a connection.
      if unsafe last != nil, unsafe PQresultStatus(last) == PGRES_FATAL_ERROR {
        return unsafe last
      }
      unsafe PQclear(last)
      throw error
    }
    return unsafe last
  }

  // MARK: - Notifications

  /// The socket, on which a notification arrives.
  package var descriptor: Int32 { unsafe PQsocket(handle) }

  /// Reads the notifications that have arrived.
  ///
  /// - Returns: their channels.
  /// - Throws: `ServerError` if the connection is lost.
  package func takeNotifications(for operation: String) throws(ServerError) -> Set<String> {
    guard unsafe PQconsumeInput(handle) == 1 else {
      throw socket.error(during: operation)
    }
    var channels: Set<String> = []
    while let notice = unsafe PQnotifies(handle) {
      unsafe channels.insert(String(cString: notice.pointee.relname))
      unsafe PQfreemem(notice)
    }
    return channels
  }

  /// Runs `body` in a transaction, which is rolled back if it throws.
  ///
  /// - Parameter mode: the isolation level; the default of the database may be any.
  @discardableResult
  package func transaction<R>(
    _ mode: String = "READ COMMITTED", for operation: String, _ body: () throws(ServerError) -> R
  ) throws(ServerError) -> R {
    try transaction(mode, beginning: "", for: operation) { _ throws(ServerError) in try body() }
  }

  /// Like above, with first statements in the round trip that begins it.
  ///
  /// - Parameters:
  ///   - first: statements without parameters; `body` receives the rows of the last one.
  ///   - commits: whether the last statement of `body` is `COMMIT`.
  func transaction<R>(
    _ mode: String, beginning first: String, committing commits: Bool = false,
    for operation: String, _ body: ([[String?]]) throws(ServerError) -> R
  ) throws(ServerError) -> R {
    do throws(ServerError) {
      let rows = try rows("BEGIN ISOLATION LEVEL \(mode); \(first)", for: operation)
      let result = try body(rows)
      if !commits { try run("COMMIT", for: operation) }
      return result
    } catch {
      // If this fails, the connection is closed and the server rolls back.
      try? run("ROLLBACK", for: operation)
      throw error
    }
  }

  private func rows(
    of result: OpaquePointer?, _ operation: String
  ) throws(ServerError) -> [[String?]] {
    let result = unsafe try checked(result, operation)
    defer { unsafe PQclear(result) }
    let (count, width) = unsafe (PQntuples(result), PQnfields(result))
    return (0..<count).map { row in
      (0..<width).map { column in
        guard unsafe PQgetisnull(result, row, column) == 0,
          let text = unsafe PQgetvalue(result, row, column)
        else { return nil }
        return unsafe String(cString: text)
      }
    }
  }

  /// - Throws: `ServerError` if the server refused; the result is released then.
  private func checked(
    _ result: OpaquePointer?, _ operation: String
  ) throws(ServerError) -> OpaquePointer? {
    let status = unsafe PQresultStatus(result)
    guard status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK else {
      defer { unsafe PQclear(result) }
      throw unsafe Self.error(result, handle, operation)
    }
    return unsafe result
  }

  private static func error(
    _ result: OpaquePointer?, _ handle: OpaquePointer, _ operation: String
  ) -> ServerError {
    /// libpq's name of a field, which is a letter.
    func field(_ letter: Character) -> String {
      guard let code = letter.asciiValue,
        let text = unsafe PQresultErrorField(result, Int32(code))
      else { return "" }
      return unsafe String(cString: text)
    }
    var message = field("M")
    if message.isEmpty { message = unsafe PostgresSocket.message(of: handle) }
    if message.isEmpty { message = "the answer does not belong to the statement that was sent" }
    return ServerError(
      state: field("C"), operation, message,
      detail: field("D"), hint: field("H"),
      at: field("t").isEmpty
        ? nil
        : ServerError.Place(
          schema: field("s"), table: field("t"), column: field("c"), constraint: field("n")))
  }
}

/// Passes bytes to C, nil as a null pointer.
private func withBytes<R>(
  _ values: [[UInt8]?], _ body: (UnsafePointer<UnsafePointer<CChar>?>?) -> R
) -> R {
  var (all, starts): ([UInt8], [Int?]) = ([], [])
  for value in values {
    starts.append(value == nil ? nil : all.count)
    all += value ?? []
  }
  // An empty value needs an address, too.
  all.append(0)
  return unsafe all.withUnsafeBytes { bytes in
    let first = unsafe bytes.bindMemory(to: CChar.self).baseAddress
    var pointers: [UnsafePointer<CChar>?] = unsafe []
    for start in starts {
      if let start, let first = unsafe first {
        unsafe pointers.append(first + start)
      } else {
        unsafe pointers.append(nil)
      }
    }
    return unsafe pointers.withUnsafeBufferPointer { unsafe body($0.baseAddress) }
  }
}
