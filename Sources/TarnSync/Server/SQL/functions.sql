--: functions
{{identity_functions}}
-- The classes with the properties whose columns are there. A class without a table has no key.
CREATE OR REPLACE FUNCTION tarn.classes() RETURNS TABLE (
  id integer, name text, tab text, key name, property text, type text
) LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$ {{mark}}
  {{classes}}
  ORDER BY c.id, p.name
$$;

CREATE OR REPLACE FUNCTION tarn.former_names() RETURNS TABLE (
  class integer, name text, now text
) LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$ {{mark}}
  SELECT f.class, f.name, f.now FROM tarn.former f
$$;

-- A class as a store declares it.
CREATE OR REPLACE FUNCTION tarn.definition(class integer) RETURNS text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$ {{mark}}
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
) LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$ {{mark}}
DECLARE
  known integer;
  which integer;
  found_any boolean;
  below xid8 := pg_snapshot_xmax(pg_current_snapshot());
BEGIN
  SELECT s.format, s.pruned, {{identity}}, r.version, r.commit
  INTO known, pruned, server, version, commit
  FROM {{identity_source}}
  LEFT JOIN tarn.replica r ON r.id = own AND r.role = session_user;
  IF spoken IS NULL OR spoken < {{oldest_format}} OR spoken > known THEN
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
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$ {{mark}}
  INSERT INTO tarn.renewal (class, xid) VALUES (which, pg_current_xact_id())
  ON CONFLICT DO NOTHING
$$;

-- Deletes up to 1,000 tombstones from before a time, which is that of a statement. Its commit
-- may be much later: those that an open transaction may be about to show stay.
CREATE OR REPLACE FUNCTION tarn.prune(old timestamptz) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$ {{mark}}
DECLARE
  below xid8 := pg_snapshot_xmin(pg_current_snapshot());
  last xid8;
BEGIN
  -- One at a time; whoever comes second leaves it to the first.
  PERFORM FROM tarn.server FOR UPDATE SKIP LOCKED;
  IF NOT FOUND THEN RETURN; END IF;
  {{prune_gone}}
  {{prune_renewal}}
END $$;

-- The number of a replica, which a login makes for itself. It is found by the login's name,
-- which a copy of the database keeps, or by its number, which a renamed login keeps.
CREATE OR REPLACE FUNCTION tarn.register(own uuid) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$ {{mark}}
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
SET search_path = pg_catalog, pg_temp AS $$ {{mark}}
DECLARE
  old timestamptz := statement_timestamp() - interval '30 days';
  is_found boolean;
  own_server text;
  is_noted boolean;
BEGIN
  UPDATE tarn.replica SET version = last, commit = latest, seen = statement_timestamp()
  WHERE id = own AND role = session_user AND version = first AND commit = previous;
  is_found := FOUND;
  SELECT {{identity}}, {{is_noted}} INTO own_server, is_noted
  FROM {{identity_source}};
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
SET search_path = pg_catalog, pg_temp AS $$ {{mark}}
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
SET search_path = pg_catalog, pg_temp AS $$ {{mark}}
BEGIN
  RAISE EXCEPTION 'TRUNCATE would not reach the replicas' USING ERRCODE = '0A000',
    HINT = 'DELETE FROM the table instead.';
END $$;

-- A change in a table that a class's policies look at.
CREATE OR REPLACE FUNCTION tarn.depend() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$ {{mark}}
BEGIN
  PERFORM tarn.renew(TG_ARGV[0]::integer);
  RETURN NULL;
END $$;
--: pruning
WITH oldest AS (SELECT t.ctid, t.at, t.xid FROM tarn.{{table}} t ORDER BY t.xid LIMIT 1000),
  taken AS (
    DELETE FROM tarn.{{table}} WHERE ctid IN (
      SELECT o.ctid FROM oldest o WHERE o.at < old AND o.xid < below) RETURNING xid)
SELECT max(xid) INTO last FROM taken;
UPDATE tarn.server SET pruned = last WHERE last > pruned;
