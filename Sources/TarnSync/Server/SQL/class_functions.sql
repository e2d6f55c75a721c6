--: is_changed
CREATE OR REPLACE FUNCTION tarn.is_changed(class integer, since xid8, pending xid8[])
RETURNS boolean LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS {{quote}} {{mark}}
#variable_conflict use_variable
DECLARE
  below xid8 := pg_snapshot_xmax(pg_current_snapshot());
BEGIN
{{classes}}
IF EXISTS (SELECT FROM tarn.gone g
  WHERE g.class = is_changed.class AND g.xid >= since AND g.xid < below)
THEN RETURN true; END IF;
IF cardinality(pending) = 0 THEN RETURN false; END IF;
RETURN EXISTS (SELECT FROM unnest(pending) o (xid)
  JOIN tarn.gone g ON g.class = is_changed.class AND g.xid = o.xid);
END {{quote}};
--: is_changed.class
  IF (SELECT t._tarn_xid FROM {{table}} t WHERE t._tarn_xid < below
    ORDER BY t._tarn_xid DESC LIMIT 1) >= since
  THEN RETURN true; END IF;
  IF cardinality(pending) > 0 THEN
    IF EXISTS (SELECT FROM unnest(pending) o (xid) JOIN {{table}} t ON t._tarn_xid = o.xid)
    THEN RETURN true; END IF;
  END IF;
--: changed
CREATE OR REPLACE FUNCTION tarn.changed(class integer, since xid8, pending xid8[])
RETURNS SETOF bigint LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS {{quote}} {{mark}}
#variable_conflict use_variable
DECLARE
  below xid8 := pg_snapshot_xmax(pg_current_snapshot());
BEGIN
{{classes}}
RETURN QUERY
  SELECT g.oid FROM tarn.gone g
  WHERE g.class = changed.class AND g.xid >= since AND g.xid < below;
IF cardinality(pending) > 0 THEN
  RETURN QUERY
    SELECT g.oid FROM unnest(pending) o (xid)
    JOIN tarn.gone g ON g.class = changed.class AND g.xid = o.xid;
END IF;
END {{quote}};
--: changed.class
  RETURN QUERY
    SELECT t._tarn_oid FROM {{table}} t
    WHERE t._tarn_xid >= since AND t._tarn_xid < below;
  IF cardinality(pending) > 0 THEN
    RETURN QUERY
      SELECT t._tarn_oid FROM unnest(pending) o (xid) JOIN {{table}} t ON t._tarn_xid = o.xid;
  END IF;
--: fate
CREATE OR REPLACE FUNCTION tarn.fate(class integer, keys text[], oids bigint[])
RETURNS TABLE (oid bigint, fate text) LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS {{quote}} {{mark}}
#variable_conflict use_variable
DECLARE
  is_here boolean;
BEGIN
FOR place IN 1 .. coalesce(cardinality(oids), 0) LOOP
is_here := false;
{{classes}}
oid := oids[place];
fate := CASE WHEN is_here THEN 'hidden'
  WHEN EXISTS (SELECT FROM tarn.gone g WHERE g.oid = oids[place]) THEN 'gone'
  ELSE 'unknown' END;
RETURN NEXT;
END LOOP;
END {{quote}};
--: fate.class
  SELECT true INTO is_here FROM {{table}} t
  WHERE t.{{key}}::text = keys[place] AND t._tarn_oid = oids[place];
--: case
IF class = {{id}} THEN
{{body}}
END IF;
