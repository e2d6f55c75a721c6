/// The triggers of a class's table, which maintain the synchronization state and merge the writes
/// of replicas.
///
/// A replica describes a write in `_tarn_in`; SQL programs leave it null:
///
///     {"by": 7, "at": S, "oid": O, "cols": {"title": S}, "seen": {"tags": [S, 3]}, "parts": {…}}
///
/// `by` is the replica's number. For an inserted row `at` is its stamp and `oid` its incarnation;
/// `cols` has the written properties with their stamps (for an inserted row, the later ones).
/// `seen` has the stamps of structured properties that the replica merged with: if the row has
/// another one, the write is refused as TN001. `parts` replaces the parts stored for these columns,
/// which begin with the column's stamp: after a write by SQL the stamps differ, which shows that
/// they are invalid.
///
/// Other triggers of the table may change a row between our first trigger and our last one. The
/// values that they set stay, as if SQL had written them; they must not change the key of a new
/// object. Noticing such changes has a cost, so our triggers check once per transaction whether
/// there are others.
struct ClassTriggers {
  private let id: Int
  private let table: String
  private let key: String
  private let columns: [ServerColumn]

  init(_ entry: ServerCatalog.Entry) {
    id = entry.id
    table = entry.table
    key = SQLText.name(entry.key)
    columns = entry.others
  }

  private static let sql = SQLTemplates(PackageResources.class_triggers_sql)
  private static let merging = SQLTemplates(PackageResources.merge_sql)

  private var structured: [ServerColumn] { columns.filter(\.isStructured) }
  private var scalars: [ServerColumn] { columns.filter { !$0.isStructured } }

  /// The name is the last one in the order in which triggers run, so that no other trigger changes
  /// a row after it.
  static let name = "~tarn"
  /// The trigger that is enabled only in sessions with `session_replication_role = replica`.
  static let replicaName = "~tarn_gone_row"
  /// The first one in that order: it records the values that a replica has sent.
  static let firstName = "!tarn"
  private static let structureName = "}tarn"
  /// The functions of a class begin with one of these and end with its number.
  static let functionNames = ["merge_", "note_", "structure_"]

  /// Creates functions and triggers, replacing existing ones.
  var text: String {
    let merge = function(
      "merge", Self.merging.text("declarations", ["others": othersDeclaration]), mergeBody)
    let triggers = sql(
      "triggers", ["last_trigger": Self.name, "replica_trigger": Self.replicaName])
    return merge + triggers + noteTrigger + structureTrigger
  }

  /// A section, with the names of the class.
  private func sql(_ section: String, _ values: [String: String] = [:]) -> String {
    let own = ["id": "\(id)", "table": table, "key": key]
    return Self.sql.text(section, own.merging(values) { $1 })
  }

  private func function(_ name: String, _ declarations: String, _ body: String) -> String {
    sql(
      "function",
      [
        "name": "\(name)_\(id)", "declarations": declarations, "body": body,
        "quote": SQLText.quote(around: declarations + body), "mark": ServerSchema.mark,
      ])
  }

  /// The names of a column in sections that are about one.
  private func names(_ column: ServerColumn) -> [String: String] {
    let name = SQLText.name(column.name)
    return [
      "column": name, "text": SQLText.literal(column.name),
      // The hash of the new value, as text.
      "hash": "hash_record_extended(ROW(NEW.\(name)), 0)::text",
    ]
  }

  /// Records the values that a replica has sent, as hashes, in case other triggers change them.
  private var noteTrigger: String {
    let hashes = columns.map { sql("note.column", names($0)) }.joined(separator: ",\n")
    let texts = columns.map { SQLText.literal($0.name) }.joined(separator: ", ")
    let came = columns.isEmpty ? "" : sql("note.came", ["names": texts, "hashes": hashes])
    let note = sql("note.body", ["came": came])
    let declarations = sql("note.declarations", ["others": othersDeclaration])
    return function("note", declarations, "\(lookForOthers)\n\(note)\n  RETURN NEW;")
      + sql("note.trigger", ["trigger": "\"\(Self.firstName)\"", "others": others])
  }

