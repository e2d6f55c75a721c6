/// The policies and rights of a class's table, which decide which roles may see which rows.
///
/// PostgreSQL notifies only superusers when they change. Replicas notice a change once an hour,
/// when they compare their digests; an administrator need not wait for that.
struct TableAccess {
  let connection: ServerConnection
  private let operation: String

  init(_ connection: ServerConnection, _ operation: String) {
    self.connection = connection
    self.operation = operation
  }

  /// The policies and rights of the table `t`, as text.
  static let print = """
    md5(concat_ws('|', t.relrowsecurity, t.relforcerowsecurity, t.relacl,
      (SELECT string_agg(concat_ws(',', a.attname, a.attacl), ';' ORDER BY a.attname)
        FROM pg_attribute a WHERE a.attrelid = t.oid AND a.attacl IS NOT NULL),
      (SELECT string_agg(concat_ws(',', p.polname, p.polcmd, p.polpermissive,
          p.polroles::regrole[], pg_get_expr(p.polqual, p.polrelid),
          pg_get_expr(p.polwithcheck, p.polrelid)), ';' ORDER BY p.polname)
        FROM pg_policy p WHERE p.polrelid = t.oid)))
    """

  /// Records the current ones of a class.
  func note(_ id: Int) throws(ServerError) {
    try connection.query(
      "UPDATE tarn.class c SET access = \(Self.print) FROM pg_class t"
        + " WHERE c.id = $1 AND t.oid = c.tab", ["\(id)"], for: operation)
  }

  /// Records those of all classes.
  ///
  /// - Returns: the names of the classes whose policies or rights have changed; replicas compare
  ///   them again.
  func noteAll() throws(ServerError) -> [String] {
    // In the search path of `changing`, which determines how expressions are printed.
    let changed = try connection.query(
      "SELECT c.id, c.name FROM tarn.class c JOIN pg_class t ON t.oid = c.tab"
        + " WHERE c.access <> \(Self.print) ORDER BY c.id", for: operation)
    for row in changed {
      try connection.query("SELECT tarn.renew($1)", [row[0]], for: operation)
    }
    try connection.run(
      "UPDATE tarn.class c SET access = \(Self.print) FROM pg_class t"
        + " WHERE t.oid = c.tab AND c.access IS DISTINCT FROM \(Self.print)", for: operation)
    return changed.compactMap { $0[1] }
  }
}
