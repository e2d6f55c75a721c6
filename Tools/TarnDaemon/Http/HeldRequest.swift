import CDaemon
import TarnStore

/// The state of a request that the server has not answered yet.
protocol OpenRequest: AnyObject {
  /// The answer was sent, or the connection has ended. On libmicrohttpd's thread.
  func isCompleted()
}

/// A request whose answer takes a while: its connection sleeps until then, so that the server goes
/// on for others.
final class HeldRequest: OpenRequest, Sendable {
  // The connection may be resumed from any thread until the request is completed.
  private struct Connection: @unchecked Sendable {  // because: see above
    let pointer: OpaquePointer
  }

  private let connection: Connection
  private let answer = Lock<HTTPAnswer?>(nil)
  private let completed: @Sendable () -> Void

  /// - Parameter completed: called when the answer was sent, or the connection has ended.
  init(_ connection: OpaquePointer, completed: @escaping @Sendable () -> Void) {
    self.connection = Connection(pointer: connection)
    self.completed = completed
  }

  /// - Parameter body: must not wait, and lets something else finish the request.
  func start(_ body: (HeldRequest) -> Void) {
    MHD_suspend_connection(connection.pointer)
    body(self)
  }

  /// Any thread.
  func finish(_ answer: HTTPAnswer) {
    self.answer.withLock { $0 = answer }
    MHD_resume_connection(connection.pointer)
  }

  /// On libmicrohttpd's thread, after the connection was resumed.
  func send() -> MHD_Result { answer.withLock { $0 }?.send(connection.pointer) ?? .NO }

  func isCompleted() { completed() }
}
