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
    var text = function("merge_\(id)", declarations, mergeBody)
    let always = "ALTER TABLE \(table) ENABLE ALWAYS TRIGGER"
    text += """
      CREATE OR REPLACE TRIGGER "\(Self.name)" BEFORE INSERT OR UPDATE ON \(table)
        FOR EACH ROW EXECUTE FUNCTION tarn.merge_\(id)();
      \(always) "\(Self.name)";
      CREATE OR REPLACE TRIGGER "\(Self.name)_gone" AFTER DELETE ON \(table)
        REFERENCING OLD TABLE AS tarn_deleted
        FOR EACH STATEMENT EXECUTE FUNCTION tarn.bury(\(id));
      -- Once a statement costs less than half of once a row. But the process that applies logical
      -- replication runs no triggers of statements: this one is for its session_replication_role.
      CREATE OR REPLACE TRIGGER "\(Self.replicaName)" AFTER DELETE ON \(table)
        FOR EACH ROW EXECUTE FUNCTION tarn.bury(\(id));
      ALTER TABLE \(table) ENABLE REPLICA TRIGGER "\(Self.replicaName)";
      CREATE OR REPLACE TRIGGER "\(Self.name)_moved" AFTER UPDATE ON \(table)
        FOR EACH ROW WHEN (OLD._tarn_oid IS DISTINCT FROM NEW._tarn_oid)
        EXECUTE FUNCTION tarn.bury(\(id));
      \(always) "\(Self.name)_moved";
      CREATE OR REPLACE TRIGGER "\(Self.name)_truncate" BEFORE TRUNCATE ON \(table)
        FOR EACH STATEMENT EXECUTE FUNCTION tarn.refuse_truncate();
      \(always) "\(Self.name)_truncate";

      """
    return text + noteTrigger + structureTrigger
  }

  private func function(_ name: String, _ declarations: String, _ body: String) -> String {
    let quote = SQLText.quote(around: declarations + body)
    return """
      CREATE OR REPLACE FUNCTION tarn.\(name)() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
      SET search_path = pg_catalog, pg_temp AS \(quote) \(ServerSchema.mark)
      \(declarations)BEGIN
      \(body)
      END \(quote);

      """
  }

  /// Records the values that a replica has sent, as hashes, in case other triggers change them.
  private var noteTrigger: String {
    let names = columns.map { SQLText.literal($0.name) }
    let hashes = columns.map { column in
      """
          CASE WHEN TG_OP = 'INSERT' OR said->'cols' ? \(SQLText.literal(column.name))
            THEN \(hash(column)) END
      """
    }
    let came =
      columns.isEmpty
      ? ""
      : """
        , 'came', jsonb_object(
            ARRAY[\(names.joined(separator: ", "))],
            ARRAY[
      \(hashes.joined(separator: ",\n"))])
      """
    let note = """
        IF others = 'true' THEN
          NEW._tarn_in := said || jsonb_build_object('key', NEW.\(key)::text\(came));
        END IF;
      """
    let declarations = """
      DECLARE
        said jsonb := NEW._tarn_in;
        \(othersDeclaration)

      """
    let body = "\(lookForOthers)\n\(note)\n  RETURN NEW;"
    let name = "\"\(Self.firstName)\""
    return function("note_\(id)", declarations, body) + """
      CREATE OR REPLACE TRIGGER \(name) BEFORE INSERT OR UPDATE ON \(table)
        FOR EACH ROW WHEN (NEW._tarn_in IS NOT NULL AND \(others) IS DISTINCT FROM 'false')
        EXECUTE FUNCTION tarn.note_\(id)();
      ALTER TABLE \(table) ENABLE ALWAYS TRIGGER \(name);

      """
  }

  /// The hash of a column's new value, as text.
  fileprivate func hash(_ column: ServerColumn) -> String {
    "hash_record_extended(ROW(NEW.\(SQLText.name(column.name))), 0)::text"
  }

  /// Whether there are other triggers, as this transaction has found; null or empty before that.
  private var others: String { "pg_catalog.current_setting('tarn.others_\(id)', true)" }

  private var othersDeclaration: String { "others text := \(others);" }

  /// Looks for other triggers that may change rows. No other session can create one as long as this
  /// transaction has a lock on the table.
  private var lookForOthers: String {
    let ours = [Self.firstName, Self.structureName, Self.name].map(SQLText.literal)
    return """
        IF coalesce(others, '') = '' THEN
          SELECT EXISTS (SELECT FROM pg_trigger t WHERE t.tgrelid = TG_RELID
            AND t.tgtype & 3 = 3 AND t.tgtype & 20 <> 0 AND t.tgenabled <> 'D'
            AND NOT t.tgisinternal AND t.tgname NOT IN (\(ours.joined(separator: ", "))))::text
          INTO others;
          PERFORM set_config('tarn.others_\(id)', others, true);
        END IF;
      """
  }

  /// Compares structured columns only when a statement names them: reading a large one costs
  /// milliseconds. It runs before the last trigger and passes it the columns that SQL has changed.
  /// If there are other triggers, the last one compares all of them.
  private var structureTrigger: String {
    let trigger = "\"\(Self.structureName)\""
    guard !structured.isEmpty else {
      return "DROP TRIGGER IF EXISTS \(trigger) ON \(table);\n"
    }
    let tests = structured.map { column in
      """
        IF NEW.\(SQLText.name(column.name)) IS DISTINCT FROM OLD.\(SQLText.name(column.name)) THEN
          changed := changed || \(SQLText.literal(column.name))::text;
        END IF;
      """
    }
    let body = """
      IF NEW._tarn_in IS NULL THEN
      \(tests.joined(separator: "\n"))
        NEW._tarn_in := jsonb_build_object('sql', to_jsonb(changed));
      END IF;
      RETURN NEW;
      """
    let names = structured.map { SQLText.name($0.name) }.joined(separator: ", ")
    return function("structure_\(id)", "DECLARE\n  changed text[] := '{}';\n", body) + """
      CREATE OR REPLACE TRIGGER \(trigger) BEFORE UPDATE OF \(names) ON \(table)
        FOR EACH ROW EXECUTE FUNCTION tarn.structure_\(id)();
      ALTER TABLE \(table) ENABLE ALWAYS TRIGGER \(trigger);

      """
  }
}

