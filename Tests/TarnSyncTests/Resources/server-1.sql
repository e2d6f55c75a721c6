-- A database as the first version prepared it, with the class Todo: the first revision of the
-- functions and triggers, which have no number. Never change it: servers have it.
DO $$ BEGIN CREATE ROLE tarn_owner NOLOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$;
DO $$ BEGIN CREATE ROLE tarn_client NOLOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$;
BEGIN;
CREATE SCHEMA tarn AUTHORIZATION tarn_owner;
GRANT USAGE ON SCHEMA tarn TO tarn_client;
GRANT USAGE, CREATE ON SCHEMA public TO tarn_owner;
GRANT USAGE ON SCHEMA public TO tarn_client;
SET LOCAL ROLE tarn_owner;
CREATE TABLE tarn.server (
  format integer NOT NULL, history uuid NOT NULL, pruned xid8 NOT NULL,
  one boolean PRIMARY KEY DEFAULT true CHECK (one)
);
INSERT INTO tarn.server (format, history, pruned) VALUES (1, gen_random_uuid(), '0');
CREATE TABLE tarn.class (
  id integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  name text COLLATE "C" NOT NULL UNIQUE,
  tab oid NOT NULL UNIQUE DEFERRABLE,
  -- As a store declares it, with its embedded classes; null for a table of an application.
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
-- In PL/pgSQL, which plans a statement once in a connection; SQL functions do so at each call.
-- A function of its own costs 30 to 90 us in each transaction: what each push and pull needs is
-- written into their functions.
CREATE FUNCTION tarn.identity() RETURNS text LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN (SELECT concat_ws('/', (SELECT c.system_identifier FROM pg_control_system() c),
  substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8),
  (SELECT d.oid FROM pg_database d WHERE d.datname = current_database()),
  pg_relation_filenode('tarn.server'), s.history) FROM tarn.server s);
END $$;

-- The classes with their properties. A class without a table has no key.
CREATE FUNCTION tarn.classes() RETURNS TABLE (
  id integer, name text, tab text, key name, property text, type text
) LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  SELECT c.id, c.name, c.tab::regclass::text, k.attname, p.name, p.type
  FROM tarn.class c LEFT JOIN tarn.property p ON p.class = c.id
  LEFT JOIN LATERAL (
    SELECT a.attname FROM pg_index i
    JOIN pg_attribute a ON a.attrelid = c.tab AND a.attnum = i.indkey[0]
    WHERE i.indrelid = c.tab AND i.indisprimary) k ON true
  ORDER BY c.id, p.name
$$;

-- A class as a store declares it.
CREATE FUNCTION tarn.definition(class integer) RETURNS text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  SELECT c.definition FROM tarn.class c WHERE c.id = definition.class
$$;

-- The start of a pull, in its snapshot. Without an own number the version is null. Of the
-- classes asked for it names those with changes since the position, those to go over as a
-- whole, and those that are not here.
CREATE FUNCTION tarn.open(
  own uuid, spoken integer, classes integer[], since xid8, pending xid8[],
  OUT server text, OUT snapshot text, OUT version bigint, OUT commit bigint,
  OUT pruned xid8, OUT clock bigint,
  OUT changed integer[], OUT renewed integer[], OUT missing integer[]
) LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  known integer;
  which integer;
  found_any boolean;
  below xid8 := pg_snapshot_xmax(pg_current_snapshot());
BEGIN
  SELECT s.format, s.pruned, concat_ws('/', (SELECT c.system_identifier FROM pg_control_system() c),
  substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8),
  (SELECT d.oid FROM pg_database d WHERE d.datname = current_database()),
  pg_relation_filenode('tarn.server'), s.history), r.version, r.commit
  INTO known, pruned, server, version, commit
  FROM tarn.server s LEFT JOIN tarn.replica r ON r.id = own AND r.role = session_user;
  IF spoken IS DISTINCT FROM known THEN
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

CREATE FUNCTION tarn.renew(which integer) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  INSERT INTO tarn.renewal (class, xid) VALUES (which, pg_current_xact_id())
  ON CONFLICT DO NOTHING
$$;

-- Deletes up to 1,000 tombstones from before a time, which is that of a statement. Its commit
-- may be much later: those that an open transaction may be about to show stay.
CREATE FUNCTION tarn.prune(old timestamptz) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  below xid8 := pg_snapshot_xmin(pg_current_snapshot());
  last xid8;
BEGIN
  -- One at a time; whoever comes second leaves it to the first.
  PERFORM FROM tarn.server FOR UPDATE SKIP LOCKED;
  IF NOT FOUND THEN RETURN; END IF;
  WITH oldest AS (SELECT t.ctid, t.at, t.xid FROM tarn.gone t ORDER BY t.xid LIMIT 1000),
  taken AS (
    DELETE FROM tarn.gone WHERE ctid IN (
      SELECT o.ctid FROM oldest o WHERE o.at < old AND o.xid < below) RETURNING xid)
