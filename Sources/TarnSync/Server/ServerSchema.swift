/// The data that Tarn keeps in a database next to the tables of the classes: the schema `tarn`.
///
/// Everything belongs to a role that cannot log in. Programs may call the functions in
/// `clientFunctions`, and cannot access the tables.
enum ServerSchema {
  /// The formats of servers that this program works with. A server that it updates has the last
  /// one, and continues to serve programs that use any of them.
  static let formats = 1...1
  static var format: Int { formats.upperBound }
  /// The revision of the functions and triggers, which is raised by each change of them.
  static let revision = 8
  /// Begins the body of each function.
  static let mark = "\(markStart)\(revision)"
  static let markStart = "-- Tarn, revision "
  static let owner = "tarn_owner"
  static let client = "tarn_client"

  /// The functions that `tarn_client` may call.
  static let clientFunctions = [
    "tarn.classes()",
    "tarn.former_names()",
    "tarn.definition(integer)",
    "tarn.open(uuid, integer, integer[], xid8, xid8[])",
    "tarn.changed(integer, xid8, xid8[])",
    "tarn.fate(integer, text[], bigint[])",
    "tarn.push(uuid, text, bigint, bigint, bigint, bigint)",
    "tarn.register(uuid)",
  ]

  static let tables = """
    CREATE TABLE tarn.server (
      format integer NOT NULL, history uuid NOT NULL, pruned xid8 NOT NULL,
      one boolean PRIMARY KEY DEFAULT true CHECK (one)
    );
    INSERT INTO tarn.server (format, history, pruned) VALUES (\(format), gen_random_uuid(), '0');
    CREATE TABLE tarn.class (
      id integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
      name text COLLATE "C" NOT NULL UNIQUE,
      tab oid NOT NULL UNIQUE DEFERRABLE,
      -- As stores declare it, with its embedded classes; null if none has declared it.
      definition text
    );
    CREATE TABLE tarn.property (
      class integer NOT NULL REFERENCES tarn.class ON DELETE CASCADE,
      name text COLLATE "C" NOT NULL,
      type text NOT NULL,
      PRIMARY KEY (class, name)
    );
    CREATE TABLE tarn.replica (
      n integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
      id uuid NOT NULL UNIQUE,
      role name NOT NULL,
      version bigint NOT NULL DEFAULT 0,
      commit bigint NOT NULL DEFAULT 0,
      seen timestamptz NOT NULL DEFAULT statement_timestamp()
    );
    CREATE TABLE tarn.gone (
      class integer NOT NULL, xid xid8 NOT NULL, oid bigint NOT NULL,
      at timestamptz NOT NULL DEFAULT statement_timestamp()
    );
    CREATE INDEX gone_xid ON tarn.gone (xid, class);
    CREATE INDEX gone_oid ON tarn.gone (oid);
    -- A class changed past its triggers: replicas go over all of it. Each time is a row of its own,
    -- so that writers of a table that policies look at do not wait for each other.
    CREATE TABLE tarn.renewal (
      class integer NOT NULL, xid xid8 NOT NULL,
      at timestamptz NOT NULL DEFAULT statement_timestamp(),
      PRIMARY KEY (xid, class)
    );
    """

  /// Adds the tables and columns that a server of an earlier revision lacks. It can run repeatedly,
  /// and runs before the functions are replaced.
  static let additions = """
    UPDATE tarn.server SET format = \(format) WHERE format < \(format);
    -- The policies and rights of the table when replicas last went over the class.
    ALTER TABLE tarn.class ADD COLUMN IF NOT EXISTS access text;
    -- The table of an application, which keeps its own rules.
    ALTER TABLE tarn.class ADD COLUMN IF NOT EXISTS adopted boolean;
    UPDATE tarn.class SET adopted = definition IS NULL WHERE adopted IS NULL;
    -- A renamed login goes on with its replicas.
    ALTER TABLE tarn.replica ADD COLUMN IF NOT EXISTS login oid;
    -- Names that properties had: programs that have them still are served under the new ones.
    CREATE TABLE IF NOT EXISTS tarn.former (
      class integer NOT NULL REFERENCES tarn.class ON DELETE CASCADE,
      name text COLLATE "C" NOT NULL,
      -- Empty if the column was dropped.
      now text COLLATE "C" NOT NULL,
      PRIMARY KEY (class, name)
    );
    \(ServerIdentity.tables)
    """

