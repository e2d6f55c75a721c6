/// Settings of all sessions of an app. Threading: any.
public struct SyncManager: Sendable {
  private let app: App

  /// A handler for problems of sessions, called on the session's thread. A message about a refused
  /// write is kept in the file until the handler has returned, even if the program ends before
  /// that.
  public typealias ErrorHandler = @Sendable (any Error, SyncSession?) -> Void

  fileprivate init(_ app: App) { self.app = app }

  /// The handler for problems of sessions; nil writes them to the log, which is standard error
  /// unless ``Logger/shared`` is set.
  public var errorHandler: ErrorHandler? {
    get {
      guard let handler = app.errorHandler.withLock({ $0 }) else { return nil }
      return { error, session in handler(error, session) }
    }
    nonmutating set {
      var handler: App.ErrorHandler?
      if let wanted = newValue {
        handler = { error, session in wanted(error, session as? SyncSession) }
      }
      app.errorHandler.withLock { [handler] in $0 = handler }
    }
  }
}

extension App {
  /// Settings of all sessions.
  public var syncManager: SyncManager { SyncManager(self) }
}