/// The last trigger, which merges.
extension ClassTriggers {
  private var declarations: String {
    """
    DECLARE
      clock bigint := round(date_part('epoch', clock_timestamp()) * 1000000)::bigint;
      cap bigint := clock + 60000000;
      said jsonb := NEW._tarn_in;
      writer integer;
      came jsonb := said->'came';
      stamp bigint;
      -- Of what SQL has written, or a trigger.
      own bigint;
      last bigint;
      former jsonb;
      cols jsonb;
      \(othersDeclaration)

    """
  }

  private var mergeBody: String {
    """
      -- What another session has seen must not be lost by a crash: its number would come again.
      IF current_setting('synchronous_commit') = 'off' THEN
        PERFORM set_config('synchronous_commit', 'on', true);
      END IF;
      NEW._tarn_xid := pg_current_xact_id();
      NEW._tarn_in := NULL;
      IF TG_OP = 'INSERT' OR NEW.\(key) IS DISTINCT FROM OLD.\(key) THEN
    \(insertion)
        RETURN NEW;
      END IF;
      NEW._tarn_oid := OLD._tarn_oid;
      NEW._tarn_at := OLD._tarn_at;
      NEW._tarn_by := OLD._tarn_by;
      NEW._tarn_parts := OLD._tarn_parts;
      cols := OLD._tarn_cols;
    \(structured.isEmpty ? "" : lookForOthers)
      IF said IS NULL OR said ? 'sql' THEN
    \(sqlUpdate)
      ELSE
        writer := (said->>'by')::integer;
    \(replicaUpdate)
      END IF;
      NEW._tarn_cols := cols;
      RETURN NEW;
    """
  }

  /// A new row, or one whose key changes, which is a new object.
  private var insertion: String {
    """
        NEW._tarn_oid := uuid_hash_extended(gen_random_uuid(), 0);
        NEW._tarn_at := clock;
        NEW._tarn_by := 0;
        NEW._tarn_cols := NULL;
        NEW._tarn_parts := NULL;
        IF said ? 'by' AND TG_OP = 'INSERT' THEN
          IF said->>'key' <> NEW.\(key)::text THEN
            RAISE EXCEPTION
              'a trigger of % has changed the primary key of a new object from % to %',
              TG_RELID::regclass, said->>'key', NEW.\(key) USING ERRCODE = '09000';
          END IF;
          NEW._tarn_oid := (said->>'oid')::bigint;
          NEW._tarn_at := least((said->>'at')::bigint, cap);
          NEW._tarn_by := (said->>'by')::integer;
          IF said ? 'cols' THEN
            SELECT jsonb_object_agg(c.key, jsonb_build_array(
              least(c.value::bigint, cap), NEW._tarn_by))
            INTO NEW._tarn_cols FROM jsonb_each_text(said->'cols') c;
          END IF;
          IF said ? 'parts' THEN
            SELECT jsonb_object_agg(p.key, coalesce(
              NEW._tarn_cols->p.key, jsonb_build_array(NEW._tarn_at, NEW._tarn_by)) || p.value)
            INTO NEW._tarn_parts FROM jsonb_each(said->'parts') p;
          END IF;
          IF came IS NOT NULL THEN
    \(columns.map(insertionStamp).joined(separator: "\n"))
          END IF;
        END IF;
    """
  }

