/// How rows are inserted into a table if their keys may be taken.
enum TakenKeys {
  /// A row that breaks any unique rule is skipped; the rule is determined afterwards.
  case skipped
  /// A row whose primary key is taken is skipped. `ON CONFLICT` does not support rules that are
  /// checked at the end of a statement, so it must not use these; naming the key needs the right to
  /// read it.
  case skippedByKey
  /// The same by looking up the key first, for a `DEFERRABLE` primary key. Another transaction may
  /// take it at the same moment.
  case skippedByLook
  /// Every such insertion fails. For a table with such rules whose key a role cannot read.
  case failing
}

/// The rules of a class's table on the server that matter to the order of writing.
struct TableRules: Equatable {
  /// Foreign keys to the tables of exchanged classes.
  var foreignKeys: [ForeignKey] = []
  var takenKeys = TakenKeys.skipped

  /// The columns whose foreign keys refuse to delete a row that others refer to. A link that is nil
  /// because its target was deleted is sent as nil there.
  var refusingColumns: Set<String> {
    Set(foreignKeys.filter { !$0.action.changesRows }.compactMap(\.column))
  }

  private static let operation = "read the rules of the server's tables"

  /// Reads the rules, in one round trip.
  static func read(
    _ connection: ServerConnection, into classes: inout [ExchangeClass]
  ) throws(ServerError) {
    let rows = try connection.query(
      """
      WITH t AS (SELECT u.id, to_regclass(u.tab) AS tab
        FROM unnest($1::integer[], $2::text[]) u (id, tab))
      SELECT a.id, b.id, c.confdeltype::text, CASE
        WHEN cardinality(c.conkey) = 1 AND i.indnkeyatts = 1 AND i.indkey[0] = c.confkey[1]
        THEN (SELECT n.attname FROM pg_catalog.pg_attribute n
          WHERE n.attrelid = c.conrelid AND n.attnum = c.conkey[1]) END
      FROM pg_catalog.pg_constraint c
      JOIN t a ON a.tab = c.conrelid JOIN t b ON b.tab = c.confrelid
      LEFT JOIN pg_catalog.pg_index i ON i.indrelid = c.confrelid AND i.indisprimary
      WHERE c.contype = 'f'
      UNION ALL
      SELECT t.id, NULL, CASE
        WHEN NOT has_column_privilege(t.tab, p.indkey[0], 'SELECT') THEN 'fail'
        WHEN p.indimmediate THEN 'key' ELSE 'look' END, NULL
      FROM t JOIN pg_catalog.pg_index p ON p.indrelid = t.tab AND p.indisprimary
      WHERE EXISTS (SELECT FROM pg_catalog.pg_index i WHERE i.indrelid = t.tab
        AND (i.indisunique OR i.indisexclusion) AND NOT i.indimmediate)
      ORDER BY 1, 2, 3, 4
      """,
      [
        SQLText.array(classes.map { "\($0.id)" }), SQLText.array(classes.map(\.table)),
      ], for: operation)
    for place in classes.indices { classes[place].rules = TableRules() }
    for row in rows {
      guard let id = row[0].flatMap({ Int($0) }),
        let place = classes.firstIndex(where: { $0.id == id })
      else { continue }
      guard let target = row[1].flatMap({ Int($0) }) else {
        switch row[2] {
        case "key": classes[place].rules.takenKeys = .skippedByKey
        case "look": classes[place].rules.takenKeys = .skippedByLook
        default: classes[place].rules.takenKeys = .failing
        }
        continue
      }
      guard let action = row[2].flatMap({ ForeignKey.Action(rawValue: $0) }) else { continue }
      classes[place].rules.foreignKeys.append(
        ForeignKey(column: row[3], target: target, action: action))
    }
  }
}
