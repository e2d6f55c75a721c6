public import Foundation

/// How long a synchronized Realm waits for a server.
public struct SyncTimeoutOptions: Sendable, Equatable {
  /// How long a connection to one of the server's addresses may take, in milliseconds; 0 for any
  /// time.
  public var connectTimeout: UInt
  /// How long the server may neither send nor accept a byte while an answer is outstanding, in
  /// milliseconds; 0 for any time. Large transfers may take longer, as long as bytes are
  /// transferred. After that time the session closes the connection, reports this, and connects
  /// again.
  public var answerTimeout: UInt

  /// Ten seconds to connect and a minute to answer by default.
  public init(connectTimeout: UInt = 10_000, answerTimeout: UInt = 60_000) {
    self.connectTimeout = connectTimeout
    self.answerTimeout = answerTimeout
  }
}

/// The server of an ``App``.
public struct AppConfiguration: Sendable, Equatable {
  /// The server: a PostgreSQL address without a password, such as `postgresql://db.example/todo`.
  /// With several hosts, the one that accepts writes is used.
  public var baseURL: String
  /// The role for ``Credentials/anonymous``, which logs in without a password.
  public var anonymousRole: String?
  /// The table with a row of data for each user, for ``User/customData``. Its column `role` has the
  /// name of the role.
  public var customDataTable: String?
  /// The function of the database that ``User/delete()`` calls, without arguments, as the user: a
  /// role cannot drop itself, so a function of the administrator locks it, or notes it for removal.
  public var deletionFunction: String?
  /// A file of certificates with which the server's certificate is verified; nil for the system's.
  /// Ignored for the loopback and for Unix sockets, which need none.
  public var rootCertificates: URL?
  /// How long to wait for a connection.
  public var syncTimeouts: SyncTimeoutOptions

  /// - Parameter baseURL: the server, a PostgreSQL address without a password.
  public init(
    baseURL: String, anonymousRole: String? = nil, customDataTable: String? = nil,
    deletionFunction: String? = nil, rootCertificates: URL? = nil,
    syncTimeouts: SyncTimeoutOptions = SyncTimeoutOptions()
  ) {
    self.baseURL = baseURL
    self.anonymousRole = anonymousRole
    self.customDataTable = customDataTable
    self.deletionFunction = deletionFunction
    self.rootCertificates = rootCertificates
    self.syncTimeouts = syncTimeouts
  }

  /// - Throws: `ServerError` for a text that is not an address.
  func address() throws(ServerError) -> ServerAddress {
    var address = try ServerAddress(baseURL)
    if let rootCertificates { address = address.setting(["sslrootcert": rootCertificates.path]) }
    address.timeouts.connect = .milliseconds(syncTimeouts.connectTimeout)
    let answer = syncTimeouts.answerTimeout
    address.timeouts.answer = answer == 0 ? nil : .milliseconds(answer)
    return address
  }
}
