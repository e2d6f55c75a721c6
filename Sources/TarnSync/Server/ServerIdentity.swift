/// The identity of a server: another machine, timeline, database or restored table is another
/// server, with which replicas compare everything.
///
/// It consists of the server's location and a random history. No maintenance of tables changes it:
/// their numbers stay when tables are rewritten, moved or upgraded. A restore creates tables with
/// other numbers; one that only fills existing tables creates a new `tarn.era`, by a trigger.
/// `tarn.origin` has the identity under which replicas know this location: a server may have been
/// named differently by an earlier version, or by the cluster from which `pg_upgrade` migrated it.
enum ServerIdentity {
  static let tables = """
    CREATE TABLE IF NOT EXISTS tarn.era ();
    CREATE TABLE IF NOT EXISTS tarn.origin (
      name text NOT NULL, history uuid NOT NULL, place text NOT NULL, system text NOT NULL,
      timeline text NOT NULL, release integer NOT NULL, xid xid8 NOT NULL
    );

    """

  /// Records the current identity, whatever function returns it, if none is recorded.
  static let firstNote = """
    INSERT INTO tarn.origin (name, history, place, system, timeline, release, xid)
    SELECT tarn.identity(), s.history, \(facts), \(release), pg_current_xact_id()
    FROM tarn.server s WHERE NOT EXISTS (SELECT FROM tarn.origin);

    """

  private static let release = "current_setting('server_version_num')::integer / 10000"

  /// The database with the tables' numbers, the cluster and its timeline, of a row `s`.
  private static let facts = """
    concat_ws('/', (SELECT d.oid FROM pg_database d WHERE d.datname = current_database()),
      s.tableoid, to_regclass('tarn.era')::oid),
    (SELECT c.system_identifier FROM pg_control_system() c)::text,
    substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)
    """

  /// The tables of a query for `value` and `isNoted`. After `pg_upgrade` the cluster is another one
  /// on its first timeline, and everything else is unchanged.
  static let source = """
    tarn.server s
      CROSS JOIN LATERAL (SELECT \(facts)) f (place, system, timeline)
      LEFT JOIN tarn.origin o ON o.history = s.history AND o.place = f.place
        AND (o.system = f.system AND o.timeline = f.timeline
          OR o.system <> f.system AND f.timeline = '00000001' AND o.release < \(release)
            AND o.xid < pg_snapshot_xmax(pg_current_snapshot()))
    """

  static let value =
    "coalesce(o.name, concat_ws('/', f.system, f.timeline, f.place, s.history))"

  /// Whether the recorded location equals the current one.
  static let isNoted = "coalesce(o.system = f.system, false)"

  /// A query with a row if the tables of the schema `tarn` are the recorded ones, so they were not
  /// restored.
  static let placeIsNoted = """
    SELECT FROM tarn.server s CROSS JOIN LATERAL (SELECT \(facts)) f (place, system, timeline)
      JOIN tarn.origin o ON o.history = s.history AND o.place = f.place
    """

  static let functions = """
    -- In PL/pgSQL, which plans a statement once in a connection; SQL functions do so at each call.
    -- A function of its own costs 30 to 90 us in each transaction: what each push and pull needs is
    -- written into their functions.
    CREATE OR REPLACE FUNCTION tarn.identity() RETURNS text
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp AS $$ \(ServerSchema.mark)
    BEGIN
      RETURN (SELECT \(value) FROM \(source));
    END $$;

    -- Notes the place of the server after a failover, a restore or an upgrade, under the identity
    -- that replicas get.
    CREATE OR REPLACE FUNCTION tarn.note_origin() RETURNS void LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp AS $$ \(ServerSchema.mark)
    DECLARE
      known text;
    BEGIN
      -- One at a time; whoever comes second leaves it to the first.
      PERFORM FROM tarn.server FOR UPDATE SKIP LOCKED;
      IF NOT FOUND THEN RETURN; END IF;
      known := (SELECT \(value) FROM \(source));
      DELETE FROM tarn.origin;
      INSERT INTO tarn.origin (name, history, place, system, timeline, release, xid)
      SELECT known, s.history, \(facts), \(release), pg_current_xact_id() FROM tarn.server s;
    END $$;

    -- A restore that fills the tables that are there.
    CREATE OR REPLACE FUNCTION tarn.begin_era() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp AS $$ \(ServerSchema.mark)
    BEGIN
      DROP TABLE tarn.era;
      CREATE TABLE tarn.era ();
      RETURN NULL;
    END $$;
    CREATE OR REPLACE TRIGGER "~tarn_era" AFTER INSERT OR TRUNCATE ON tarn.server
      FOR EACH STATEMENT EXECUTE FUNCTION tarn.begin_era();
    ALTER TABLE tarn.server ENABLE ALWAYS TRIGGER "~tarn_era";


    """
}
