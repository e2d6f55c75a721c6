/// The classes and replicas of a server, and warnings about it: `tarn server status`.
package struct ServerStatus: Equatable, Sendable {
  /// PostgreSQL's version, such as "15.18".
  package let version: String
  package let classes: [ClassStatus]
  package let replicas: [ReplicaStatus]
  package let tombstones: Int
  /// Sentences, each with the remedy.
  package let warnings: [String]
  /// Sentences about columns that SQL has added to adopted tables.
  package let columns: [String]

  package struct ClassStatus: Equatable, Sendable {
    package let name: String
    package let table: String
    /// PostgreSQL's estimate; -1 before its first one.
    package let rows: Int
    /// With indexes, in bytes.
    package let size: Int
    package let hasPolicies: Bool
    /// The tables on which its policies depend.
    package let depends: [String]
  }

  package struct ReplicaStatus: Equatable, Sendable {
    package let number: Int
    package let role: String
    /// The version of its file up to which the server has its commits.
    package let version: Int
    /// The seconds since it last sent something.
    package let idle: Int
  }

  /// - Throws: `ServerError`, also for a database that is not prepared.
  package init(_ connection: ServerConnection) throws(ServerError) {
    let operation = "read the server's status"
    try ServerSetup.check(connection, operation)
    version = ServerProbe.versionText(connection.serverVersion)
    classes = try Self.classes(connection, operation)
    replicas = try connection.query(
      """
      SELECT n, role, version, extract(epoch FROM statement_timestamp() - seen)::bigint
      FROM tarn.replica ORDER BY n
      """, for: operation
    ).map { row in
      ReplicaStatus(
        number: Self.number(row[0]), role: row[1] ?? "", version: Self.number(row[2]),
        idle: Self.number(row[3]))
    }
    tombstones = Self.number(
      try connection.query("SELECT count(*) FROM tarn.gone", for: operation).first?.first ?? nil)
    warnings =
      try ServerRevision(connection, operation).warnings
      + ServerWarnings(connection, operation).all()
    columns = try Self.columns(connection, operation)
  }

  private static func number(_ text: String?) -> Int { text.flatMap { Int($0) } ?? 0 }

  /// An adopted class can have all columns of its table.
  private static func columns(
    _ connection: ServerConnection, _ operation: String
  ) throws(ServerError) -> [String] {
    let rows = try connection.query(
      """
      SELECT c.name, c.tab::regclass::text, a.attname, format_type(a.atttypid, a.atttypmod)
      FROM tarn.class c JOIN pg_attribute a ON a.attrelid = c.tab
      WHERE coalesce((to_jsonb(c)->>'adopted')::boolean, c.definition IS NULL)
        AND a.attnum > 0 AND NOT a.attisdropped
        AND a.attgenerated = '' AND NOT starts_with(a.attname::text, '_tarn_')
        AND NOT EXISTS (
          SELECT FROM tarn.property p WHERE p.class = c.id AND p.name = a.attname)
      ORDER BY c.name, a.attnum
      """, for: operation)
    var found: [(name: String, table: String, columns: [String])] = []
    for row in rows {
      guard let name = row[0], let table = row[1], let column = row[2],
        AdoptedTable.Column.isKnown(row[3] ?? "")
      else { continue }
      if found.last?.name != name { found.append((name, table, [])) }
      found[found.count - 1].columns.append(column)
    }
    return found.map { name, table, columns in
      "\(table) has columns that are not properties of \(name): "
        + "\(columns.joined(separator: ", ")); 'tarn server adopt' with \(table) and \(name) "
        + "adds them"
    }
  }

  private static func classes(
    _ connection: ServerConnection, _ operation: String
  ) throws(ServerError) -> [ClassStatus] {
    try connection.query(
      """
      SELECT c.name, c.tab::regclass::text, t.reltuples::bigint,
        pg_total_relation_size(t.oid), t.relrowsecurity,
        (SELECT string_agg(g.tgrelid::regclass::text, E'\\n' ORDER BY g.tgrelid::regclass::text)
          FROM pg_trigger g WHERE g.tgname = concat('\(ClassTriggers.name)_depends_', c.id))
      FROM tarn.class c JOIN pg_class t ON t.oid = c.tab ORDER BY c.name
      """, for: operation
    ).map { row in
      ClassStatus(
        name: row[0] ?? "", table: row[1] ?? "", rows: number(row[2]), size: number(row[3]),
        hasPolicies: row[4] == "t",
        depends: (row[5] ?? "").splitASCII("\n").map(String.init))
    }
  }
}
