internal import CPostgres

/// Where a server is and how to reach it: a PostgreSQL URL or connection string.
///
/// A password in it is refused, because addresses end up in logs, in the list of processes and in
/// shell histories; libpq reads one from `~/.pgpass` or `PGPASSFILE`.
package struct ServerAddress: Sendable, CustomStringConvertible {
  /// libpq's parameters by keyword.
  package private(set) var parameters: [String: String]

  /// - Throws: `ServerError` for a text that is not an address, or that has a password.
  package init(_ text: String) throws(ServerError) {
    var message: UnsafeMutablePointer<CChar>?
    guard let options = unsafe PQconninfoParse(text, &message) else {
      // The message may quote the text, and that a password.
      unsafe PQfreemem(message)
      throw ServerError(
        "read the server's address",
        "it is not a PostgreSQL address such as postgresql://db.example/todo")
    }
    defer { unsafe PQconninfoFree(options) }
    var parameters: [String: String] = [:]
    var option = unsafe options
    while let keyword = unsafe option.pointee.keyword {
      if let value = unsafe option.pointee.val {
        unsafe parameters[String(cString: keyword)] = String(cString: value)
      }
      unsafe option += 1
    }
    if parameters["password"] != nil || parameters["sslpassword"] != nil {
      throw ServerError(
        "use the server's address", "it has a password in it",
        hint:
          "Put it into ~/.pgpass (host:port:database:user:password, mode 0600) and leave it out.")
    }
    self.parameters = Self.standard(parameters)
  }

  /// Adds what the address leaves open.
  private static func standard(_ given: [String: String]) -> [String: String] {
    var result = given
    func use(_ keyword: String, _ value: String) { result[keyword] = result[keyword] ?? value }
    use("application_name", "tarn")
    use("client_encoding", "UTF8")
    use("connect_timeout", "10")
    // A server that only reads hands out positions with a gap.
    use("target_session_attrs", "read-write")
    use("keepalives_idle", "10")
    use("keepalives_interval", "10")
    use("keepalives_count", "3")
    use("tcp_user_timeout", "30000")
    if !isLocal(given) {
      use("sslmode", "verify-full")
      use("sslrootcert", "/etc/ssl/certs/ca-certificates.crt")
    }
    return result
  }

  /// Whether all hosts are Unix sockets or the loopback interface.
  private static func isLocal(_ parameters: [String: String]) -> Bool {
    let hosts = (parameters["hostaddr"] ?? parameters["host"] ?? "").split(separator: ",")
    return hosts.allSatisfy { host in
      host.hasPrefix("/") || host == "localhost" || host.hasPrefix("127.") || host == "::1"
    }
  }

  /// The same server with a login.
  ///
  /// - Parameters:
  ///   - user: the role; nil for that of the address, or of the system.
  ///   - password: is in no description and in no error.
  package func login(as user: String?, password: String?) -> ServerAddress {
    var address = self
    if let user { address.parameters["user"] = user }
    if let password { address.parameters["password"] = password }
    return address
  }

  /// The same server with other parameters of libpq.
  package func setting(_ parameters: [String: String]) -> ServerAddress {
    var address = self
    address.parameters.merge(parameters) { $1 }
    return address
  }

  /// The role that logs in.
  package var user: String? { parameters["user"] }

  /// The host and the database.
  package var description: String {
    let host = parameters["host"] ?? parameters["hostaddr"] ?? "the local server"
    let database = parameters["dbname"] ?? parameters["user"] ?? "the default database"
    return "\(host), \(database)"
  }
}
