import Foundation
import TarnStore

/// Sends a run of a replica's commits as one transaction: their net difference.
struct Push {
  /// A change of one object.
  enum Operation {
    case insert(ObjectRow<WireValue?>)
    case delete(incarnation: Int64)
    case update(incarnation: Int64, [String: ObjectRow<WireValue?>.Property])

    fileprivate var values: [String: ObjectRow<WireValue?>.Property] {
      switch self {
      case .insert(let row): row.values
      case .delete: [:]
      case .update(_, let values): values
      }
    }

    /// The size of the values.
    var byteCount: Int { values.values.reduce(0) { $0 + ($1.wire?.byteCount ?? 0) } }

    /// Why no server can store a value of it; nil if one may.
    func fault(in one: ExchangeClass) -> String? {
      for (name, property) in values {
        guard let wire = property.wire, wire.byteCount > Push.valueBytesMax else { continue }
        return "a value of \(one.table).\(SQLText.name(name)) has \(wire.byteCount) bytes, and"
          + " \(Push.valueBytesMax) is the most"
      }
      return nil
    }
  }

  /// PostgreSQL stores no more elements in a jsonb. A text may be longer there, but a message may
  /// not.
  static let valueBytesMax = 268_435_455
  /// The maximum size of the values in one statement, in bytes: PostgreSQL accepts messages of 1
  /// GB.
  static let statementBytes = 128 << 20

  /// The commits of a push: those after one version up to another, with the ids of both.
  struct Range {
    let first: (version: Int64, commit: Int64)
    let last: (version: Int64, commit: Int64)
  }

  enum Answer: Equatable {
    case taken
    /// Another replica has written data that this one has not seen: pull, then push again.
    case mergeFirst
    /// The server, or its record of this replica, is another one: pull.
    case otherVersion
    /// The server's reason. A run of several commits is sent again in parts.
    case refused(ServerError)
    /// The server has neither these objects nor their tombstones: it was restored. Reconcile, then
    /// send them as a whole.
    case lost(Set<Int64>)
  }

  private static let operation = "send commits to the server"
  let connection: ServerConnection
  /// Its UUID, and its number on the server.
  let replica: (id: String, number: UInt32)
  /// The server's identity, from the last pull.
  let server: String
  /// Statements that follow the commit, in a separate transaction. They may fail.
  var following: [String] = []

  /// - Throws: `ServerError` for a failure that is not a problem of the commits. `ServerRefusal`
  ///   has its consequence.
  func run(
    _ range: Range, _ classes: [(class: ExchangeClass, operations: [(Value, Operation)])]
  ) throws(ServerError) -> Answer {
    for (one, operations) in classes {
      for (_, operation) in operations {
        guard let fault = operation.fault(in: one) else { continue }
        return .refused(
          ServerError(state: "54000", Self.operation, fault, hint: "Keep it in several objects."))
      }
    }
    let again = KeysMadeAgain(classes)
    let pushes = classes.sorted { $0.class.id < $1.class.id }.map {
      ClassPush(
        connection, replica.number, $0.class, Self.operation, $0.operations, again: again)
    }
    var first: ServerError?
    let ways = PushStages.ways(pushes)
    for (place, stages) in ways.enumerated() {
      var answer = try run(range, pushes, stages)
      if case .refused(let error) = answer, error.state == "23505",
        pushes.contains(where: { $0.one.rules.takenKeys == .skippedByLook })
      {
        // Another replica has taken a key since the look-up. The next look-up finds it.
        answer = try run(range, pushes, stages)
      }
      guard case .refused(let error) = answer else { return answer }
      if place + 1 < ways.count, stages.mayDiffer(error.state) {
        first = error
        continue
      }
      // The last way may have failed only because of its order.
      let reason = first.flatMap { PushStages.isUnfit($0.state) ? nil : $0 } ?? error
      if PushStages.isUnfit(reason.state) { throw reason }
      return .refused(reason)
    }
    return .taken
  }

