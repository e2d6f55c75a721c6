/// A refusal of the server, or a connection that failed.
package struct ServerError: Error, Equatable, Sendable, CustomStringConvertible {
  /// PostgreSQL's code of five characters; empty if no server answered.
  package let state: String
  /// The operation that failed, as a verb with its object: "create the schema".
  package let operation: String
  package let message: String
  package let detail: String
  package let hint: String

  package init(
    state: String = "", _ operation: String, _ message: String, detail: String = "",
    hint: String = ""
  ) {
    self.state = state
    self.operation = operation
    self.message = message
    self.detail = detail
    self.hint = hint
  }

  package var description: String {
    let code = state.isEmpty ? "" : " (SQLSTATE \(state))"
    let rest = [detail, hint].filter { !$0.isEmpty }.map { "\n\($0)" }.joined()
    return "cannot \(operation): \(message)\(code)\(rest)"
  }
}
