import Foundation
import TarnStore

/// A PostgreSQL database through which files are synchronized, with its users.
///
///     let app = App(id: "todo", configuration: AppConfiguration(
///       baseURL: "postgresql://db.example/todo"))
///     let user = try await app.login(credentials: .emailPassword(email: "frodo", password: "…"))
///
/// Users are roles of the server. Their logins, with passwords, are kept in
/// `~/.local/share/tarn/users`, in files that only their owner can read. Threading: any.
public final class App: Sendable {
  /// Identifies the app on this machine: apps with the same id share their users.
  public let id: String
  /// The address of the server, and options.
  public let configuration: AppConfiguration
  /// The handler for problems of sessions.
  let errorHandler = Lock(ErrorHandler?.none)
  typealias ErrorHandler = @Sendable (any Error, AnyObject?) -> Void
  let folder: URL
  private let file: UserFile
  private let known = Lock([String: User]())

  /// - Parameters:
  ///   - id: identifies the app on this machine.
  ///   - configuration: the address of the server, and options.
  public convenience init(id: String, configuration: AppConfiguration) {
    self.init(id: id, configuration: configuration, folder: UserFile.standardFolder)
  }

  /// - Parameter folder: the folder of its users' logins and files.
  init(id: String, configuration: AppConfiguration, folder: URL) {
    self.id = id
    self.configuration = configuration
    self.folder = folder
    file = UserFile(id, in: folder)
  }

  /// Logs in, after asking the server whether it accepts the login. The user becomes the current
  /// one, and stays logged in when the program ends.
  ///
  /// - Throws: ``AppError``.
  @discardableResult
  public func login(credentials: Credentials) async throws -> User {
    let login = try credentials.login(configuration)
    let configuration = configuration
    try await Server.ask { () throws(ServerError) in
      _ = try ServerConnection(login.address(configuration))
    }
    let user = user(login)
    user.enter(login)
    try change { content in
      content.logins.removeAll { $0.role == login.role }
      content.loggedOut.removeAll { $0 == login.role }
      content.logins.append(login)
      content.current = login.role
    }
    return user
  }

  /// Logs in like ``login(credentials:)``, and calls `completion` on another thread with the user,
  /// or with an ``AppError``.
  public func login(
    credentials: Credentials, _ completion: @escaping @Sendable (Result<User, any Error>) -> Void
  ) {
    Completion.run(completion) { try await self.login(credentials: credentials) }
  }

  /// The user who logged in last, or to whom the app was switched; nil if no user is logged in, or
  /// if the file of the logins cannot be read.
  public var currentUser: User? {
    guard let content = try? file.read(),
      let login = content.logins.first(where: { $0.role == content.current })
    else { return nil }
    return user(login)
  }

  /// All users who have logged in on this machine and were not removed, by their ids.
  public var allUsers: [String: User] {
    guard let content = try? file.read() else { return [:] }
    var users: [String: User] = [:]
    for login in content.logins { users[login.role] = user(login) }
    for role in content.loggedOut { users[role] = user(UserLogin(role: role), isOut: true) }
    return users
  }

  /// Makes another logged-in user the current one.
  ///
  /// - Throws: ``AppError`` if that user is not logged in.
  @discardableResult
  public func `switch`(to user: User) throws -> User {
    try change { content throws(AppError) in
      guard content.logins.contains(where: { $0.role == user.id }) else {
        throw AppError(.userNotLoggedIn, "\(user.id) is not logged in")
      }
      content.current = user.id
    }
    return user
  }

  private func user(_ login: UserLogin, isOut: Bool = false) -> User {
    known.withLock { known in
      if let user = known[login.role] { return user }
      let user = User(self, login.role)
      if !isOut { user.enter(login) }
      known[login.role] = user
      return user
    }
  }

  func logOut(_ role: String, removing: Bool) throws(AppError) {
    try change { content in
      content.logins.removeAll { $0.role == role }
      content.loggedOut.removeAll { $0 == role }
      if !removing { content.loggedOut.append(role) }
      if content.current == role { content.current = content.logins.last?.role }
    }
    if removing { known.withLock { $0[role] = nil } }
  }

  private func change(_ body: (inout UserFile.Content) throws(AppError) -> Void) throws(AppError) {
    var content = try file.read()
    try body(&content)
    try file.write(content)
  }
}

extension App: Equatable {
  /// True if both are one app with one configuration.
  public static func == (a: App, b: App) -> Bool {
    a === b || a.id == b.id && a.configuration == b.configuration
  }
}

/// Blocking requests to a server, outside of the threads that tasks share.
enum Server {
  static func ask<R: Sendable>(
    _ question: @escaping @Sendable () throws(ServerError) -> R
  ) async throws(AppError) -> R {
    let result: Result<R, ServerError> = await withCheckedContinuation { continuation in
      let isStarted = BackgroundThread.start("tarn-login") {
        continuation.resume(returning: Result { () throws(ServerError) in try question() })
      }
      if !isStarted {
        continuation.resume(
          returning: .failure(ServerError("log in", "the process cannot start another thread")))
      }
    }
    switch result {
    case .success(let answer): return answer
    case .failure(let error): throw AppError(error)
    }
  }
}