  /// Whether there are other triggers, as this transaction has found; null or empty before that.
  private var others: String { "pg_catalog.current_setting('tarn.others_\(id)', true)" }

  private var othersDeclaration: String { "others text := \(others);" }

  /// Looks for other triggers that may change rows. No other session can create one as long as this
  /// transaction has a lock on the table.
  private var lookForOthers: String {
    let ours = [Self.firstName, Self.structureName, Self.name].map(SQLText.literal)
    return sql("look_for_others", ["ours": ours.joined(separator: ", ")])
  }

  /// Compares structured columns only when a statement names them: reading a large one costs
  /// milliseconds. It runs before the last trigger and passes it the columns that SQL has changed.
  /// If there are other triggers, the last one compares all of them.
  private var structureTrigger: String {
    let trigger = "\"\(Self.structureName)\""
    guard !structured.isEmpty else {
      return "DROP TRIGGER IF EXISTS \(trigger) ON \(table);\n"
    }
    let tests = structured.map { sql("structure.column", names($0)) }.joined(separator: "\n")
    let body = sql("structure.body", ["columns": tests])
    let columns = structured.map { SQLText.name($0.name) }.joined(separator: ", ")
    return function("structure", "DECLARE\n  changed text[] := '{}';\n", body)
      + sql("structure.trigger", ["trigger": trigger, "columns": columns])
  }
}

/// The last trigger, which merges.
extension ClassTriggers {
  private func merging(_ section: String, _ values: [String: String]) -> String {
    Self.merging.text(section, values)
  }

  private func merging(
    _ section: String, _ column: ServerColumn, _ parts: [String: String] = [:]
  ) -> String {
    merging(section, names(column).merging(parts) { $1 })
  }

  private var mergeBody: String {
    merging(
      "body",
      [
        "key": key, "insertion": insertion, "sql_update": sqlUpdate,
        "look_for_others": structured.isEmpty ? "" : lookForOthers,
        "replica_update": columns.map(replicaUpdate).joined(separator: "\n"),
      ])
  }

  /// A new row, or one whose key changes, which is a new object. A value set by a trigger is newer
  /// than the one that was sent, whose part is then invalid.
  private var insertion: String {
    let stamps = columns.map { merging("insertion.column", $0) }.joined(separator: "\n")
    return merging("insertion", ["key": key, "columns": stamps])
  }

  /// SQL has seen the row, so it wins over all stamps in it.
  private var sqlUpdate: String {
    let each = scalars.map { merging("sql.scalar", $0, ["stamp": sqlStamp($0)]) }
    let rest = structured.map { merging("sql.structured", $0, ["stamp": sqlStamp($0)]) }
    return (each + rest).joined(separator: "\n")
  }

  /// A stamp later than those of the row, and than the one that a replica sends in this statement.
  private func sqlStamp(_ column: ServerColumn) -> String { merging("sql.stamp", column) }

  /// The value that a replica has sent: of a scalar the later stamp wins, then the larger number,
  /// and if an earlier value loses, so does the value that a trigger derived from it. The parts of
  /// a structured value were merged by the replica, which must have merged with the newest ones.
  /// A column that the replica did not write may have been written by a trigger.
  private func replicaUpdate(_ column: ServerColumn) -> String {
    let kind = column.isStructured ? "structured" : "scalar"
    let merge = merging("replica.\(kind)", column, ["taken": taken(column)])
    let unsent = merging("unsent.\(kind)", column, ["stamp": sqlStamp(column)])
    return merging("replica.column", column, ["merge": merge, "unsent": unsent])
  }

  /// Accepts the value that a replica has sent, unless a trigger has changed it.
  private func taken(_ column: ServerColumn) -> String {
    merging(
      "replica.taken", column,
      ["stamp": sqlStamp(column), "parts": merging("replica.parts", column)])
  }
}
