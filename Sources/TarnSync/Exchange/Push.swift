import Foundation
import TarnStore

/// Sends a run of a replica's commits as one transaction: their net difference.
struct Push {
  /// A change of one object.
  enum Operation {
    case insert(ObjectRow<WireValue?>)
    case delete(incarnation: Int64)
    case update(incarnation: Int64, [String: ObjectRow<WireValue?>.Property])
  }

  /// The commits of a push: those after one version up to another, with the ids of both.
  struct Range {
    let first: (version: Int64, commit: Int64)
    let last: (version: Int64, commit: Int64)
  }

  enum Answer: Equatable {
    case taken
    /// Another one has written what this replica had not seen: pull, then push again.
    case mergeFirst
    /// The server, or what it has of this replica, is another one: pull.
    case otherVersion
    /// The server's reason. A run of several commits is sent again in parts.
    case refused(ServerError)
    /// The server has neither these objects nor their tombstones: it was restored. Reconcile, then
    /// send them as a whole.
    case lost(Set<Int64>)
  }

  private static let operation = "send commits to the server"
  /// A replica that is stopped must not hold its locks, nor wait for ever for those of others.
  private static let limits = """
    SET LOCAL lock_timeout = '5s'; SET LOCAL idle_in_transaction_session_timeout = '10s'
    """
  let connection: ServerConnection
  /// A UUID, and its number on the server.
  let replica: (id: String, number: UInt32)
  /// The server's identity, as the last pull gave it.
  let server: String

  /// - Throws: `ServerError` for a failure that says nothing about the commits. `ServerRefusal` has
  ///   its consequence.
  func run(
    _ range: Range, _ classes: [(class: ExchangeClass, operations: [(Value, Operation)])]
  ) throws(ServerError) -> Answer {
    var problem: Answer?
    do throws(ServerError) {
      // A pooler passes on no other settings.
      let first = """
        \(Self.limits); SELECT tarn.push(
          \(SQLText.literal(replica.id)), \(SQLText.literal(server)), \(range.first.version),
          \(range.last.version), '\(range.first.commit)', '\(range.last.commit)')
        """
      try connection.transaction("READ COMMITTED", beginning: first, for: Self.operation) {
        _ throws(ServerError) in
        for (one, operations) in classes.sorted(by: { $0.class.id < $1.class.id }) {
          problem = try ClassPush(connection, replica.number, one, Self.operation).run(operations)
          // Rolls the transaction back.
          if problem != nil { throw ServerError(Self.operation, "the objects have changed") }
        }
      }
      return .taken
    } catch {
      if let problem { return problem }
      switch ServerRefusal(error.state) {
      case .merge: return .mergeFirst
      case .version: return .otherVersion
      case .commit: return .refused(error)
      case .login, .schema, .standby, .again: throw error
      }
    }
  }
}
