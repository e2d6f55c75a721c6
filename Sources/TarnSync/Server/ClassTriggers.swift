/// The triggers of a class's table, which keep the state of sync and merge what replicas write.
///
/// A write has in `_tarn_in` what a replica says of it; SQL programs say nothing there:
///
///     {"by": 7, "at": S, "oid": O, "cols": {"title": S}, "seen": {"tags": [S, 3]}, "parts": {…}}
///
/// `by` is the replica's number. For an inserted row `at` is its stamp and `oid` its incarnation;
/// `cols` has the properties that are written with their stamps (of an inserted row, the later
/// ones). `seen` has the stamps of structured properties that the replica merged with: another one
/// in the row is refused as TN001. `parts` replaces what is kept for these columns, which has the
/// column's stamp before it: after a write by SQL it no longer fits, and says so by that.
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
  /// The one that is on in sessions with `session_replication_role = replica` alone.
  static let replicaName = "~tarn_gone_row"

  /// Makes functions and triggers, in place of those that are there.
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
    return text + structureTrigger
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

  /// Compares structured columns only when a statement names them: reading a large one costs
  /// milliseconds. It runs before the other trigger and tells it what SQL has changed.
  private var structureTrigger: String {
    let trigger = "\"}tarn\""
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
      DROP TRIGGER IF EXISTS \(trigger) ON \(table);
      CREATE TRIGGER \(trigger) BEFORE UPDATE OF \(names) ON \(table)
        FOR EACH ROW EXECUTE FUNCTION tarn.structure_\(id)();
      ALTER TABLE \(table) ENABLE ALWAYS TRIGGER \(trigger);

      """
  }
}

extension ClassTriggers {
  private var declarations: String {
    """
    DECLARE
      clock bigint := round(date_part('epoch', clock_timestamp()) * 1000000)::bigint;
      cap bigint := clock + 60000000;
      said jsonb := NEW._tarn_in;
      writer integer;
      stamp bigint;
      last bigint;
      former jsonb;
      cols jsonb;

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

  /// A new row, or one that gets another key, which is a new object.
  private var insertion: String {
    """
        NEW._tarn_oid := uuid_hash_extended(gen_random_uuid(), 0);
        NEW._tarn_at := clock;
        NEW._tarn_by := 0;
        NEW._tarn_cols := NULL;
        NEW._tarn_parts := NULL;
        IF said ? 'by' AND TG_OP = 'INSERT' THEN
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
        END IF;
    """
  }

  /// A SQL program has seen the row, so it wins over all stamps in it.
  private var sqlUpdate: String {
    let each = scalars.map { column in
      let name = SQLText.name(column.name)
      return
        "    IF NEW.\(name) IS DISTINCT FROM OLD.\(name) THEN\n\(sqlStamp(column))\n    END IF;"
    }
    let rest = structured.map { column in
      "    IF said->'sql' ? \(SQLText.literal(column.name)) THEN\n\(sqlStamp(column))\n    END IF;"
    }
    return (each + rest).joined(separator: "\n")
  }

  private func sqlStamp(_ column: ServerColumn) -> String {
    """
          IF stamp IS NULL THEN
            last := OLD._tarn_at;
            -- Mostly all are earlier, and need no query, which costs as much as all the rest.
            IF jsonb_path_exists(cols, '$.*[0] ? (@ >= $clock)',
              jsonb_build_object('clock', clock)) THEN
              SELECT greatest(last, max((c.value->>0)::bigint)) INTO last FROM jsonb_each(cols) c;
            END IF;
            stamp := greatest(clock, last + 1);
          END IF;
          cols := coalesce(cols, '{}') || jsonb_build_object(
            \(SQLText.literal(column.name)), jsonb_build_array(stamp, 0));
    """
  }

  private var replicaUpdate: String {
    columns.map { column in
      let (name, text) = (SQLText.name(column.name), SQLText.literal(column.name))
      let merge = column.isStructured ? structuredMerge(column) : scalarMerge(column)
      return """
            IF said->'cols' ? \(text) THEN
              former := coalesce(
                cols->\(text), jsonb_build_array(OLD._tarn_at, OLD._tarn_by));
              last := (former->>0)::bigint;
              stamp := least((said->'cols'->>\(text))::bigint, cap);
        \(merge)
            ELSE
              NEW.\(name) := OLD.\(name);
            END IF;
        """
    }.joined(separator: "\n")
  }

  /// The later stamp wins, then the larger number.
  private func scalarMerge(_ column: ServerColumn) -> String {
    let (name, text) = (SQLText.name(column.name), SQLText.literal(column.name))
    return """
            IF (stamp, writer) > (last, (former->>1)::integer) THEN
              cols := coalesce(cols, '{}')
                || jsonb_build_object(\(text), jsonb_build_array(stamp, writer));
      \(partsMerge(text))
            ELSE
              NEW.\(name) := OLD.\(name);
            END IF;
      """
  }

  /// The replica has merged the parts; what it merged with must be the newest.
  private func structuredMerge(_ column: ServerColumn) -> String {
    let text = SQLText.literal(column.name)
    return """
            IF said->'seen'->\(text) IS DISTINCT FROM former THEN
              RAISE EXCEPTION 'another has written %', \(text) USING ERRCODE = 'TN001';
            END IF;
            stamp := greatest(stamp, last + 1);
            cols := coalesce(cols, '{}') || jsonb_build_object(
              \(text), jsonb_build_array(stamp, writer));
      \(partsMerge(text))
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
