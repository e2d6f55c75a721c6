internal import CPostgres

/// The address of a server: a PostgreSQL URL or connection string.
///
/// A password in it is refused, because addresses end up in logs, in the list of processes and in
/// shell histories; libpq reads one from `~/.pgpass` or `PGPASSFILE`.
package struct ServerAddress: Sendable, CustomStringConvertible {
  /// libpq's parameters by keyword, as given.
  private var given: [String: String]
  /// How long to wait for the server. The address determines the time for connecting, by libpq's
  /// `connect_timeout`.
  package var timeouts = ServerTimeouts()

  /// - Throws: `ServerError` for a text that is not an address, or that contains a password.
  package init(_ text: String) throws(ServerError) {
    var message: UnsafeMutablePointer<CChar>?
    guard let options = unsafe PQconninfoParse(text, &message) else {
      // The message may quote the text, including a password.
      unsafe PQfreemem(message)
      throw ServerError(
        "read the server's address",
        "it is not a PostgreSQL address such as postgresql://db.example/todo")
    }
    defer { unsafe PQconninfoFree(options) }
    let parameters = unsafe Self.values(options)
    if parameters["password"] != nil || parameters["sslpassword"] != nil {
      throw ServerError(
        "use the server's address", "it has a password in it",
        hint:
          "Put it into ~/.pgpass (host:port:database:user:password, mode 0600) and leave it out.")
    }
    for (keyword, what) in [("user", "login"), ("dbname", "database")] {
      guard let name = parameters[keyword], name.utf8.count > SQLText.nameBytesMax else {
        continue
      }
      throw ServerError(
        "use the server's address",
        "the name of its \(what) has \(name.utf8.count) bytes; PostgreSQL takes "
          + "\(SQLText.nameBytesMax)")
    }
    given = parameters
    if let seconds = parameters["connect_timeout"].flatMap({ Int($0) }) {
      timeouts.connect = .seconds(max(0, seconds))
    }
  }

  private static func values(
    _ options: UnsafeMutablePointer<PQconninfoOption>?
  ) -> [String: String] {
    var values: [String: String] = [:]
    guard var option = unsafe options else { return values }
    while let keyword = unsafe option.pointee.keyword {
      if let value = unsafe option.pointee.val {
        unsafe values[String(cString: keyword)] = String(cString: value)
      }
      unsafe option += 1
    }
    return values
  }

  /// All parameters, for a connection that is made now: the environment and the service file may
  /// name the hosts, and may change.
  package var parameters: [String: String] {
    var result = given
    func use(_ keyword: String, _ value: String) { result[keyword] = result[keyword] ?? value }
    use("application_name", "tarn")
    use("client_encoding", "UTF8")
    use("connect_timeout", "10")
    // A read-only server returns positions with a gap.
    use("target_session_attrs", "read-write")
    use("keepalives_idle", "10")
    use("keepalives_interval", "10")
    use("keepalives_count", "3")
    // The largest number that libpq accepts.
    let receipt = min(timeouts.receipt / .milliseconds(1), Double(Int32.max))
    use("tcp_user_timeout", "\(max(1, Int(receipt)))")
    let place = Self.place(given)
    if !place.isLocal {
      use("sslmode", "verify-full")
      use("sslrootcert", "/etc/ssl/certs/ca-certificates.crt")
    }
    // libpq connects to the hosts that were checked.
    result.merge(place.names) { $1 }
    return result
  }

  /// The hosts that libpq connects to, from the address, the environment and the service file.
  private static func place(_ given: [String: String]) -> ServerPlace {
    // libpq refuses this before it looks up or opens anything, but after it has read the hosts.
    var attempt = given
    attempt["sslmode"] = "unknown"
    let pairs = attempt.sorted { $0.key < $1.key }
    let handle = unsafe withCStrings(pairs.map(\.key) + [nil]) { keywords in
      unsafe withCStrings(pairs.map(\.value) + [nil]) { values in
        unsafe PQconnectStartParams(keywords, values, 0)
      }
    }
    defer { unsafe PQfinish(handle) }
    guard let options = unsafe PQconninfo(handle) else { return ServerPlace(given) }
    defer { unsafe PQconninfoFree(options) }
    let found = unsafe values(options)
    // A service that is missing in its file: connecting fails with an error about that.
    return found["sslmode"] == nil ? ServerPlace(given, isKnown: false) : ServerPlace(found)
  }

  /// The same server with a login.
  ///
  /// - Parameters:
  ///   - user: the role; nil for that of the address, or of the system.
  ///   - password: never part of a description or an error.
  package func login(as user: String?, password: String?) -> ServerAddress {
    var address = self
    if let user { address.given["user"] = user }
    if let password { address.given["password"] = password }
    return address
  }

  /// The same server with other parameters of libpq.
  package func setting(_ parameters: [String: String]) -> ServerAddress {
    var address = self
    address.given.merge(parameters) { $1 }
    return address
  }

  /// The same server with other times to wait for it.
  ///
  /// - Parameter time: the time for a connection, for an answer, and for the receipt of sent bytes.
  package func waiting(atMost time: Duration) -> ServerAddress {
    var address = self
    address.timeouts = ServerTimeouts(connect: time, answer: time, receipt: time)
    return address
  }

  /// The same server without a time limit for statements, for those of an administrator.
  package var patient: ServerAddress {
    var address = self
    address.timeouts.answer = nil
    return address
  }

  /// The role that logs in.
  package var user: String? { given["user"] }

  /// The host and the database.
  package var description: String {
    let names = Self.place(given).names
    let host = names["host"] ?? names["hostaddr"] ?? "the local server"
    let database = given["dbname"] ?? given["user"] ?? "the default database"
    return "\(host), \(database)"
  }
}