  /// The rows of all classes, for the owner.
  static let classes = """
    SELECT c.id, c.name, c.tab::regclass::text, k.attname, p.name, p.type
      FROM tarn.class c
      LEFT JOIN LATERAL (
        SELECT q.name, format_type(a.atttypid, a.atttypmod) AS type
        FROM tarn.property q JOIN pg_attribute a ON a.attrelid = c.tab AND a.attname = q.name
        WHERE q.class = c.id AND NOT a.attisdropped) p ON true
      LEFT JOIN LATERAL (
        SELECT a.attname FROM pg_index i
        JOIN pg_attribute a ON a.attrelid = c.tab AND a.attnum = i.indkey[0]
        WHERE i.indrelid = c.tab AND i.indisprimary) k ON true
    """

  /// The functions that do not depend on classes. Names in them are looked up only in `pg_catalog`,
  /// so that no caller can substitute another function. Their signatures stay: programs of other
  /// versions call them.
  static let functions = """
    \(ServerIdentity.functions)
    -- The classes with the properties whose columns are there. A class without a table has no key.
    CREATE OR REPLACE FUNCTION tarn.classes() RETURNS TABLE (
      id integer, name text, tab text, key name, property text, type text
    ) LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$ \(mark)
      \(classes)
      ORDER BY c.id, p.name
    $$;

    CREATE OR REPLACE FUNCTION tarn.former_names() RETURNS TABLE (
      class integer, name text, now text
    ) LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$ \(mark)
      SELECT f.class, f.name, f.now FROM tarn.former f
    $$;

    -- A class as a store declares it.
    CREATE OR REPLACE FUNCTION tarn.definition(class integer) RETURNS text
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$ \(mark)
      SELECT c.definition FROM tarn.class c WHERE c.id = definition.class
    $$;

    -- The start of a pull, in its snapshot. Without an own number the version is null. Of the
    -- classes asked for it names those with changes since the position, those to go over as a
    -- whole, and those that are not here.
    CREATE OR REPLACE FUNCTION tarn.open(
      own uuid, spoken integer, classes integer[], since xid8, pending xid8[],
      OUT server text, OUT snapshot text, OUT version bigint, OUT commit bigint,
      OUT pruned xid8, OUT clock bigint,
      OUT changed integer[], OUT renewed integer[], OUT missing integer[]
    ) LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$ \(mark)
    DECLARE
      known integer;
      which integer;
      found_any boolean;
      below xid8 := pg_snapshot_xmax(pg_current_snapshot());
    BEGIN
      SELECT s.format, s.pruned, \(ServerIdentity.value), r.version, r.commit
      INTO known, pruned, server, version, commit
      FROM \(ServerIdentity.source)
      LEFT JOIN tarn.replica r ON r.id = own AND r.role = session_user;
      IF spoken IS NULL OR spoken < \(formats.lowerBound) OR spoken > known THEN
        RAISE EXCEPTION 'the server has format % of Tarn, the program %', known, spoken
          USING ERRCODE = '0A000';
      END IF;
      snapshot := pg_current_snapshot()::text;
      clock := (extract(epoch FROM clock_timestamp()) * 1000000)::bigint;
      -- Simple statements, which PL/pgSQL begins faster than one that does it all.
      FOREACH which IN ARRAY classes LOOP
        IF NOT EXISTS (SELECT FROM tarn.class c WHERE c.id = which) THEN
          missing := missing || which;
          CONTINUE;
        END IF;
        IF tarn.is_changed(which, since, pending) THEN changed := changed || which; END IF;
        found_any := EXISTS (SELECT FROM tarn.renewal r
          WHERE r.class = which AND r.xid >= since AND r.xid < below);
        IF NOT found_any AND cardinality(pending) > 0 THEN
          found_any := EXISTS (
            SELECT FROM tarn.renewal r WHERE r.class = which AND r.xid = ANY (pending));
        END IF;
        IF found_any THEN renewed := renewed || which; END IF;
      END LOOP;
    END $$;

    CREATE OR REPLACE FUNCTION tarn.renew(which integer) RETURNS void
    LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$ \(mark)
      INSERT INTO tarn.renewal (class, xid) VALUES (which, pg_current_xact_id())
      ON CONFLICT DO NOTHING
    $$;

    -- Deletes up to 1,000 tombstones from before a time, which is that of a statement. Its commit
    -- may be much later: those that an open transaction may be about to show stay.
    CREATE OR REPLACE FUNCTION tarn.prune(old timestamptz) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$ \(mark)
    DECLARE
      below xid8 := pg_snapshot_xmin(pg_current_snapshot());
      last xid8;
    BEGIN
      -- One at a time; whoever comes second leaves it to the first.
      PERFORM FROM tarn.server FOR UPDATE SKIP LOCKED;
      IF NOT FOUND THEN RETURN; END IF;
      \(pruning("gone"))
      \(pruning("renewal"))
    END $$;

    -- The number of a replica, which a login makes for itself. It is found by the login's name,
    -- which a copy of the database keeps, or by its number, which a renamed login keeps.
    CREATE OR REPLACE FUNCTION tarn.register(own uuid) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$ \(mark)
    DECLARE
      found_n integer;
      number oid := (SELECT r.oid FROM pg_roles r WHERE r.rolname = session_user);
      other name;
    BEGIN
      INSERT INTO tarn.replica (id, role, login) VALUES (own, session_user, number)
      ON CONFLICT DO NOTHING;
      SELECT n INTO found_n FROM tarn.replica
      WHERE id = own AND role = session_user AND login = number;
      IF found_n IS NULL THEN
        UPDATE tarn.replica SET role = session_user, login = number
        WHERE id = own AND (role = session_user OR login = number) RETURNING n INTO found_n;
      END IF;
      IF found_n IS NULL THEN
        SELECT role INTO other FROM tarn.replica WHERE id = own;
        RAISE EXCEPTION 'the replica belongs to another role' USING ERRCODE = '42501',
          DETAIL = format('It is that of %s, and the login is %s.', other, session_user);
      END IF;
      RETURN found_n;
    END $$;

    -- The start of a push of the commits after version 'first' up to 'last', to the server on whose
    -- state they rest: behind a pooler another one may have taken its place since. Objects from
    -- before the first commit are sent without moving the version.
    CREATE OR REPLACE FUNCTION tarn.push(
      own uuid, server text, first bigint, last bigint, previous bigint, latest bigint
    ) RETURNS xid8 LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp AS $$ \(mark)
    DECLARE
      old timestamptz := statement_timestamp() - interval '30 days';
      is_found boolean;
      own_server text;
      is_noted boolean;
    BEGIN
      UPDATE tarn.replica SET version = last, commit = latest, seen = statement_timestamp()
      WHERE id = own AND role = session_user AND version = first AND commit = previous;
      is_found := FOUND;
      SELECT \(ServerIdentity.value), \(ServerIdentity.isNoted) INTO own_server, is_noted
      FROM \(ServerIdentity.source);
      IF NOT is_found OR server IS DISTINCT FROM own_server
        OR last < first OR last = first AND latest IS DISTINCT FROM previous THEN
        RAISE EXCEPTION 'the server or its version of this replica is another one'
          USING ERRCODE = 'TN002';
      END IF;
      IF NOT is_noted THEN PERFORM tarn.note_origin(); END IF;
      IF coalesce((SELECT g.at < old FROM tarn.gone g ORDER BY g.xid LIMIT 1), false)
        OR coalesce((SELECT r.at < old FROM tarn.renewal r ORDER BY r.xid LIMIT 1), false)
      THEN PERFORM tarn.prune(old); END IF;
      RETURN pg_current_xact_id();
    END $$;

    CREATE OR REPLACE FUNCTION tarn.bury() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp AS $$ \(mark)
    BEGIN
      IF TG_LEVEL = 'ROW' THEN
        INSERT INTO tarn.gone (class, xid, oid)
        VALUES (TG_ARGV[0]::integer, pg_current_xact_id(), OLD._tarn_oid);
      ELSE
        -- In order: numbers that come at random cost their index twice as much.
        INSERT INTO tarn.gone (class, xid, oid)
        SELECT TG_ARGV[0]::integer, pg_current_xact_id(), d._tarn_oid FROM tarn_deleted d
        ORDER BY d._tarn_oid;
      END IF;
      RETURN NULL;
    END $$;

    CREATE OR REPLACE FUNCTION tarn.refuse_truncate() RETURNS trigger LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp AS $$ \(mark)
    BEGIN
      RAISE EXCEPTION 'TRUNCATE would not reach the replicas' USING ERRCODE = '0A000',
        HINT = 'DELETE FROM the table instead.';
    END $$;

    -- A change in a table that a class's policies look at.
    CREATE OR REPLACE FUNCTION tarn.depend() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp AS $$ \(mark)
    BEGIN
      PERFORM tarn.renew(TG_ARGV[0]::integer);
      RETURN NULL;
    END $$;
    """

  private static func pruning(_ table: String) -> String {
    """
    WITH oldest AS (SELECT t.ctid, t.at, t.xid FROM tarn.\(table) t ORDER BY t.xid LIMIT 1000),
      taken AS (
        DELETE FROM tarn.\(table) WHERE ctid IN (
          SELECT o.ctid FROM oldest o WHERE o.at < old AND o.xid < below) RETURNING xid)
    SELECT max(xid) INTO last FROM taken;
    UPDATE tarn.server SET pruned = last WHERE last > pruned;
    """
  }
}
