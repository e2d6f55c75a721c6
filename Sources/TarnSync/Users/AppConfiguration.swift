public import Foundation

/// How long a synchronized Realm waits for a server.
public struct SyncTimeoutOptions: Sendable, Equatable {
  /// How long a connection may take, in milliseconds; whole seconds count.
  public var connectTimeout: UInt

  /// Ten seconds unless given.
  public init(connectTimeout: UInt = 10_000) { self.connectTimeout = connectTimeout }
}

/// Where the server of an ``App`` is.
public struct AppConfiguration: Sendable, Equatable {
  /// The server: a PostgreSQL address without a password, such as
  /// `postgresql://db.example/todo`. Several hosts may be given, of which the one that accepts
  /// writes is used.
  public var baseURL: String
  /// The role of ``Credentials/anonymous``, which logs in without a password.
  public var anonymousRole: String?
  /// The table with a row of data for each user, for ``User/customData``. Its column `role` holds
  /// the name of the role.
  public var customDataTable: String?
  /// A file with the certificates that the server's one is checked against; nil for the system's.
  /// Without effect on the loopback and on Unix sockets, which need none.
  public var rootCertificates: URL?
  /// How long to wait for a connection.
  public var syncTimeouts: SyncTimeoutOptions

  /// - Parameter baseURL: the server, a PostgreSQL address without a password.
  public init(
    baseURL: String, anonymousRole: String? = nil, customDataTable: String? = nil,
    rootCertificates: URL? = nil, syncTimeouts: SyncTimeoutOptions = SyncTimeoutOptions()
  ) {
    self.baseURL = baseURL
    self.anonymousRole = anonymousRole
    self.customDataTable = customDataTable
    self.rootCertificates = rootCertificates
    self.syncTimeouts = syncTimeouts
  }

  /// - Throws: `ServerError` for a text that is not an address.
  func address() throws(ServerError) -> ServerAddress {
    var parameters = ["connect_timeout": "\(max(2, syncTimeouts.connectTimeout / 1_000))"]
    if let rootCertificates { parameters["sslrootcert"] = rootCertificates.path }
    return try ServerAddress(baseURL).setting(parameters)
  }
}
