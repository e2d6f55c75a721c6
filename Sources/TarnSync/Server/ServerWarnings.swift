/// Writes that bypass a server's triggers, and settings that make it slow or unsafe: a query for
/// each kind, whose rows are the sentences.
struct ServerWarnings {
  private let connection: ServerConnection
  private let operation: String

  init(_ connection: ServerConnection, _ operation: String) {
    self.connection = connection
    self.operation = operation
  }

  func all() throws(ServerError) -> [String] {
    var warnings: [String] = []
    for query in [
      tables, ServerObstacles.query, keys, triggers, order, rights, grants, columns, settings,
      transactions,
    ] {
      warnings += try connection.query(query, for: operation).compactMap { $0[0] }
    }
    return try warnings + accessWarnings()
  }

  /// Policies are printed with the names that the search path requires: in that of `changing`.
  private func accessWarnings() throws(ServerError) -> [String] {
    try connection.transaction(for: operation) { () throws(ServerError) in
      try connection.run("SET LOCAL search_path = pg_catalog, pg_temp", for: operation)
      return try connection.query(access, for: operation).compactMap { $0[0] }
    }
  }

  /// Classes without a table, or whose table has rows in other tables or rules.
  private var tables: String {
    """
    SELECT format('class %s has no table; run ''tarn server restored'' if it was restored, '
      'or ''tarn server forget''', c.name)
    FROM tarn.class c WHERE c.tab NOT IN (SELECT oid FROM pg_class)
    UNION ALL
    SELECT format('%s has child tables, whose rows no replica gets', i.inhparent::regclass)
    FROM tarn.class c JOIN pg_inherits i ON i.inhparent = c.tab GROUP BY i.inhparent
    UNION ALL
    SELECT format('%s is a %s of %s, so that rows which are deleted through that table stay in '
      'the stores; run ''ALTER TABLE %s'', then ''tarn server touch'' with the class %s',
      i.inhrelid::regclass, CASE WHEN t.relispartition THEN 'partition' ELSE 'child' END,
      i.inhparent::regclass, CASE WHEN t.relispartition
        THEN format('%s DETACH PARTITION %s', i.inhparent::regclass, i.inhrelid::regclass)
        ELSE format('%s NO INHERIT %s', i.inhrelid::regclass, i.inhparent::regclass) END, c.name)
    FROM tarn.class c JOIN pg_inherits i ON i.inhrelid = c.tab JOIN pg_class t ON t.oid = c.tab
    UNION ALL
    SELECT format('%s has the rule %s, which may write without its triggers',
      r.ev_class::regclass, r.rulename)
    FROM tarn.class c JOIN pg_rewrite r ON r.ev_class = c.tab
    """
  }

  /// Primary keys with which `ON CONFLICT` does not work, and tables without one. Other deferrable
  /// constraints are harmless.
  private var keys: String {
    """
    SELECT format('the primary key %s of %s is DEFERRABLE, which ON CONFLICT does not take: stores '
      'look for taken keys first, and new objects of a role that may not read the key are refused '
      'where it is taken; drop it and add it again NOT DEFERRABLE', quote_ident(k.conname),
      c.tab::regclass)
    FROM tarn.class c JOIN pg_constraint k ON k.conrelid = c.tab
    WHERE k.contype = 'p' AND k.condeferrable
    UNION ALL
    SELECT format('%s no longer has a primary key, so %s is not exchanged; add it again',
      t.oid::regclass, c.name)
    FROM tarn.class c JOIN pg_class t ON t.oid = c.tab
    WHERE NOT EXISTS (SELECT FROM pg_index i WHERE i.indrelid = t.oid AND i.indisprimary)
    """
  }

  /// Our triggers that are missing or disabled.
  private var triggers: String {
    """
    SELECT format('the trigger %s of %s is %s, so replicas do not get all changes; '
      'run ''tarn server migrate'', then ''tarn server touch''', quote_ident(w.name),
      c.tab::regclass,
      CASE WHEN t.tgenabled IS NULL THEN 'missing' ELSE 'not enabled as Tarn made it' END)
    FROM tarn.class c
    JOIN pg_class k ON k.oid = c.tab
    CROSS JOIN (VALUES \(Self.triggers.map { "(\(SQLText.literal($0.name)), '\($0.state)')" }
      .joined(separator: ", "))) w (name, state)
    LEFT JOIN pg_trigger t ON t.tgrelid = c.tab AND t.tgname = w.name
    WHERE t.tgenabled::text IS DISTINCT FROM w.state
    """
  }

  /// The triggers of each class, and when they are enabled, in the form of `pg_trigger`: always
  /// (A), in ordinary sessions (O), or where changes of another server are applied (R).
  static let triggers: [(name: String, state: String)] = [
    ("", "A"), ("_gone", "O"), ("_gone_row", "R"), ("_moved", "A"), ("_truncate", "A"),
  ].map { (ClassTriggers.name + $0, $1) }