  /// Writes in one of the ways.
  private func run(
    _ range: Range, _ pushes: [ClassPush], _ stages: PushStages
  ) throws(ServerError) -> Answer {
    do throws(ServerError) {
      if try writeAtOnce(range, pushes, stages) { return .taken }
      if let problem = try write(range, pushes, stages) {
        try connection.run("ROLLBACK", for: Self.operation)
        return problem
      }
      _ = try connection.binary(ending, needing: 1, for: Self.operation)
      return .taken
    } catch {
      // If this fails, the connection is closed and the server rolls back.
      try? connection.run("ROLLBACK", for: Self.operation)
      if PushStages.isUnfit(error.state) { return .refused(error) }
      if let lack = ClassPush.lackOfTriggers(behind: error) { throw lack }
      switch ServerRefusal(error.state) {
      case .merge: return .mergeFirst
      case .version: return .otherVersion
      case .commit:
        let explained = try ServerObstacles.explained(error, connection)
        if explained != error { throw explained }
        return .refused(error)
      case .login, .schema, .standby, .stuck, .again: throw error
      }
    }
  }

  private var ending: [ServerConnection.Statement] {
    (["COMMIT"] + following).map { ServerConnection.Statement($0) }
  }

  /// The states of errors from our check that all rows were written (a division by zero), or from a
  /// plan that does not fit or does not exist, after which the statements must be sent in the other
  /// way.
  private static let lackStates: Set<String> = ["22012", "0A000", "26000", "42P05"]

  /// Writes all objects and commits, in one round trip, if there is no obstacle.
  ///
  /// - Returns: false if nothing was written, because a row was missing, or a key was taken.
  private func writeAtOnce(
    _ range: Range, _ pushes: [ClassPush], _ stages: PushStages
  ) throws(ServerError) -> Bool {
    let statements =
      beginning(range) + locks(pushes)
      + stages.stages.map {
        PushStatement(parts: $0.map { pushes[$0.class].parts[$0.part] }).checked
      }
    do throws(ServerError) {
      _ = try connection.binary(
        statements + ending, needing: statements.count + 1, for: Self.operation)
      return true
    } catch {
      guard Self.lackStates.contains(error.state) else { throw error }
      try connection.run("ROLLBACK", for: Self.operation)
      return false
    }
  }

  /// In the order of classes, which is the same for all pushes. A class with only one row to update
  /// is locked in that order by the update.
  private func locks(_ pushes: [ClassPush]) -> [ServerConnection.Statement] {
    let changed = pushes.reduce(0) { $0 + $1.changedCount }
    let kinds = Set(pushes.flatMap { $0.parts.map(\.kind) })
    let isOne =
      changed <= 1 || !kinds.contains(.deletion) && pushes.allSatisfy { $0.changedCount <= 1 }
    return isOne ? [] : pushes.compactMap(\.locking)
  }

  private func beginning(_ range: Range) -> [ServerConnection.Statement] {
    [
      ServerConnection.Statement("BEGIN ISOLATION LEVEL READ COMMITTED"),
      // A stopped replica must not hold its locks, nor wait forever for those of others. A pooler
      // passes on no other settings.
      ServerConnection.Statement(
        """
        SELECT set_config('lock_timeout', '5s', true),
          set_config('idle_in_transaction_session_timeout', '10s', true),
          set_config('plan_cache_mode', 'force_generic_plan', true),
          tarn.push($1::uuid, $2, $3, $4, $5, $6)
        """,
        [WireParameter(text: replica.id), WireParameter(text: server)]
          + [
            range.first.version, range.last.version, range.first.commit, range.last.commit,
          ].map { WireParameter(.bigint, WireValue(.int($0))?.bytes) },
        isRepeated: true),
    ]
  }

  /// Begins a transaction and writes all objects, usually in one round trip.
  ///
  /// - Returns: nil if everything is written, otherwise how to proceed.
  private func write(
    _ range: Range, _ pushes: [ClassPush], _ stages: PushStages
  ) throws(ServerError) -> Answer? {
    let begin = beginning(range) + locks(pushes)
    let statements = stages.stages.map {
      PushStatement(parts: $0.map { pushes[$0.class].parts[$0.part] })
    }
    let found = try connection.binary(begin + statements.map(\.unchecked), for: Self.operation)
    var results = pushes.map { $0.parts.map { _ in PushPart.Result() } }
    for (number, stage) in stages.stages.enumerated() {
      let own = statements[number].results(of: found[begin.count + number])
      for (place, result) in zip(stage, own) { results[place.class][place.part] = result }
    }
    for (one, own) in zip(pushes, results) {
      if let problem = try one.answer(to: own) { return problem }
    }
    return nil
  }
}

extension ObjectRow.Property where Value == WireValue? {
  /// The value that is sent.
  fileprivate var wire: WireValue? {
    if case .single(let wire) = content { wire } else { nil }
  }
}
