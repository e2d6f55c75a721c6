/// The identity of a server: another machine, timeline, database or restored table is another
/// server, with which replicas compare everything.
///
/// It consists of the server's location and a random history. No maintenance of tables changes it:
/// their numbers stay when tables are rewritten, moved or upgraded. A restore creates tables with
/// other numbers; one that only fills existing tables creates a new `tarn.era`, by a trigger.
/// `tarn.origin` has the identity under which replicas know this location: a server may have been
/// named differently by an earlier version, or by the cluster from which `pg_upgrade` migrated it.
enum ServerIdentity {
  static let tables = sql.text("tables")

  /// Records the current identity, whatever function returns it, if none is recorded.
  static let firstNote = sql.text("first_note", ["facts": facts, "release": release])

  private static let release = "current_setting('server_version_num')::integer / 10000"

  /// The database with the tables' numbers, the cluster and its timeline, of a row `s`.
  private static let facts = sql.text("facts")

  /// The tables of a query for `value` and `isNoted`. After `pg_upgrade` the cluster is another one
  /// on its first timeline, and everything else is unchanged.
  static let source = sql.text("source", ["facts": facts, "release": release])

  static let value =
    "coalesce(o.name, concat_ws('/', f.system, f.timeline, f.place, s.history))"

  /// Whether the recorded location equals the current one.
  static let isNoted = "coalesce(o.system = f.system, false)"

  /// A query with a row if the tables of the schema `tarn` are the recorded ones, so they were not
  /// restored.
  static let placeIsNoted = sql.text("place_is_noted", ["facts": facts])

  static let functions = sql.text(
    "functions",
    [
      "mark": ServerSchema.mark, "identity": value, "identity_source": source, "facts": facts,
      "release": release,
    ])

  private static let sql = SQLTemplates(PackageResources.identity_sql)
}
