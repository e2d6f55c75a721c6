--: tables
CREATE TABLE IF NOT EXISTS tarn.era ();
CREATE TABLE IF NOT EXISTS tarn.origin (
  name text NOT NULL, history uuid NOT NULL, place text NOT NULL, system text NOT NULL,
  timeline text NOT NULL, release integer NOT NULL, xid xid8 NOT NULL
);

--: first_note
INSERT INTO tarn.origin (name, history, place, system, timeline, release, xid)
SELECT tarn.identity(), s.history, {{facts}}, {{release}}, pg_current_xact_id()
FROM tarn.server s WHERE NOT EXISTS (SELECT FROM tarn.origin);

--: facts
concat_ws('/', (SELECT d.oid FROM pg_database d WHERE d.datname = current_database()),
  s.tableoid, to_regclass('tarn.era')::oid),
(SELECT c.system_identifier FROM pg_control_system() c)::text,
substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)
--: source
tarn.server s
  CROSS JOIN LATERAL (SELECT {{facts}}) f (place, system, timeline)
  LEFT JOIN tarn.origin o ON o.history = s.history AND o.place = f.place
    AND (o.system = f.system AND o.timeline = f.timeline
      OR o.system <> f.system AND f.timeline = '00000001' AND o.release < {{release}}
        AND o.xid < pg_snapshot_xmax(pg_current_snapshot()))
--: place_is_noted
SELECT FROM tarn.server s CROSS JOIN LATERAL (SELECT {{facts}}) f (place, system, timeline)
  JOIN tarn.origin o ON o.history = s.history AND o.place = f.place
--: functions
-- In PL/pgSQL, which plans a statement once in a connection; SQL functions do so at each call.
-- A function of its own costs 30 to 90 us in each transaction: what each push and pull needs is
-- written into their functions.
CREATE OR REPLACE FUNCTION tarn.identity() RETURNS text
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$ {{mark}}
BEGIN
  RETURN (SELECT {{identity}} FROM {{identity_source}});
END $$;

-- Notes the place of the server after a failover, a restore or an upgrade, under the identity
-- that replicas get.
CREATE OR REPLACE FUNCTION tarn.note_origin() RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$ {{mark}}
DECLARE
  known text;
BEGIN
  -- One at a time; whoever comes second leaves it to the first.
  PERFORM FROM tarn.server FOR UPDATE SKIP LOCKED;
  IF NOT FOUND THEN RETURN; END IF;
  known := (SELECT {{identity}} FROM {{identity_source}});
  DELETE FROM tarn.origin;
  INSERT INTO tarn.origin (name, history, place, system, timeline, release, xid)
  SELECT known, s.history, {{facts}}, {{release}}, pg_current_xact_id() FROM tarn.server s;
END $$;

-- A restore that fills the tables that are there.
CREATE OR REPLACE FUNCTION tarn.begin_era() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$ {{mark}}
BEGIN
  DROP TABLE tarn.era;
  CREATE TABLE tarn.era ();
  RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER "~tarn_era" AFTER INSERT OR TRUNCATE ON tarn.server
  FOR EACH STATEMENT EXECUTE FUNCTION tarn.begin_era();
ALTER TABLE tarn.server ENABLE ALWAYS TRIGGER "~tarn_era";


