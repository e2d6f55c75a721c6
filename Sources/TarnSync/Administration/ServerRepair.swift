/// An administrator's notes to a server: about changes that no trigger has seen, and about classes
/// or replicas that no longer exist.
package struct ServerRepair {
  private let connection: ServerConnection

  package init(_ connection: ServerConnection) { self.connection = connection }

  /// Makes replicas reconcile a class after each statement that changes a table on which its
  /// policies depend: `tarn server depends`.
  ///
  /// - Parameter table: the table's name, with its schema unless the login finds it.
  /// - Returns: false if it was already set.
  package func depend(_ name: String, on table: String) throws(ServerError) -> Bool {
    let operation = "let \(name) depend on \(table)"
    try ServerSetup.check(connection, operation)
    let place = try TableName.find(table, connection, operation).name
    try requireOwner(of: place, operation)
    let catalog = ServerCatalog(connection, operation)
    return try catalog.changing(asOwner: false) { () throws(ServerError) in
      let entry = try catalog.existing(name)
      let trigger = SQLText.name("\(ClassTriggers.name)_depends_\(entry.id)")
      let former = try connection.query(
        "SELECT FROM pg_trigger WHERE tgrelid = $1::regclass AND quote_ident(tgname) = $2",
        [place, trigger], for: operation)
      if !former.isEmpty { return false }
      try connection.run(
        """
        CREATE TRIGGER \(trigger) AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON \(place)
          FOR EACH STATEMENT EXECUTE FUNCTION tarn.depend(\(entry.id));
        ALTER TABLE \(place) ENABLE ALWAYS TRIGGER \(trigger);
        """, for: operation)
      try catalog.renew(entry.id)
      return true
    }
  }

  /// Only its owner can enable a trigger of a table in all sessions.
  private func requireOwner(of table: String, _ operation: String) throws(ServerError) {
    let rows = try connection.query(
      """
      SELECT quote_ident(current_user), t.relowner::regrole FROM pg_class t
      WHERE t.oid = $1::regclass AND NOT pg_has_role(t.relowner, 'USAGE')
      """, [table], for: operation)
    guard let row = rows.first, let login = row[0], let owner = row[1] else { return }
    throw ServerError(
      state: ServerError.lacksRight, operation,
      "the login \(login) lacks the rights of \(owner), who owns \(table)",
      hint: "Use a login that has them, or GRANT \(owner) TO \(login).")
  }

  /// Sends rows that were changed without the triggers, and makes replicas remove rows that were
  /// deleted that way: `tarn server touch`. Other triggers of the table run, too.
  ///
  /// - Parameter condition: SQL that selects the rows; nil for all of them.
  /// - Returns: the number of rows.
  package func touch(_ name: String, where condition: String? = nil) throws(ServerError) -> Int {
    let operation = "touch \(name)"
    let catalog = ServerCatalog(connection, operation)
    return try catalog.changing(asOwner: false) { () throws(ServerError) in
      let entry = try catalog.whole(name)
      let key = SQLText.name(entry.key)
      let rows = try connection.query(
        "WITH touched AS (UPDATE \(entry.rows) SET \(key) = \(key)"
          + "\(condition.map { " WHERE \($0)" } ?? "") RETURNING 1) SELECT count(*) FROM touched",
        for: operation)
      try catalog.renew(entry.id)
      try TableAccess(connection, operation).note(entry.id)
      return rows.first?.first.flatMap { $0 }.flatMap { Int($0) } ?? 0
    }
  }

  /// Makes the database another server for its replicas, which reconcile everything:
  /// `tarn server restored`, after any restore.
  ///
  /// Tables that were restored separately lack commits that the schema `tarn` has recorded: all
  /// replicas send again what they keep.
  ///
  /// - Returns: the names of classes whose tables are missing.
  package func restore() throws(ServerError) -> [String] {
    let operation = "take note of the restore"
    let catalog = ServerCatalog(connection, operation)
    return try catalog.changing { () throws(ServerError) in
      try connection.run(
        """
        WITH moved AS (
          UPDATE tarn.class c SET tab = t.tgrelid
          FROM pg_trigger t JOIN pg_proc p ON p.oid = t.tgfoid
          WHERE t.tgname = '\(ClassTriggers.name)' AND p.pronamespace = 'tarn'::regnamespace
            AND p.proname = concat('merge_', c.id) AND c.tab <> t.tgrelid
          RETURNING 1)
        UPDATE tarn.replica SET version = 0, commit = 0
        WHERE EXISTS (SELECT FROM moved) AND EXISTS (\(ServerIdentity.placeIsNoted));
        UPDATE tarn.server SET history = gen_random_uuid();
        """, for: operation)
      return try connection.query(
        "SELECT name FROM tarn.class WHERE tab NOT IN (SELECT oid FROM pg_class) ORDER BY name",
        for: operation
      ).compactMap { $0[0] }
    }
  }

  /// Ends the synchronization of a class: `tarn server forget URL CLASS`. Its table stays, without
  /// Tarn's triggers and columns. Replicas keep their objects and report that the server lacks the
  /// class.
  package func forget(class name: String) throws(ServerError) {
    let operation = "forget \(name)"
    let catalog = ServerCatalog(connection, operation)
    try catalog.changing(asOwner: false) { () throws(ServerError) in
      let entry = try catalog.existing(name)
      try connection.run(
        """
        DELETE FROM tarn.class WHERE id = \(entry.id);
        DELETE FROM tarn.gone WHERE class = \(entry.id);
        DELETE FROM tarn.renewal WHERE class = \(entry.id);
        """, for: operation)
      try catalog.renewFunctions()
      let table = entry.isWithoutTable ? nil : entry.table
      let triggers = try connection.query(
        """
        SELECT format('DROP TRIGGER %I ON %s', t.tgname, t.tgrelid::regclass)
        FROM pg_trigger t JOIN pg_proc p ON p.oid = t.tgfoid
        WHERE p.pronamespace = 'tarn'::regnamespace AND (t.tgrelid = to_regclass($1)
          OR p.proname = 'depend' AND t.tgargs = $2::bytea)
        """, [table, "\\x" + Self.hex(of: entry.id)], for: operation)
      for row in triggers { try connection.run(row[0] ?? "", for: operation) }
      let functions = ClassTriggers.functionNames.map { "tarn.\($0)\(entry.id)()" }
      let columns = ServerClass.stateColumnNames.map { "DROP COLUMN IF EXISTS \($0)" }
      let cleaning = table.map { "ALTER TABLE \($0) \(columns.joined(separator: ", "));" } ?? ""
      try connection.run(
        """
        \(cleaning)
        DROP FUNCTION IF EXISTS \(functions.joined(separator: ", "));
        """, for: operation)
    }
  }

  /// A trigger's only argument in PostgreSQL's form: its text and a zero.
  private static func hex(of id: Int) -> String {
    ("\(id)".utf8 + [0]).map { byte in
      (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }.joined()
  }

  /// Deletes the replicas that have not sent anything for a number of days:
  /// `tarn server forget --unseen`. One that returns gets a new number and reconciles; its unsent
  /// commits are kept.
  ///
  /// - Returns: the number of replicas.
  package func forgetReplicas(unseenFor days: Int) throws(ServerError) -> Int {
    let operation = "forget replicas"
    let catalog = ServerCatalog(connection, operation)
    return try catalog.changing { () throws(ServerError) in
      try connection.query(
        "DELETE FROM tarn.replica WHERE seen < statement_timestamp() - make_interval(days => $1)"
          + " RETURNING n", ["\(days)"], for: operation
      ).count
    }
  }
}