  /// Row triggers of the application that run after ours, or before our first one: before an
  /// insertion or update (bits 1, 2 and 4 or 16 of their type).
  private var order: String {
    """
    SELECT format('the trigger %s of %s runs after Tarn''s and can change a row unseen; '
      'rename it so that it sorts before \(ClassTriggers.name)', quote_ident(t.tgname),
      c.tab::regclass)
    FROM tarn.class c JOIN pg_trigger t ON t.tgrelid = c.tab
    WHERE NOT t.tgisinternal AND t.tgname::text COLLATE "C" > '\(ClassTriggers.name)'
      AND t.tgtype & 3 = 3 AND t.tgtype & 20 <> 0 AND t.tgenabled <> 'D'
    UNION ALL
    SELECT format('the trigger %s of %s runs before Tarn''s, so that values that it sets pass for '
      'values that a store has sent; rename it so that it sorts after \(ClassTriggers.firstName)',
      quote_ident(t.tgname), c.tab::regclass)
    FROM tarn.class c JOIN pg_trigger t ON t.tgrelid = c.tab
    WHERE NOT t.tgisinternal AND t.tgname::text COLLATE "C" < '\(ClassTriggers.firstName)'
      AND t.tgtype & 3 = 3 AND t.tgtype & 20 <> 0 AND t.tgenabled <> 'D'
    """
  }

  /// Rights that allow others to empty a table or create triggers on it.
  private var rights: String {
    """
    SELECT format('%s may %s on %s; REVOKE it',
      CASE a.grantee WHEN 0 THEN 'everybody' ELSE a.grantee::regrole::text END,
      string_agg(a.privilege_type, ', ' ORDER BY a.privilege_type), c.tab::regclass)
    FROM tarn.class c JOIN pg_class t ON t.oid = c.tab, aclexplode(t.relacl) a
    WHERE a.grantee <> t.relowner AND a.privilege_type IN ('TRUNCATE', 'TRIGGER', 'REFERENCES')
    GROUP BY a.grantee, c.tab
    """
  }

  /// Tables to which no program's role has rights.
  private var grants: String {
    """
    SELECT \(TableRights.sentence)
    FROM tarn.class c JOIN pg_class t ON t.oid = c.tab JOIN pg_namespace n ON n.oid = t.relnamespace
    WHERE \(TableRights.isLacking)
    """
  }

  /// Policies and rights that have changed since replicas last compared the class.
  private var access: String {
    """
    SELECT format('the policies or rights of %s have changed, which stores notice within an hour; '
      'run ''tarn server touch'' with the class %s, or ''tarn server migrate'', to notify them now',
      t.oid::regclass, c.name)
    FROM tarn.class c JOIN pg_class t ON t.oid = c.tab
    -- A server of an earlier revision keeps none.
    WHERE to_jsonb(c)->>'access' <> \(TableAccess.print)
    """
  }

  /// Columns that were dropped or changed by SQL.
  private var columns: String {
    """
    SELECT format('%s.%s %s', c.tab::regclass, p.name,
      CASE WHEN a.attname IS NULL THEN 'was dropped or renamed, so each change of a row fails; run '
        '''tarn server migrate'', with --rename if the column was renamed'
      ELSE format('is %s now, and was %s', n.type, p.type) END)
    FROM tarn.class c JOIN pg_class t ON t.oid = c.tab JOIN tarn.property p ON p.class = c.id
    LEFT JOIN pg_attribute a ON a.attrelid = c.tab AND a.attname = p.name AND NOT a.attisdropped
    -- 'quote_all_identifiers' puts quotes around names of types.
    CROSS JOIN LATERAL (
      SELECT translate(format_type(a.atttypid, a.atttypmod), '"', '') AS type) n
    WHERE a.attname IS NULL OR translate(split_part(p.type, ' COLLATE', 1), '"', '') <> n.type
    """
  }

  private var settings: String {
    """
    SELECT format('%s is off: after a crash of the machine replicas may know of rows that the '
      'server has lost', name) FROM pg_settings
    WHERE name IN ('fsync', 'full_page_writes') AND setting = 'off'
    UNION ALL
    SELECT 'idle_in_transaction_session_timeout is 0: a forgotten transaction holds up the '
      'replicas that write its rows; set it, for example to 60s'
    FROM pg_settings WHERE name = 'idle_in_transaction_session_timeout' AND setting = '0'
    """
  }

  /// Transactions that have been open for long. They block others that write the same rows.
  private var transactions: String {
    """
    SELECT format('process %s of %s has had a transaction open for %s s', pid, usename,
      extract(epoch FROM statement_timestamp() - xact_start)::bigint)
    FROM pg_stat_activity
    WHERE backend_xid IS NOT NULL AND xact_start < statement_timestamp() - interval '5 minutes'
    UNION ALL
    SELECT format('the prepared transaction %L of %s has been open for %s s', gid, owner,
      extract(epoch FROM statement_timestamp() - prepared)::bigint)
    FROM pg_prepared_xacts WHERE prepared < statement_timestamp() - interval '5 minutes'
    """
  }
}
