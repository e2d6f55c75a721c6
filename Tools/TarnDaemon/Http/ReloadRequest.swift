import CDaemon
import TarnStore

/// The state of a request that the server has not answered yet.
protocol OpenRequest: AnyObject {
  /// The answer was sent, or the connection has ended. On libmicrohttpd's thread.
  func isCompleted()
}

/// The request to read the configuration again: its connection sleeps until that is done, so that
/// the server goes on for others.
final class ReloadRequest: OpenRequest, Sendable {
  // The connection may be resumed from any thread until the request is completed.
  private struct Connection: @unchecked Sendable {  // because: see above
    let pointer: OpaquePointer
  }

  private let connection: Connection
  private let answer = Lock<HTTPAnswer?>(nil)
  private unowned let routes: any HTTPServer.Routes

  init(_ connection: OpaquePointer, _ routes: any HTTPServer.Routes) {
    self.connection = Connection(pointer: connection)
    self.routes = routes
  }

  func start() {
    MHD_suspend_connection(connection.pointer)
    routes.reload(self)
  }

  /// Any thread.
  func finish(_ answer: HTTPAnswer) {
    self.answer.withLock { $0 = answer }
    MHD_resume_connection(connection.pointer)
  }

  /// On libmicrohttpd's thread, after the connection was resumed.
  func send() -> MHD_Result { answer.withLock { $0 }?.send(connection.pointer) ?? .NO }

  func isCompleted() { routes.isAnswered(self) }
}
