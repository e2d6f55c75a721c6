import Foundation
public import Tarn
import TarnStore
import TarnText

/// Whether a user can use the server.
public enum UserState: Sendable {
  /// The user has logged out: the files stay, without a session.
  case loggedOut
  /// Sessions of the user's files run.
  case loggedIn
  /// The user was removed from this machine.
  case removed
}

/// A role of the server that programs of this machine use. Threading: any.
public final class User: Sendable {
  /// The name of the role.
  public let id: String
  /// The app whose user it is.
  public let app: App
  private let status = Lock(Status())

  private struct Follower: Sendable {
    weak let owner: (AnyObject & Sendable)?
    let body: @Sendable () -> Void
  }

  private struct Status {
    var followers: [Follower] = []
    /// Nil after logging out.
    var login: UserLogin?
    var isRemoved = false
    /// The user's row in the table of custom data, as JSON.
    var customData: JSONValue?
  }

  init(_ app: App, _ id: String) {
    self.app = app
    self.id = id
  }

  func enter(_ login: UserLogin) {
    status.withLock { status in
      status.login = login
      status.isRemoved = false
    }
    tellOfChange()
  }

  /// Calls `body` after each login and logout, until the object is released.
  func follow(as owner: AnyObject & Sendable, _ body: @escaping @Sendable () -> Void) {
    status.withLock { status in
      status.followers = status.followers.filter { $0.owner != nil }
      status.followers.append(Follower(owner: owner, body: body))
    }
  }

  private func tellOfChange() {
    for follower in status.withLock({ $0.followers }) where follower.owner != nil {
      follower.body()
    }
  }

  /// Whether the user can use the server.
  public var state: UserState {
    status.withLock { $0.isRemoved ? .removed : $0.login == nil ? .loggedOut : .loggedIn }
  }

  /// Whether sessions of the user's files run.
  public var isLoggedIn: Bool { state == .loggedIn }

  /// The server with the user's login.
  ///
  /// - Throws: ``AppError`` after a logout.
  func address() throws(AppError) -> ServerAddress {
    guard let login = status.withLock({ $0.login }) else {
      throw AppError(.userNotLoggedIn, "\(id) has logged out")
    }
    do {
      return try login.address(app.configuration)
    } catch {
      throw AppError(error)
    }
  }

  /// Logs out on this machine: ends the sessions of the user's files, and deletes the password. The
  /// files stay, and are synchronized after the next login.
  ///
  /// - Throws: ``AppError`` if the file of the logins cannot be written.
  public func logOut() async throws { try end(removing: false) }

  /// Logs out and removes the user. The user's files stay.
  ///
  /// - Throws: ``AppError`` if the file of the logins cannot be written.
  public func remove() async throws { try end(removing: true) }

  /// Deletes the user on the server, by ``AppConfiguration/deletionFunction``, then logs out and
  /// removes the user here. The user's files stay, and so do the objects on the server unless the
  /// function deletes them.
  ///
  /// - Throws: ``AppError`` if no function is configured, the user has logged out, the server
  ///   cannot be reached or refuses: then nothing has changed here; or if the file of the logins
  ///   cannot be written.
  public func delete() async throws {
    guard let function = app.configuration.deletionFunction else {
      throw AppError(
        .notConfigured,
        "AppConfiguration.deletionFunction names the function of the server that deletes a user,"
          + " and is nil")
    }
    let address = try address()
    try await Server.ask { () throws(ServerError) in
      _ = try ServerConnection(address).query(
        "SELECT \(SQLText.qualifiedName(function))()", for: "delete the user")
    }
    try await remove()
  }

  private func end(removing: Bool) throws {
    try app.logOut(id, removing: removing)
    status.withLock { status in
      status.login = nil
      status.isRemoved = removing
    }
    tellOfChange()
  }

  // MARK: - Custom data

  /// The user's row in ``AppConfiguration/customDataTable`` by the names of its columns, as last
  /// read by ``refreshCustomData()``; empty before that. Arrays and objects of a `jsonb` become
  /// lists and maps.
  public var customData: [String: AnyRealmValue] {
    guard case .object(let members)? = status.withLock({ $0.customData }) else { return [:] }
    return Dictionary(members.map { ($0.name, AnyRealmValue($0.value)) }) { $1 }
  }

  /// Reads the user's row in ``AppConfiguration/customDataTable``: the row whose column `role` has
  /// the name of the role.
  ///
  /// - Returns: the data.
  /// - Throws: ``AppError`` if the server cannot be reached, or refuses.
  @discardableResult
  public func refreshCustomData() async throws -> [String: AnyRealmValue] {
    guard let table = app.configuration.customDataTable else { return [:] }
    let (address, role) = (try address(), id)
    let text = try await Server.ask { () throws(ServerError) in
      let name = SQLText.qualifiedName(table)
      return try ServerConnection(address).query(
        "SELECT to_jsonb(t) FROM \(name) t WHERE t.role::text = $1", [role],
        for: "read the user's data"
      ).first?.first ?? nil
    }
    let json = text.flatMap { try? JSONScanner.value(in: $0) }
    status.withLock { $0.customData = json }
    return customData
  }
}

extension User: Equatable, Hashable {
  /// True if both are the same role of the same app.
  public static func == (a: User, b: User) -> Bool { a.id == b.id && a.app == b.app }

  /// Hashes the role.
  public func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

extension AnyRealmValue {
  fileprivate init(_ json: JSONValue) {
    switch json {
    case .null: self = .none
    case .bool(let flag): self = .bool(flag)
    case .integer(let number): self = .int(Int(number))
    case .whole(let text), .number(let text): self = .double(Double("\(text)") ?? .nan)
    case .double(let number): self = .double(number)
    case .string(let text): self = .string(text)
    case .array(let items): self = .fromArray(items.map { AnyRealmValue($0) })
    case .object(let members):
      self = .fromDictionary(
        Dictionary(members.map { ($0.name, AnyRealmValue($0.value)) }) { $1 })
    }
  }
}
