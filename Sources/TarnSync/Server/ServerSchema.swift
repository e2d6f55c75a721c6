/// What Tarn keeps in a database beside the tables of the classes: the schema `tarn`.
///
/// Everything belongs to a role that cannot log in. Programs may call the functions that
/// `clientFunctions` names, and none of them may touch the tables.
enum ServerSchema {
  static let format = 1
  static let owner = "tarn_owner"
  static let client = "tarn_client"

  /// What `tarn_client` may call.
  static let clientFunctions = [
    "tarn.open(uuid, integer, integer[], xid8, xid8[])",
    "tarn.changed(integer, xid8, xid8[])",
    "tarn.fate(integer, text[], bigint[])",
    "tarn.push(uuid, bigint, bigint, bigint, bigint)",
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
      tab oid NOT NULL UNIQUE,
      epoch xid8 NOT NULL DEFAULT pg_current_xact_id(),
      depends oid[] NOT NULL DEFAULT '{}'
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
    CREATE INDEX gone_xid ON tarn.gone (class, xid);
    CREATE INDEX gone_oid ON tarn.gone (oid);
    """

  /// The functions that know no class. A name in them is looked up in `pg_catalog` alone, so that
  /// no caller can put a function of his own in the way.
  static let functions = """
    -- Which server this is: another machine, timeline, database or restored table is another one.
    CREATE FUNCTION tarn.identity() RETURNS text LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp AS $$
      SELECT concat_ws(
        '/', c.system_identifier, substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8), d.oid,
        pg_relation_filenode('tarn.server'), s.history)
      FROM pg_control_system() c, pg_database d, tarn.server s
      WHERE d.datname = current_database()
    $$;

    -- The start of a pull, in its snapshot. Without an own number the version is null.
    CREATE FUNCTION tarn.open(
      own uuid, spoken integer, classes integer[], since xid8, pending xid8[],
      OUT server text, OUT snapshot text, OUT version bigint, OUT commit bigint,
      OUT pruned xid8, OUT clock bigint, OUT changed integer[], OUT epochs xid8[]
    ) LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    DECLARE
      known integer;
    BEGIN
      SELECT s.format, s.pruned INTO known, pruned FROM tarn.server s;
      IF spoken IS DISTINCT FROM known THEN
        RAISE EXCEPTION 'the server has format % of Tarn, the program %', known, spoken
          USING ERRCODE = '0A000';
      END IF;
      server := tarn.identity();
      snapshot := pg_current_snapshot()::text;
      clock := (extract(epoch FROM clock_timestamp()) * 1000000)::bigint;
      SELECT r.version, r.commit INTO version, commit
      FROM tarn.replica r WHERE r.id = own AND r.role = session_user;
      SELECT array_agg(c.id) FILTER (WHERE tarn.is_changed(c.id, since, pending)),
        array_agg(c.epoch ORDER BY g.place)
      INTO changed, epochs
      FROM unnest(classes) WITH ORDINALITY g (id, place) LEFT JOIN tarn.class c ON c.id = g.id;
    END $$;

    -- The number of a replica, which a login makes for itself.
    CREATE FUNCTION tarn.register(own uuid) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    DECLARE
      found_n integer;
    BEGIN
      INSERT INTO tarn.replica (id, role) VALUES (own, session_user) ON CONFLICT DO NOTHING;
      SELECT n INTO found_n FROM tarn.replica WHERE id = own AND role = session_user;
      IF found_n IS NULL THEN
        RAISE EXCEPTION 'the replica belongs to another role' USING ERRCODE = '42501';
      END IF;
      RETURN found_n;
    END $$;

    -- The start of a push of the commits after version 'first' up to 'last'.
    CREATE FUNCTION tarn.push(
      own uuid, first bigint, last bigint, previous bigint, latest bigint
    ) RETURNS xid8 LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    BEGIN
      UPDATE tarn.replica SET version = last, commit = latest, seen = statement_timestamp()
      WHERE id = own AND role = session_user AND version = first AND commit = previous;
      IF NOT FOUND OR last <= first THEN
        RAISE EXCEPTION 'the server has another version of this replica' USING ERRCODE = 'TN002';
      END IF;
      RETURN pg_current_xact_id();
    END $$;

    CREATE FUNCTION tarn.bury() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp AS $$
    BEGIN
      INSERT INTO tarn.gone (class, xid, oid)
      VALUES (TG_ARGV[0]::integer, pg_current_xact_id(), OLD._tarn_oid);
      RETURN NULL;
    END $$;

    CREATE FUNCTION tarn.refuse_truncate() RETURNS trigger LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp AS $$
    BEGIN
      RAISE EXCEPTION 'TRUNCATE would not reach the replicas' USING ERRCODE = '0A000',
        HINT = 'DELETE FROM the table instead.';
    END $$;

    -- A change in a table that a class's policies look at.
    CREATE FUNCTION tarn.depend() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp AS $$
    BEGIN
      UPDATE tarn.class SET epoch = pg_current_xact_id() WHERE id = TG_ARGV[0]::integer;
      RETURN NULL;
    END $$;
    """
}
