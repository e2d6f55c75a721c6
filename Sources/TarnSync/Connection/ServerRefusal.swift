/// The consequence of a SQLSTATE for a push: one table for all of them, by the classes of
/// PostgreSQL's appendix of error codes.
enum ServerRefusal: Equatable {
  /// The commit breaks a rule of the server, and would break it again: a value out of range, a
  /// constraint, a right, a limit, an exception of a trigger.
  case commit
  /// Another replica has written values that the commit changes: pull, merge, push again.
  case merge
  /// The server, or its version of this replica, is another one: pull.
  case version
  /// The server refuses the login: its user has to act.
  case login
  /// The server lacks a class or property: try again when it has been added.
  case schema
  /// The server is read-only: look for the primary.
  case standby
  /// A problem of these objects, but not of their values: a lock, a conflict, a time limit, or a
  /// mistake on the server, such as a trigger that calls a missing function. Try again, and after
  /// some equal answers send the other classes without this one.
  case stuck
  /// A problem of the whole server: a lost connection, a shutdown, a full disk, too many
  /// connections. Try again.
  case again

  init(_ state: String) {
    self = Self.states[state] ?? Self.classes[String(state.prefix(2))] ?? Self.other(state)
  }

  /// Codes that differ from the others of their class.
  private static let states: [String: ServerRefusal] = [
    // Ours.
    "TN001": .merge, "TN002": .version,
    // The server cannot begin, or has ended, a transaction.
    "25006": .standby, "25P03": .again, "25P04": .again,
    // A missing right, table or column.
    "42501": .commit, "42P01": .schema, "42703": .schema,
    // A pooler has given the connection to another server process.
    "42P05": .again,
    // RAISE without a condition, no data, too many rows, ASSERT.
    "P0001": .commit, "P0002": .commit, "P0003": .commit, "P0004": .commit,
    // Objects that are in use for now, and objects in a wrong state.
    "55P02": .again,
    // The end of one statement, by a person or by a time limit.
    "57014": .stuck,
    // A deadline of the server for the whole connection.
    "57P05": .again,
  ]

  private static let classes: [String: ServerRefusal] = [
    // Success, warning, no data: these are not errors.
    "00": .stuck, "01": .stuck, "02": .stuck,
    "03": .stuck,  // SQL statement not yet complete
    "08": .again,  // connection exception
    "09": .commit,  // triggered action exception
    "0A": .stuck,  // feature not supported
    "0B": .stuck,  // invalid transaction initiation
    "0F": .stuck, "0L": .stuck, "0P": .stuck,  // locator, grantor, role
    "0Z": .stuck,  // diagnostics exception
    "20": .commit,  // case not found
    "21": .commit,  // cardinality violation
    "22": .commit,  // data exception
    "23": .commit,  // integrity constraint violation
    "24": .stuck,  // invalid cursor state
    "25": .stuck,  // invalid transaction state
    "26": .again,  // invalid statement name: a pooler's other server process
    "27": .stuck,  // triggered data change violation
    "28": .login,  // invalid authorization
    "2B": .stuck,  // dependent privilege descriptors still exist
    "2D": .stuck,  // invalid transaction termination, such as COMMIT in a trigger
    "2F": .commit,  // exception of a SQL routine
    "34": .stuck,  // invalid cursor name
    "38": .commit, "39": .commit,  // exceptions of external routines and their calls
    "3B": .stuck,  // savepoint exception
    "3D": .schema,  // the database is not there
    "3F": .schema,  // the schema is not there
    "40": .stuck,  // transaction rollback: a conflict, a deadlock
    "42": .stuck,  // syntax error, an undefined function or type
    "44": .commit,  // WITH CHECK OPTION violation
    "53": .again,  // insufficient resources
    "54": .commit,  // program limit exceeded
    "55": .stuck,  // object not in prerequisite state
    "57": .again,  // operator intervention
    "58": .again,  // system error
    "72": .again,  // snapshot too old
    "F0": .again,  // configuration file
    "HV": .stuck,  // foreign data wrapper
    "P0": .stuck,  // PL/pgSQL
    "TN": .again,  // ours
    "XX": .stuck,  // internal error, damaged data
  ]

  /// PostgreSQL has no such class, so a function of the application has raised it.
  private static func other(_ state: String) -> ServerRefusal {
    state.isEmpty ? .again : .commit
  }
}
