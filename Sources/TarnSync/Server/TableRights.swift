/// Whether the roles of programs may read and write a table that belonged to an application.
///
/// Adoption grants no rights: without row security each of these roles would see the whole table,
/// which only the application could read before.
struct TableRights {
  /// Sentences; empty if the roles have the rights.
  let lines: [String]

  init(
    _ table: TableName.Found, _ connection: ServerConnection, _ operation: String
  ) throws(ServerError) {
    lines = try connection.query(
      "SELECT \(Self.sentence) FROM pg_class t JOIN pg_namespace n ON n.oid = t.relnamespace"
        + " WHERE t.oid = $1::oid AND \(Self.isLacking)", [table.oid], for: operation
    ).compactMap { $0[0] }
  }

  /// Whether only its owner may read or insert into the table `t` of the schema `n`.
  static let isLacking = """
    NOT EXISTS (SELECT FROM aclexplode(t.relacl) a
      WHERE a.grantee <> t.relowner AND a.privilege_type IN ('SELECT', 'INSERT'))
    AND NOT EXISTS (SELECT FROM pg_attribute a, aclexplode(a.attacl) e
      WHERE a.attrelid = t.oid AND e.grantee <> t.relowner
        AND e.privilege_type IN ('SELECT', 'INSERT'))
    """

  /// The remedy.
  static let sentence = """
    format('only its owner has rights on %1$I.%2$I, so stores of other roles cannot exchange it; '
      '%3$sGRANT SELECT, INSERT, UPDATE, DELETE ON %1$I.%2$I TO \(ServerSchema.client)%4$s',
      n.nspname, t.relname,
      CASE WHEN has_schema_privilege('\(ServerSchema.client)', n.oid, 'USAGE') THEN ''
        ELSE format('GRANT USAGE ON SCHEMA %I TO \(ServerSchema.client); ', n.nspname) END,
      CASE WHEN t.relrowsecurity THEN ' (its policies decide which rows they see)'
        ELSE ' (it has no row security: each of them will see and change all rows)' END)
    """
}
