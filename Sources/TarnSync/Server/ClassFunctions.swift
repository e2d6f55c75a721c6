/// The functions that read the tables of all classes. Each migration replaces them, so that none of
/// them needs dynamic SQL.
enum ClassFunctions {
  static func text(_ classes: [ServerCatalog.Entry]) -> String {
    [isChanged(classes), changed(classes), fate(classes)].joined(separator: "\n")
  }

  /// Rows that were restored into a new cluster have ids that it has not reached yet.
  private static let bound = "below xid8 := pg_snapshot_xmax(pg_current_snapshot());"

  private static func cases(
    _ classes: [ServerCatalog.Entry],
    _ body: (_ id: Int, _ table: String, _ key: String) -> String
  ) -> String {
    classes.map {
      "IF class = \($0.id) THEN\n\(body($0.id, $0.rows, SQLText.name($0.key)))\nEND IF;"
    }
    .joined(separator: "\n")
  }

  /// Usually no transaction was open, and then no statement looks for these.
  private static func isChanged(_ classes: [ServerCatalog.Entry]) -> String {
    // By the newest entry of the index, and the few open ones: an OR would read the whole table.
    let body = cases(classes) { _, table, _ in
      """
        IF (SELECT t._tarn_xid FROM \(table) t WHERE t._tarn_xid < below
          ORDER BY t._tarn_xid DESC LIMIT 1) >= since
        THEN RETURN true; END IF;
        IF cardinality(pending) > 0 THEN
          IF EXISTS (SELECT FROM unnest(pending) o (xid) JOIN \(table) t ON t._tarn_xid = o.xid)
          THEN RETURN true; END IF;
        END IF;
      """
    }
    let quote = SQLText.quote(around: body)
    return """
      CREATE OR REPLACE FUNCTION tarn.is_changed(class integer, since xid8, pending xid8[])
      RETURNS boolean LANGUAGE plpgsql STABLE SECURITY DEFINER
      SET search_path = pg_catalog, pg_temp AS \(quote) \(ServerSchema.mark)
      #variable_conflict use_variable
      DECLARE
        \(bound)
      BEGIN
      \(body)
      IF EXISTS (SELECT FROM tarn.gone g
        WHERE g.class = is_changed.class AND g.xid >= since AND g.xid < below)
      THEN RETURN true; END IF;
      IF cardinality(pending) = 0 THEN RETURN false; END IF;
      RETURN EXISTS (SELECT FROM unnest(pending) o (xid)
        JOIN tarn.gone g ON g.class = is_changed.class AND g.xid = o.xid);
      END \(quote);
      """
  }

  private static func changed(_ classes: [ServerCatalog.Entry]) -> String {
    let body = cases(classes) { _, table, _ in
      """
        RETURN QUERY
          SELECT t._tarn_oid FROM \(table) t
          WHERE t._tarn_xid >= since AND t._tarn_xid < below;
        IF cardinality(pending) > 0 THEN
          RETURN QUERY
            SELECT t._tarn_oid FROM unnest(pending) o (xid) JOIN \(table) t ON t._tarn_xid = o.xid;
        END IF;
      """
    }
    let quote = SQLText.quote(around: body)
    return """
      CREATE OR REPLACE FUNCTION tarn.changed(class integer, since xid8, pending xid8[])
      RETURNS SETOF bigint LANGUAGE plpgsql STABLE SECURITY DEFINER
      SET search_path = pg_catalog, pg_temp AS \(quote) \(ServerSchema.mark)
      #variable_conflict use_variable
      DECLARE
        \(bound)
      BEGIN
      \(body)
      RETURN QUERY
        SELECT g.oid FROM tarn.gone g
        WHERE g.class = changed.class AND g.xid >= since AND g.xid < below;
      IF cardinality(pending) > 0 THEN
        RETURN QUERY
          SELECT g.oid FROM unnest(pending) o (xid)
          JOIN tarn.gone g ON g.class = changed.class AND g.xid = o.xid;
      END IF;
      END \(quote);
      """
  }

  private static func fate(_ classes: [ServerCatalog.Entry]) -> String {
    let body = cases(classes) { _, table, key in
      """
        SELECT true INTO is_here FROM \(table) t
        WHERE t.\(key)::text = keys[place] AND t._tarn_oid = oids[place];
      """
    }
    let quote = SQLText.quote(around: body)
    return """
      CREATE OR REPLACE FUNCTION tarn.fate(class integer, keys text[], oids bigint[])
      RETURNS TABLE (oid bigint, fate text) LANGUAGE plpgsql STABLE SECURITY DEFINER
      SET search_path = pg_catalog, pg_temp AS \(quote) \(ServerSchema.mark)
      #variable_conflict use_variable
      DECLARE
        is_here boolean;
      BEGIN
      FOR place IN 1 .. coalesce(cardinality(oids), 0) LOOP
      is_here := false;
      \(body)
      oid := oids[place];
      fate := CASE WHEN is_here THEN 'hidden'
        WHEN EXISTS (SELECT FROM tarn.gone g WHERE g.oid = oids[place]) THEN 'gone'
        ELSE 'unknown' END;
      RETURN NEXT;
      END LOOP;
      END \(quote);
      """
  }
}
