/// The consequence of a SQLSTATE for a push: one table for all of them.
enum ServerRefusal: Equatable {
  /// The commit breaks a rule of the server, and would break it again: a value out of range, a
  /// constraint, a right, a limit, an exception of a trigger.
  case commit
  /// Another one has written what the commit changes: pull, merge, push again.
  case merge
  /// The server, or its version of this replica, is another one: pull.
  case version
  /// The server does not accept the login: its user has to act.
  case login
  /// The server lacks a class or property: try again when it has been added.
  case schema
  /// The server only reads: look for the primary.
  case standby
  /// A lost connection, a lock, a conflict, a shutdown, or anything that is not in the table: try
  /// again.
  case again

  init(_ state: String) {
    switch state {
    case "TN001": self = .merge
    case "TN002": self = .version
    case "25006": self = .standby
    case "42P01", "42703": self = .schema
    case "42501", "P0001": self = .commit
    default:
      switch state.prefix(2) {
      case "22", "23", "44", "54": self = .commit
      case "28": self = .login
      default: self = .again
      }
    }
  }
}