  /// A value set by a trigger is newer than the one that was sent, whose part is then invalid.
  private func insertionStamp(_ column: ServerColumn) -> String {
    let text = SQLText.literal(column.name)
    return """
          IF came->>\(text) <> \(hash(column)) THEN
            NEW._tarn_cols := coalesce(NEW._tarn_cols, '{}') || jsonb_build_object(
              \(text), jsonb_build_array(greatest(clock, NEW._tarn_at + 1,
                (NEW._tarn_cols->\(text)->>0)::bigint + 1), 0));
          END IF;
      """
  }

  /// SQL has seen the row, so it wins over all stamps in it.
  private var sqlUpdate: String {
    let each = scalars.map { column in
      let name = SQLText.name(column.name)
      return
        "    IF NEW.\(name) IS DISTINCT FROM OLD.\(name) THEN\n\(sqlStamp(column))\n    END IF;"
    }
    let rest = structured.map { column in
      """
          IF said->'sql' ? \(SQLText.literal(column.name)) OR \(isChangedByOthers(column)) THEN
      \(sqlStamp(column))
          END IF;
      """
    }
    return (each + rest).joined(separator: "\n")
  }

  private func isChangedByOthers(_ column: ServerColumn) -> String {
    let name = SQLText.name(column.name)
    return "others = 'true' AND NEW.\(name) IS DISTINCT FROM OLD.\(name)"
  }

  /// A stamp later than those of the row, and than the one that a replica sends in this statement.
  private func sqlStamp(_ column: ServerColumn) -> String {
    """
          IF own IS NULL THEN
            last := OLD._tarn_at;
            -- Mostly all are earlier, and need no query, which costs as much as all the rest.
            IF jsonb_path_exists(cols, '$.*[0] ? (@ >= $clock)',
              jsonb_build_object('clock', clock)) THEN
              SELECT greatest(last, max((c.value->>0)::bigint)) INTO last FROM jsonb_each(cols) c;
            END IF;
            own := greatest(clock, last + 1);
          END IF;
          own := greatest(own, stamp + 1);
          cols := coalesce(cols, '{}') || jsonb_build_object(
            \(SQLText.literal(column.name)), jsonb_build_array(own, 0));
    """
  }

  private var replicaUpdate: String {
    columns.map { column in
      let text = SQLText.literal(column.name)
      let merge = column.isStructured ? structuredMerge(column) : scalarMerge(column)
      return """
            IF said->'cols' ? \(text) THEN
              former := coalesce(
                cols->\(text), jsonb_build_array(OLD._tarn_at, OLD._tarn_by));
              last := (former->>0)::bigint;
              stamp := least((said->'cols'->>\(text))::bigint, cap);
        \(merge)
        \(unsent(column))
            END IF;
        """
    }.joined(separator: "\n")
  }

  /// A column that the replica did not write: a trigger may have.
  private func unsent(_ column: ServerColumn) -> String {
    let name = SQLText.name(column.name)
    if column.isStructured {
      return """
            ELSIF others <> 'true' THEN
              NEW.\(name) := OLD.\(name);
            ELSIF NEW.\(name) IS DISTINCT FROM OLD.\(name) THEN
        \(sqlStamp(column))
        """
    }
    return """
          ELSIF NEW.\(name) IS DISTINCT FROM OLD.\(name) THEN
      \(sqlStamp(column))
      """
  }

  /// Accepts the value that a replica has sent, unless a trigger has changed it.
  private func taken(_ column: ServerColumn) -> String {
    let text = SQLText.literal(column.name)
    return """
              IF came IS NOT NULL AND came->>\(text) <> \(hash(column)) THEN
      \(sqlStamp(column))
              ELSE
                cols := coalesce(cols, '{}')
                  || jsonb_build_object(\(text), jsonb_build_array(stamp, writer));
      \(partsMerge(text))
              END IF;
      """
  }

  /// The later stamp wins, then the larger number. If an earlier value loses, so does the value
  /// that a trigger derived from it.
  private func scalarMerge(_ column: ServerColumn) -> String {
    let name = SQLText.name(column.name)
    return """
            IF (stamp, writer) > (last, (former->>1)::integer) THEN
      \(taken(column))
            ELSE
              NEW.\(name) := OLD.\(name);
            END IF;
      """
  }

  /// The replica has merged the parts; it must have merged with the newest ones.
  private func structuredMerge(_ column: ServerColumn) -> String {
    let text = SQLText.literal(column.name)
    return """
            IF said->'seen'->\(text) IS DISTINCT FROM former THEN
              RAISE EXCEPTION 'another has written %', \(text) USING ERRCODE = 'TN001';
            END IF;
            stamp := greatest(stamp, last + 1);
      \(taken(column))
      """
  }

  private func partsMerge(_ text: String) -> String {
    """
            IF said->'parts' ? \(text) THEN
              NEW._tarn_parts := coalesce(NEW._tarn_parts, '{}')
                || jsonb_build_object(
                  \(text), jsonb_build_array(stamp, writer, said->'parts'->\(text)));
            ELSIF NEW._tarn_parts ? \(text) THEN
              NEW._tarn_parts := NEW._tarn_parts - \(text);
            END IF;
    """
  }
}