SELECT max(xid) INTO last FROM taken;
UPDATE tarn.server SET pruned = last WHERE last > pruned;
  WITH oldest AS (SELECT t.ctid, t.at, t.xid FROM tarn.renewal t ORDER BY t.xid LIMIT 1000),
  taken AS (
    DELETE FROM tarn.renewal WHERE ctid IN (
      SELECT o.ctid FROM oldest o WHERE o.at < old AND o.xid < below) RETURNING xid)
SELECT max(xid) INTO last FROM taken;
UPDATE tarn.server SET pruned = last WHERE last > pruned;
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

-- The start of a push of the commits after version 'first' up to 'last', to the server on whose
-- state they rest: behind a pooler another one may have taken its place since. Objects from
-- before the first commit are sent without moving the version.
CREATE FUNCTION tarn.push(
  own uuid, server text, first bigint, last bigint, previous bigint, latest bigint
) RETURNS xid8 LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  old timestamptz := statement_timestamp() - interval '30 days';
  is_found boolean;
  own_server text;
BEGIN
  UPDATE tarn.replica SET version = last, commit = latest, seen = statement_timestamp()
  WHERE id = own AND role = session_user AND version = first AND commit = previous;
  is_found := FOUND;
  SELECT concat_ws('/', (SELECT c.system_identifier FROM pg_control_system() c),
  substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8),
  (SELECT d.oid FROM pg_database d WHERE d.datname = current_database()),
  pg_relation_filenode('tarn.server'), s.history) INTO own_server FROM tarn.server s;
  IF NOT is_found OR server IS DISTINCT FROM own_server
    OR last < first OR last = first AND latest IS DISTINCT FROM previous THEN
    RAISE EXCEPTION 'the server or its version of this replica is another one'
      USING ERRCODE = 'TN002';
  END IF;
  IF coalesce((SELECT g.at < old FROM tarn.gone g ORDER BY g.xid LIMIT 1), false)
    OR coalesce((SELECT r.at < old FROM tarn.renewal r ORDER BY r.xid LIMIT 1), false)
  THEN PERFORM tarn.prune(old); END IF;
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
  PERFORM tarn.renew(TG_ARGV[0]::integer);
  RETURN NULL;
END $$;

-- The class.
CREATE TABLE public."Todo" (
  _id text COLLATE "C" PRIMARY KEY,
  title text COLLATE "C" NOT NULL DEFAULT '',
  count bigint,
  tags jsonb NOT NULL DEFAULT '[]',
  _tarn_xid xid8 NOT NULL,
  _tarn_oid bigint NOT NULL,
  _tarn_at bigint NOT NULL,
  _tarn_by integer NOT NULL,
  _tarn_cols jsonb,
  _tarn_parts jsonb,
  _tarn_in jsonb
);
CREATE INDEX ON public."Todo" (_tarn_xid);
GRANT SELECT, INSERT, UPDATE, DELETE ON public."Todo" TO tarn_client;
INSERT INTO tarn.class (name, tab) VALUES ('Todo', 'public."Todo"'::regclass);
INSERT INTO tarn.property (class, name, type) VALUES
  (1, '_id', 'text COLLATE "C"'), (1, 'title', 'text COLLATE "C"'), (1, 'count', 'bigint'),
  (1, 'tags', 'jsonb');

CREATE OR REPLACE FUNCTION tarn.is_changed(class integer, since xid8, pending xid8[])
RETURNS boolean LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_variable
DECLARE
  below xid8 := pg_snapshot_xmax(pg_current_snapshot());
BEGIN
IF class = 1 THEN
  IF (SELECT t._tarn_xid FROM public."Todo" t WHERE t._tarn_xid < below
    ORDER BY t._tarn_xid DESC LIMIT 1) >= since
  THEN RETURN true; END IF;
  IF cardinality(pending) > 0 THEN
    IF EXISTS (SELECT FROM unnest(pending) o JOIN public."Todo" t ON t._tarn_xid = o)
    THEN RETURN true; END IF;
  END IF;
END IF;
IF EXISTS (SELECT FROM tarn.gone g
  WHERE g.class = is_changed.class AND g.xid >= since AND g.xid < below)
THEN RETURN true; END IF;
IF cardinality(pending) = 0 THEN RETURN false; END IF;
RETURN EXISTS (SELECT FROM unnest(pending) o
  JOIN tarn.gone g ON g.class = is_changed.class AND g.xid = o);
