import TarnStore

extension ServerError {
  /// The columns whose rule was broken, as far as the server reports them: it names the column of a
  /// null, and otherwise the constraint or the unique index.
  func columns(_ connection: ServerConnection) throws(ServerError) -> [String] {
    guard let place else { return [] }
    if !place.column.isEmpty { return [place.column] }
    if place.constraint.isEmpty { return [] }
    return try connection.query(
      """
      SELECT a.attname FROM pg_class t JOIN pg_namespace s ON s.oid = t.relnamespace
      JOIN pg_attribute a ON a.attrelid = t.oid
      WHERE s.nspname = $1 AND t.relname = $2 AND (
        EXISTS (SELECT FROM pg_constraint c
          WHERE c.conrelid = t.oid AND c.conname = $3 AND a.attnum = ANY (c.conkey))
        OR EXISTS (SELECT FROM pg_index i JOIN pg_class n ON n.oid = i.indexrelid
          WHERE i.indrelid = t.oid AND n.relname = $3 AND (a.attnum = ANY (i.indkey)
            -- An expression of it has the column.
            OR EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass
              AND d.objid = n.oid AND d.refclassid = d.classid AND d.refobjid = t.oid
              AND d.refobjsubid = a.attnum))))
      ORDER BY a.attnum
      """, [place.schema, place.table, place.constraint], for: "name the refused columns"
    ).compactMap { $0[0] }
  }
}
