/// A refusal of the server, or a connection that failed.
package struct ServerError: Error, Equatable, Sendable, CustomStringConvertible {
  /// PostgreSQL's code of five characters; empty if no server answered.
  package let state: String
  /// The operation that failed, as a verb with its object: "create the schema".
  package let operation: String
  package let message: String
  package let detail: String
  package let hint: String
  /// The place where a rule was broken, as far as the server names it.
  let place: Place?

  /// A place in the server's tables; empty names are not known.
  struct Place: Equatable, Sendable {
    let schema: String
    let table: String
    let column: String
    let constraint: String
  }

  package init(
    state: String = "", _ operation: String, _ message: String, detail: String = "",
    hint: String = ""
  ) {
    self.init(state: state, operation, message, detail: detail, hint: hint, at: nil)
  }

  init(
    state: String, _ operation: String, _ message: String, detail: String, hint: String,
    at place: Place?
  ) {
    self.place = place
    self.state = state
    self.operation = operation
    self.message = message
    self.detail = detail
    self.hint = hint
  }

  /// Whether the server is away, full or busy, so that another attempt may succeed.
  package var isPassing: Bool {
    switch ServerRefusal(state) {
    case .again, .standby: true
    case .commit, .merge, .version, .login, .schema, .stuck: false
    }
  }

  /// The SQLSTATE of a right that is not there.
  static let lacksRight = "42501"

  /// Whether it stays until a person acts: the login is refused or lacks a right, the database is
  /// not there or not prepared, or lacks a class or a property.
  var isLasting: Bool {
    switch ServerRefusal(state) {
    case .login, .schema: true
    case .commit: state == Self.lacksRight
    case .again, .standby, .merge, .version, .stuck: false
    }
  }

  /// The same problem, in the way of another operation.
  func during(_ other: String) -> ServerError {
    ServerError(state: state, other, message, detail: detail, hint: hint, at: place)
  }

  package var description: String {
    let code = state.isEmpty ? "" : " (SQLSTATE \(state))"
    let rest = [detail, hint].filter { !$0.isEmpty }.map { "\n\($0)" }.joined()
    return "cannot \(operation): \(message)\(code)\(rest)"
  }
}