END $$;
CREATE OR REPLACE FUNCTION tarn.changed(class integer, since xid8, pending xid8[])
RETURNS SETOF bigint LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_variable
DECLARE
  below xid8 := pg_snapshot_xmax(pg_current_snapshot());
BEGIN
IF class = 1 THEN
  RETURN QUERY
    SELECT t._tarn_oid FROM public."Todo" t
    WHERE t._tarn_xid >= since AND t._tarn_xid < below;
  IF cardinality(pending) > 0 THEN
    RETURN QUERY
      SELECT t._tarn_oid FROM unnest(pending) o JOIN public."Todo" t ON t._tarn_xid = o;
  END IF;
END IF;
RETURN QUERY
  SELECT g.oid FROM tarn.gone g
  WHERE g.class = changed.class AND g.xid >= since AND g.xid < below;
IF cardinality(pending) > 0 THEN
  RETURN QUERY
    SELECT g.oid FROM unnest(pending) o
    JOIN tarn.gone g ON g.class = changed.class AND g.xid = o;
END IF;
END $$;
CREATE OR REPLACE FUNCTION tarn.fate(class integer, keys text[], oids bigint[])
RETURNS TABLE (oid bigint, fate text) LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_variable
DECLARE
  is_here boolean;
BEGIN
FOR place IN 1 .. coalesce(cardinality(oids), 0) LOOP
is_here := false;
IF class = 1 THEN
  SELECT true INTO is_here FROM public."Todo" t
  WHERE t."_id"::text = keys[place] AND t._tarn_oid = oids[place];
END IF;
oid := oids[place];
fate := CASE WHEN is_here THEN 'hidden'
  WHEN EXISTS (SELECT FROM tarn.gone g WHERE g.oid = oids[place]) THEN 'gone'
  ELSE 'unknown' END;
RETURN NEXT;
END LOOP;
END $$;

CREATE OR REPLACE FUNCTION tarn.merge_1() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  clock bigint := round(date_part('epoch', clock_timestamp()) * 1000000)::bigint;
  cap bigint := clock + 60000000;
  said jsonb := NEW._tarn_in;
  writer integer;
  stamp bigint;
  last bigint;
  former jsonb;
  cols jsonb;
BEGIN
  -- What another session has seen must not be lost by a crash: its number would come again.
  IF current_setting('synchronous_commit') = 'off' THEN
    PERFORM set_config('synchronous_commit', 'on', true);
  END IF;
  NEW._tarn_xid := pg_current_xact_id();
  NEW._tarn_in := NULL;
  IF TG_OP = 'INSERT' OR NEW."_id" IS DISTINCT FROM OLD."_id" THEN
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
    RETURN NEW;
  END IF;
  NEW._tarn_oid := OLD._tarn_oid;
  NEW._tarn_at := OLD._tarn_at;
  NEW._tarn_by := OLD._tarn_by;
  NEW._tarn_parts := OLD._tarn_parts;
  cols := OLD._tarn_cols;
  IF said IS NULL OR said ? 'sql' THEN
    IF NEW."count" IS DISTINCT FROM OLD."count" THEN
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
        'count', jsonb_build_array(stamp, 0));
    END IF;
    IF NEW."title" IS DISTINCT FROM OLD."title" THEN
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
        'title', jsonb_build_array(stamp, 0));
    END IF;
    IF said->'sql' ? 'tags' THEN
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
        'tags', jsonb_build_array(stamp, 0));
    END IF;
  ELSE
    writer := (said->>'by')::integer;
    IF said->'cols' ? 'count' THEN
      former := coalesce(
        cols->'count', jsonb_build_array(OLD._tarn_at, OLD._tarn_by));
      last := (former->>0)::bigint;
      stamp := least((said->'cols'->>'count')::bigint, cap);
      IF (stamp, writer) > (last, (former->>1)::integer) THEN
        cols := coalesce(cols, '{}')
          || jsonb_build_object('count', jsonb_build_array(stamp, writer));
        IF said->'parts' ? 'count' THEN
          NEW._tarn_parts := coalesce(NEW._tarn_parts, '{}')
            || jsonb_build_object(
              'count', jsonb_build_array(stamp, writer, said->'parts'->'count'));
        ELSIF NEW._tarn_parts ? 'count' THEN
          NEW._tarn_parts := NEW._tarn_parts - 'count';
        END IF;
      ELSE
        NEW."count" := OLD."count";
      END IF;
    ELSE
      NEW."count" := OLD."count";
    END IF;
    IF said->'cols' ? 'tags' THEN
      former := coalesce(
        cols->'tags', jsonb_build_array(OLD._tarn_at, OLD._tarn_by));
      last := (former->>0)::bigint;
      stamp := least((said->'cols'->>'tags')::bigint, cap);
      IF said->'seen'->'tags' IS DISTINCT FROM former THEN
        RAISE EXCEPTION 'another has written %', 'tags' USING ERRCODE = 'TN001';
      END IF;
      stamp := greatest(stamp, last + 1);
      cols := coalesce(cols, '{}') || jsonb_build_object(
        'tags', jsonb_build_array(stamp, writer));
        IF said->'parts' ? 'tags' THEN
          NEW._tarn_parts := coalesce(NEW._tarn_parts, '{}')
            || jsonb_build_object(
              'tags', jsonb_build_array(stamp, writer, said->'parts'->'tags'));
        ELSIF NEW._tarn_parts ? 'tags' THEN
          NEW._tarn_parts := NEW._tarn_parts - 'tags';
        END IF;
    ELSE
      NEW."tags" := OLD."tags";
    END IF;
    IF said->'cols' ? 'title' THEN
      former := coalesce(
        cols->'title', jsonb_build_array(OLD._tarn_at, OLD._tarn_by));
      last := (former->>0)::bigint;
      stamp := least((said->'cols'->>'title')::bigint, cap);
      IF (stamp, writer) > (last, (former->>1)::integer) THEN
        cols := coalesce(cols, '{}')
          || jsonb_build_object('title', jsonb_build_array(stamp, writer));
        IF said->'parts' ? 'title' THEN
          NEW._tarn_parts := coalesce(NEW._tarn_parts, '{}')
            || jsonb_build_object(
              'title', jsonb_build_array(stamp, writer, said->'parts'->'title'));
        ELSIF NEW._tarn_parts ? 'title' THEN
          NEW._tarn_parts := NEW._tarn_parts - 'title';
        END IF;
      ELSE
        NEW."title" := OLD."title";
      END IF;
    ELSE
      NEW."title" := OLD."title";
    END IF;
  END IF;
  NEW._tarn_cols := cols;
  RETURN NEW;
