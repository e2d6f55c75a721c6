public import Foundation

/// A login: a role of PostgreSQL, and its proof.
public enum Credentials: Sendable {
  /// The role of ``AppConfiguration/anonymousRole``, without a password.
  case anonymous
  /// A role and its password. The name of a role can be any text of 1 to 63 bytes, such as an email
  /// address; other names are refused.
  case emailPassword(email: String, password: String)
  /// A role whose password libpq reads from a file with lines `host:port:database:role:password`,
  /// mode 0600: `~/.pgpass` unless given.
  case passfile(role: String, file: URL? = nil)
  /// A role with a client certificate. The key's file must have mode 0600.
  case clientCertificate(role: String, certificate: URL, key: URL)

  /// The login in the form of libpq.
  ///
  /// - Throws: `AppError` if the configuration has no anonymous role, or for a name that no role
  ///   can have: PostgreSQL truncates a longer one, and uses the system's user for an empty one.
  func login(_ configuration: AppConfiguration) throws(AppError) -> UserLogin {
    let login = try chosenLogin(configuration)
    let bytes = login.role.utf8
    guard (1...SQLText.nameBytesMax).contains(bytes.count), !bytes.contains(0) else {
      throw AppError(
        .invalidCredentials,
        bytes.contains(0)
          ? "the name of a role cannot have a NUL in it"
          : "the name of a role has 1 to \(SQLText.nameBytesMax) bytes, not \(bytes.count)")
    }
    return login
  }

  private func chosenLogin(_ configuration: AppConfiguration) throws(AppError) -> UserLogin {
    switch self {
    case .anonymous:
      guard let role = configuration.anonymousRole else {
        throw AppError(
          .invalidCredentials,
          "AppConfiguration.anonymousRole names the role of users without a login, and is nil")
      }
      return UserLogin(role: role)
    case .emailPassword(let email, let password):
      return UserLogin(role: email, password: password)
    case .passfile(let role, let file):
      return UserLogin(role: role, parameters: file.map { ["passfile": $0.path] } ?? [:])
    case .clientCertificate(let role, let certificate, let key):
      return UserLogin(
        role: role, parameters: ["sslcert": certificate.path, "sslkey": key.path])
    }
  }
}

/// A failure of a login or of a user's data.
public struct AppError: Error, Equatable, Sendable, CustomStringConvertible, LocalizedError {
  /// The kinds of failure.
  public enum Code: Sendable {
    /// The server does not know the role, or its password or certificate is wrong.
    case invalidCredentials
    /// The server cannot be reached, or refuses.
    case serverUnavailable
    /// The file of the logins cannot be read or written.
    case fileAccess
    /// The user has logged out, or was removed.
    case userNotLoggedIn
    /// The configuration lacks what the call needs.
    case notConfigured
  }

  /// The kind of failure.
  public let code: Code
  /// A sentence for people. It never contains a password.
  public let message: String

  init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  /// The server's reason.
  init(_ error: ServerError) {
    let isLogin = ServerRefusal(error.state) == .login
    self.init(isLogin ? .invalidCredentials : .serverUnavailable, "\(error)")
  }

  /// The message.
  public var description: String { message }
  /// The message, as `localizedDescription` returns it.
  public var errorDescription: String? { message }
}
