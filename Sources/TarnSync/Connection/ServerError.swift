/// A refusal of the server, or a connection that failed.
package struct ServerError: Error, Equatable, Sendable, CustomStringConvertible {
  /// PostgreSQL's code of five characters; empty if no server answered.
  package let state: String
  /// The operation that failed, as a verb with its object: "create the schema".
  package let operation: String
  package let message: String
  package let detail: String
  package let hint: String
  /// The column or constraint whose rule was broken, as far as the server names it.
  let place: Place?

  /// A place in the server's tables; unknown names are empty.
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

  /// Whether the server is unreachable, full or busy, so that another attempt may succeed.
  package var isPassing: Bool {
    switch ServerRefusal(state) {
    case .again, .standby: true
    case .commit, .merge, .version, .login, .schema, .stuck: false
    }
  }

  /// The SQLSTATE of a missing right.
  static let lacksRight = "42501"

  /// Whether it lasts until a person acts: the login is refused or lacks a right, the database does
  /// not exist or is not prepared, or lacks a class or a property.
  var isLasting: Bool {
    switch ServerRefusal(state) {
    case .login, .schema: true
    case .commit: state == Self.lacksRight
    case .again, .standby, .merge, .version, .stuck: false
    }
  }

  /// The same problem, during another operation.
  func during(_ other: String) -> ServerError {
    ServerError(state: state, other, message, detail: detail, hint: hint, at: place)
  }

  package var description: String {
    let code = state.isEmpty ? "" : " (SQLSTATE \(state))"
    let rest = [detail, hint].filter { !$0.isEmpty }.map { "\n\($0)" }.joined()
    return "cannot \(operation): \(message)\(code)\(rest)"
  }
}