END $$;
CREATE OR REPLACE TRIGGER "~tarn" BEFORE INSERT OR UPDATE ON public."Todo"
  FOR EACH ROW EXECUTE FUNCTION tarn.merge_1();
ALTER TABLE public."Todo" ENABLE ALWAYS TRIGGER "~tarn";
CREATE OR REPLACE TRIGGER "~tarn_gone" AFTER DELETE ON public."Todo"
  FOR EACH ROW EXECUTE FUNCTION tarn.bury(1);
ALTER TABLE public."Todo" ENABLE ALWAYS TRIGGER "~tarn_gone";
CREATE OR REPLACE TRIGGER "~tarn_moved" AFTER UPDATE ON public."Todo"
  FOR EACH ROW WHEN (OLD._tarn_oid IS DISTINCT FROM NEW._tarn_oid)
  EXECUTE FUNCTION tarn.bury(1);
ALTER TABLE public."Todo" ENABLE ALWAYS TRIGGER "~tarn_moved";
CREATE OR REPLACE TRIGGER "~tarn_truncate" BEFORE TRUNCATE ON public."Todo"
  FOR EACH STATEMENT EXECUTE FUNCTION tarn.refuse_truncate();
ALTER TABLE public."Todo" ENABLE ALWAYS TRIGGER "~tarn_truncate";
CREATE OR REPLACE FUNCTION tarn.structure_1() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  changed text[] := '{}';
BEGIN
IF NEW._tarn_in IS NULL THEN
  IF NEW."tags" IS DISTINCT FROM OLD."tags" THEN
    changed := changed || 'tags'::text;
  END IF;
  NEW._tarn_in := jsonb_build_object('sql', to_jsonb(changed));
END IF;
RETURN NEW;
END $$;
DROP TRIGGER IF EXISTS "}tarn" ON public."Todo";
CREATE TRIGGER "}tarn" BEFORE UPDATE OF "tags" ON public."Todo"
  FOR EACH ROW EXECUTE FUNCTION tarn.structure_1();
ALTER TABLE public."Todo" ENABLE ALWAYS TRIGGER "}tarn";

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA tarn FROM PUBLIC;
GRANT EXECUTE ON FUNCTION tarn.classes() TO tarn_client;
GRANT EXECUTE ON FUNCTION tarn.definition(integer) TO tarn_client;
GRANT EXECUTE ON FUNCTION tarn.open(uuid, integer, integer[], xid8, xid8[]) TO tarn_client;
GRANT EXECUTE ON FUNCTION tarn.changed(integer, xid8, xid8[]) TO tarn_client;
GRANT EXECUTE ON FUNCTION tarn.fate(integer, text[], bigint[]) TO tarn_client;
GRANT EXECUTE ON FUNCTION tarn.push(uuid, text, bigint, bigint, bigint, bigint) TO tarn_client;
GRANT EXECUTE ON FUNCTION tarn.register(uuid) TO tarn_client;
COMMIT;
