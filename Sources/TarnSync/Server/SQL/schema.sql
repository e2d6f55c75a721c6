--: tables
CREATE TABLE tarn.server (
  format integer NOT NULL, history uuid NOT NULL, pruned xid8 NOT NULL,
  one boolean PRIMARY KEY DEFAULT true CHECK (one)
);
INSERT INTO tarn.server (format, history, pruned) VALUES ({{format}}, gen_random_uuid(), '0');
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
--: additions
UPDATE tarn.server SET format = {{format}} WHERE format < {{format}};
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
{{identity_tables}}
--: classes
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
